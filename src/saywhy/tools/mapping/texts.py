"""Values as text and as numbers, the way the transforms and operators of a mapping see them.

Text is what `String()` of JavaScript gives, but an object is JSON instead of `[object Object]`.
Numbers are what `Number()` gives, except that only a number, a text that spells one and true or
false count: a list or a date never does.
"""

from __future__ import annotations

import math
import re
from typing import Any, Final

from saywhy.expr.numbers import json_text, value_text
from saywhy.scalars import Date
from saywhy.values import UNDEFINED, FrozenDict, FrozenList, NonFinite

BLANKS: Final = (
    "\t\n\v\f\r \xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)
"""What JavaScript trims; Python trims a few others."""

_NUMBER: Final = re.compile(r"[+-]?(?:Infinity|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)", re.ASCII)
_CODED: Final = re.compile(r"0[xX][0-9a-fA-F]{1,300}|0[oO][0-7]{1,300}|0[bB][01]{1,900}")
_SAFE: Final = 2**53


def text_of(value: Any) -> str:
    """A value as text; null and undefined give an empty one."""
    kind = type(value)
    if kind is str:
        return value
    if value is None or value is UNDEFINED:
        return ""
    if kind is list or kind is FrozenList:
        return _list_text(value.raw if kind is FrozenList else value)
    if kind is Date:
        return str(value)
    return value_text(value)


def _list_text(items: list[Any]) -> str:
    """`1,2` for a list of plain values, JSON as soon as an object is in it."""
    if any(isinstance(item, dict | FrozenDict) for item in items):
        return json_text(items)
    return ",".join(map(text_of, items))


def named_text(value: Any) -> str:
    """Like `text_of`, with the words `null` and `undefined`."""
    if value is None:
        return "null"
    return "undefined" if value is UNDEFINED else text_of(value)


def number_of(value: Any) -> float | None:
    """A value as a number; None for what is none, NaN included."""
    kind = type(value)
    if kind is int:
        return value
    if kind is float or kind is NonFinite:
        return None if math.isnan(value) else value
    if kind is bool:
        return int(value)
    if kind is not str:
        return None
    number = spelt(value)
    return None if number is None else whole(number)


def spelt(text: str) -> float | None:
    """The number a text spells from its first to its last character, blanks around it aside."""
    number = decimal(text)
    if number is not None:
        return number
    text = text.strip(BLANKS)
    if _NUMBER.fullmatch(text):
        return float(text)
    return float(int(text, 0)) if _CODED.fullmatch(text) else None


def decimal(text: str) -> float | None:
    """The number of a text that begins with a digit and is nothing but a number: the quick way.

    There Python reads what JavaScript reads, except for `1_000`.
    """
    if "0" <= text[:1] <= "9" and text.isascii() and "_" not in text:
        try:
            return float(text)
        except ValueError:
            pass
    return None


def whole(number: float) -> float:
    """A number as a value: whole ones as int while they are exact, never -0."""
    if number.is_integer():
        return int(number) if -_SAFE <= number <= _SAFE else number
    return number if number - number == 0 else NonFinite(number)


def utf16_length(text: str) -> int:
    """Length as JavaScript counts it."""
    if text.isascii():
        return len(text)
    return len(text) + sum(character > "\uffff" for character in text)


def cut(text: str, start: int, end: int) -> str:
    """`text.substring(start, end)`, counted as JavaScript counts."""
    size = utf16_length(text)
    start, end = (max(0, min(at, size)) for at in (start, end))
    if start > end:
        start, end = end, start
    if size == len(text):
        return text[start:end]
    units = text.encode("utf-16-le", "surrogatepass")
    return units[start * 2 : end * 2].decode("utf-16-le", "surrogatepass")


def order_key(text: str) -> bytes:
    """What texts are compared by: their UTF-16 units."""
    return text.encode("utf-16-be", "surrogatepass")
