"""How is a value written as text, where no JavaScript need be asked? As `String()` would.

Lists and objects are not among them: what they are as text is `kit`.
"""

from __future__ import annotations

from typing import Any, Final

from saywhy.expr.numbers import number_text
from saywhy.values import UNDEFINED, BigInt


def _same_text(value: Any) -> str:
    return value


def _undefined_text(value: Any) -> str:
    return "undefined"


def _null_text(value: Any) -> str:
    return "null"


def _bool_text(value: bool) -> str:
    return "true" if value else "false"


WRITERS: Final[dict[type, Any]] = {
    str: _same_text,
    int: str,
    float: number_text,
    bool: _bool_text,
    type(None): _null_text,
    type(UNDEFINED): _undefined_text,
    BigInt: str,
}
