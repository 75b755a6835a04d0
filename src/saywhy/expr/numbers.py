"""How JavaScript writes a value as text, without asking JavaScript.

For numbers this is exactly `String(x)`; for lists and objects exactly `JSON.stringify(x)`.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

from saywhy.values import UNDEFINED, BigInt, Date, Value, iso_from_milliseconds, raw

SAFE: Final = 2**53
"""The largest whole number up to which JavaScript's numbers have no gaps."""


def number_text(number: float) -> str:
    """A number as JavaScript prints it: `5`, `0.1`, `1e+21`, `NaN`, `-Infinity`."""
    if isinstance(number, int):
        return str(int(number))
    if math.isnan(number):
        return "NaN"
    if math.isinf(number):
        return "Infinity" if number > 0 else "-Infinity"
    if number == 0.0:
        return "0"
    digits, point = _digits(abs(number))
    sign = "-" if number < 0 else ""
    return sign + _placed(digits, point)


def _digits(number: float) -> tuple[str, int]:
    """The shortest digits that give `number`, and where the point stands among them."""
    mantissa, _, exponent = f"{number!r}".partition("e")
    whole, _, fraction = mantissa.partition(".")
    if fraction == "0":
        fraction = ""
    digits = whole + fraction
    point = len(whole) + int(exponent or 0)
    stripped = digits.lstrip("0")
    point -= len(digits) - len(stripped)
    return stripped.rstrip("0"), point


def _placed(digits: str, point: int) -> str:
    count = len(digits)
    if count <= point <= 21:
        return digits + "0" * (point - count)
    if 0 < point <= 21:
        return f"{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return "0." + "0" * -point + digits
    exponent = point - 1
    mark = f"e{'+' if exponent > 0 else '-'}{abs(exponent)}"
    return (digits if count == 1 else f"{digits[0]}.{digits[1:]}") + mark


def value_text(value: Value) -> str:
    """A value as text inside a message: texts bare, lists and objects as compact JSON."""
    value = raw(value)
    if isinstance(value, str):
        return value
    if value is UNDEFINED:
        return "undefined"
    if isinstance(value, BigInt):
        return str(value)
    if isinstance(value, float) and not math.isfinite(value):
        return number_text(value)
    return json_text(value)


def json_text(value: Value) -> str:
    """Compact JSON as JavaScript writes it: no undefined, NaN as null, dates as ISO text.

    A BigInt, which JavaScript refuses here, is written as its digits.
    """
    value = raw(value)
    if value is None or value is UNDEFINED:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, int | float):
        return number_text(value) if math.isfinite(value) else "null"
    if isinstance(value, list):
        return f"[{','.join(map(json_text, value))}]"
    if isinstance(value, dict):
        return f"{{{','.join(_fields(value))}}}"
    if isinstance(value, Date):
        iso = iso_from_milliseconds(value.milliseconds)
        return "null" if iso is None else f'"{iso}"'
    return str(value)


def _fields(tree: dict[str, Any]) -> Iterator[str]:
    keys: Iterable[str] = tree
    if any(map(_is_index, tree)):  # JavaScript keeps these first, smallest first
        indexes = sorted(filter(_is_index, tree), key=int)
        keys = [*indexes, *(key for key in tree if not _is_index(key))]
    for key in keys:
        if tree[key] is not UNDEFINED:
            yield f"{_quoted(key)}:{json_text(tree[key])}"


def _is_index(key: str) -> bool:
    return _INDEX.fullmatch(key) is not None and int(key) < 2**32 - 1


def _quoted(text: str) -> str:
    quoted = json.dumps(text, ensure_ascii=False)
    return _SURROGATE.sub(lambda match: f"\\u{ord(match[0]):04x}", quoted)


_INDEX: Final = re.compile(r"0|[1-9][0-9]{0,9}")
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
