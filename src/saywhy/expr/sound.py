"""Is this a value that the kit can have made? Asked of what another process says.

JSON without tags can be nothing but plain data, so most results are judged by a look at their text;
the others are walked through.
"""

from __future__ import annotations

from typing import Any, Final

from saywhy.expr.transfer import Foreign
from saywhy.values import UNDEFINED, BigInt, Date, NonFinite, raw

MAX_DEPTH: Final = 210
"""How deep a result may be nested: what the kit allows, and what is around it."""

KINDS: Final = frozenset(
    {"function", "symbol", "map", "set", "regexp", "error", "bytes", "promise"}
)

_PLAIN: Final = frozenset({str, int, float, bool, type(None), type(UNDEFINED), BigInt, NonFinite})


def is_sound_text(text: str) -> bool:
    """Whether JSON text shows by itself that it is plain data, nested no deeper than it may."""
    return '"$' not in text and text.count("[") + text.count("{") <= MAX_DEPTH


def is_sound(value: Any) -> bool:
    """Whether a value is made of what a conversation or a description of JavaScript can hold."""
    level: list[Any] = [value]
    for _ in range(MAX_DEPTH):
        below: list[Any] = []
        for item in level:
            if type(item) in _PLAIN:
                continue
            tree = raw(item)
            if type(tree) is dict:
                below += tree.values()
            elif type(tree) is list:
                below += tree
            elif not _is_sound_leaf(item, below):
                return False
        if not below:
            return True
        level = below
    return False


def _is_sound_leaf(item: Any, below: list[Any]) -> bool:
    if type(item) is Date:
        return type(item.milliseconds) in (int, float)
    if type(item) is Foreign and item.kind in KINDS and type(item.text) is str:
        below.append(item.data)
        return True
    return False
