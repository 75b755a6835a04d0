"""Which texts of a sensitive value are worth looking for elsewhere.

A value that is masked where it stands may have been copied: into words, into an error, into an
answer. What is looked for must be distinctive, or every sentence would be riddled with marks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, Final

from saywhy.trace.masking.digests import telling_parts
from saywhy.trace.masking.veil import CALL
from saywhy.values import raw

MAX_LEARNT: Final = 200
"""Texts of one value; one that holds more is a catalogue, and would make every record slow."""
MAX_HELD: Final = 2_000
"""Texts that one conversation keeps in mind; beyond that the oldest are masked no more."""
_SHORTEST: Final = 6
"""A shorter text is a word such as `open`, unless there is a number in it."""
_SHORTEST_NUMBER: Final = 4
_SHORTEST_GIVEN: Final = 3
"""From this length on, what was declared as sensitive is looked for whatever it looks like."""
_DECIMALS: Final = 4
"""A number with more of them was measured, such as how long something took."""
MEASURED: Final = frozenset(["latencyMs", "latency_ms", "took_ms"])
"""Names of how long something took. By chance it is a number such as 0.25 or 4711; no secret."""
_ENDS: Final = frozenset(
    ["tool_calls", "tool_use", "end_turn", "max_tokens", "stop_sequence", "content_filter"]
)
"""What models say of how they ended. Some are names of fields as well."""
_ANSWER_TO: Final = "tool_call_id"
_WORD: Final = re.compile(r"[^\W\d_]+")
"""One word of letters, such as `orders`, stands everywhere and tells nothing."""


def distinctive(tree: Any) -> list[str]:
    """The texts and numbers in a value that are unlikely to stand anywhere by chance."""
    return list(dict.fromkeys(islice(filter(is_distinctive, _leaves(tree, talk=True)), MAX_LEARNT)))


def given(tree: Any) -> list[str]:
    """The texts and numbers in a value that an author called sensitive; and what of a text with
    words in it is likely the value."""
    long = [
        text for text in islice(_leaves(tree), MAX_LEARNT) if len(text.strip()) >= _SHORTEST_GIVEN
    ]
    parts = (part for text in long for part in telling_parts(text))
    return list(islice(dict.fromkeys([*long, *parts]), MAX_LEARNT))


def _leaves(tree: Any, *, talk: bool = False) -> Iterator[str]:
    """With `talk` without what names the calls in the messages of a model."""
    tree = raw(tree)
    if isinstance(tree, Mapping):
        is_call = talk and tree.keys() >= CALL  # pyright: ignore[reportUnknownMemberType] - JSON
        for name, item in tree.items():  # pyright: ignore[reportUnknownVariableType] - JSON
            named = name == _ANSWER_TO or (name in MEASURED and isinstance(item, int | float))
            if not (talk and named) and not (is_call and name in ("id", "name")):
                yield from _leaves(item, talk=talk)
    elif isinstance(tree, list | tuple):
        for item in tree:  # pyright: ignore[reportUnknownVariableType] - JSON
            yield from _leaves(item, talk=talk)
    elif isinstance(tree, str):
        if tree not in _ENDS:
            yield tree
    elif isinstance(tree, int | float) and not isinstance(tree, bool):
        number = int(tree) if isinstance(tree, float) and tree.is_integer() else tree
        is_measured = isinstance(number, float) and round(number, _DECIMALS) != number
        if len(str(number)) >= _SHORTEST_NUMBER and not is_measured:
            yield str(number)


def is_distinctive(text: str) -> bool:
    """Whether a text is unlikely to stand anywhere by chance."""
    stripped = text.strip()
    has_number = any(character.isdigit() for character in stripped)
    shortest = _SHORTEST_NUMBER if has_number else _SHORTEST
    return len(stripped) >= shortest and not _WORD.fullmatch(stripped)
