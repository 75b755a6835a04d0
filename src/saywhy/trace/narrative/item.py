"""What a story is made of: turns, and in them the told steps, each with a number that stays."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

import msgspec

DETAIL: Final = 0
"""How the words of a model's request came about, piece by piece."""
STEP: Final = 1
CALL: Final = 2
"""What went out and came back, what was decided, what went wrong."""
WORDS: Final = 3
"""What the user said."""


class Item(msgspec.Struct):
    """One told step with the steps of the flow it called, or the note that stands for many."""

    text: str
    commit: int = 0
    """The commit it was told from; where a call was answered, that of the answer."""
    flow: str = ""
    node: str = ""
    weight: int = STEP
    """How much it tells somebody who has room for little: the more, the longer it stays."""
    shape: tuple[Any, ...] = ()
    """What makes it the same as another: step and branch, not values."""
    number: str = ""
    began: int = 0
    """The commit that took the number."""
    steps: list[Item] = []


class TurnStory(msgspec.Struct, frozen=True):
    """What happened in one turn."""

    turn: int
    at: float
    items: list[Item]
    replies: tuple[str, ...]
    missing: tuple[str, ...] = ()
    """What of it the record does not have, a sentence each."""


def shown(items: Iterable[Item], least: int = DETAIL, depth: int = 0) -> Iterator[tuple[Item, int]]:
    """The items that weigh enough, with how deep they stand, in order."""
    for item in items:
        if item.text and item.weight >= least:
            yield item, depth
        if item.steps:
            yield from shown(item.steps, least, depth + 1)
