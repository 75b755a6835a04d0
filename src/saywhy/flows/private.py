"""What a tool of restricted data was given or gave is sensitive wherever it turns up.

It is treated like an answer of the user's that is marked `pii`: masked in every record, as long as
a flow runs that may hold it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, Final

from saywhy.chart.outcome import Answer
from saywhy.chart.scope import Scope
from saywhy.flows.answers import SECRETS
from saywhy.tools.tool import Tool
from saywhy.values import UNDEFINED, freeze, raw

MAX_LEARNT: Final = 200
"""Texts of one value; one that holds more is a catalogue, and would make every record slow."""
MAX_HELD: Final = 2_000
"""Texts that one conversation keeps in mind; beyond that the oldest are masked no more."""
_SHORTEST: Final = 6
"""A shorter text is a word such as `open`, unless there is a number in it."""
_SHORTEST_NUMBER: Final = 4
_NUMBER: Final = re.compile(r"\d{4,}", re.ASCII)
_WORD: Final = re.compile(r"[^\W\d_]+")
"""One word of letters, such as `orders`, stands everywhere and tells nothing."""


def note_private(scope: Scope, tool: Tool | None, value: Any) -> None:
    """Mask the texts in `value` from here on, where the tool is about restricted data."""
    if tool is None or tool.security.data_class != "restricted" or value is UNDEFINED:
        return
    _learn(scope, _texts(raw(freeze(value))))


def note_failure(scope: Scope, tool: Tool | None, answer: Answer) -> None:
    """Mask the numbers in an error of a tool whose data is masked: what they are nobody can tell.

    A time-out is the engine's own sentence, and the only number in it is the limit.
    """
    if tool is None or not tool.security.is_masked or answer.error_name == "TimeoutError":
        return
    _learn(scope, iter(_NUMBER.findall(answer.error or "")))


def _learn(scope: Scope, found: Iterator[str]) -> None:
    texts = dict.fromkeys(islice(found, MAX_LEARNT))
    known = scope.peek(SECRETS) or ()
    fresh = [text for text in texts if text not in known]
    if fresh:
        scope.secrets = (*scope.secrets, *fresh)
        held = [*known, *fresh][-MAX_HELD:]
        scope.staged[SECRETS] = freeze(held)  # no operation: a record would tell it


def _texts(tree: Any) -> Iterator[str]:
    if isinstance(tree, Mapping):
        for item in tree.values():
            yield from _texts(raw(item))
    elif isinstance(tree, list | tuple):
        for item in tree:
            yield from _texts(raw(item))
    elif isinstance(tree, str):
        text = tree.strip()
        has_number = any(character.isdigit() for character in text)
        shortest = _SHORTEST_NUMBER if has_number else _SHORTEST
        if len(text) >= shortest and not _WORD.fullmatch(text):
            yield tree
    elif isinstance(tree, int | float) and not isinstance(tree, bool):
        number = int(tree) if isinstance(tree, float) and tree.is_integer() else tree
        if len(str(number)) >= _SHORTEST_NUMBER:
            yield str(number)
