"""What a tool of restricted data was given or gave is sensitive wherever it turns up.

It is treated like an answer of the user's that is marked `pii`: masked in every record, as long as
a flow runs that may hold it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from saywhy.chart.scope import Scope
from saywhy.flows.answers import SECRETS
from saywhy.tools.tool import Tool
from saywhy.values import UNDEFINED, freeze, raw

MAX_LEARNT: Final = 200
"""Texts of one value; one that holds more is a catalogue, and would make every record slow."""
_SHORTEST: Final = 6
"""A shorter text is a word such as `open`, unless there is a number in it."""
_SHORTEST_NUMBER: Final = 4
_WORD: Final = re.compile(r"[^\W\d_]+")
"""One word of letters, such as `orders`, stands everywhere and tells nothing."""


def note_private(scope: Scope, tool: Tool | None, value: Any) -> None:
    """Mask the texts in `value` from here on, where the tool is about restricted data."""
    if tool is None or tool.security.data_class != "restricted" or value is UNDEFINED:
        return
    texts: dict[str, None] = {}
    for text in _texts(raw(freeze(value))):
        texts[text] = None
        if len(texts) == MAX_LEARNT:
            break
    known = scope.peek(SECRETS) or ()
    fresh = [text for text in texts if text not in known]
    if fresh:
        scope.secrets = (*scope.secrets, *fresh)
        scope.staged[SECRETS] = freeze([*known, *fresh])  # no operation: a record would tell it


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
