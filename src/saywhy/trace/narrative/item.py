"""What a story is made of: turns, and in them the told steps, each with a number that stays."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from saywhy.chart.commit import Commit
from saywhy.trace.narrative.weight import DETAIL, shape_of, weight_of


class Item(msgspec.Struct, gc=False):
    """One told step with the steps of the flow it called, or the note that stands for many."""

    text: str
    step: Commit
    """The step it was told from; where a call was answered, that of the answer."""
    number: str = ""
    steps: list[Item] = []
    asked: Commit | None = None
    """The step that took the number, where that is not the one it was told from."""
    stands_for: tuple[Item, ...] = ()
    """The steps that a note stands for."""

    @property
    def weight(self) -> int:
        """How much it tells somebody who has room for little."""
        if self.stands_for:
            return max(item.weight for item in self.stands_for)
        weight = weight_of(self.step)
        return weight if self.asked is None else max(weight, weight_of(self.asked))

    @property
    def shape(self) -> tuple[Any, ...]:
        """What makes it the same as another: step and branch, not values."""
        return shape_of(self.step)

    @property
    def began(self) -> int:
        """The commit that took the number."""
        return self.step.seq if self.asked is None else self.asked.seq


class TurnStory(msgspec.Struct, frozen=True, gc=False):
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
        if item.text and (least == DETAIL or item.weight >= least):
            yield item, depth
        if item.steps:
            yield from shown(item.steps, least, depth + 1)


def every(items: Iterable[Item]) -> list[tuple[Item, int]]:
    """All that `shown` gives, at once: what a whole story is written from."""
    told: list[tuple[Item, int]] = []
    _add(items, 0, told)
    return told


def _add(items: Iterable[Item], depth: int, told: list[tuple[Item, int]]) -> None:
    for item in items:
        if item.text:
            told.append((item, depth))
        if item.steps:
            _add(item.steps, depth + 1, told)
