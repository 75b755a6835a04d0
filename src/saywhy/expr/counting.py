"""Is an expression one variable beside one number: `count + 1`, `attempts >= 3`?

Flows count and compare more than anything else, and asking the engine takes as long as all the rest
of such an evaluation. Only what JavaScript and Python compute alike is done here: plain numbers,
and operations which are exact or round as IEEE 754 says in both. A product is not among them (a
zero may be negative), nor a remainder (its sign differs); nor anything whose variable holds
something else than a plain number, which is for `Worker` to see.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from typing import Any, Final, TypeAlias

Operation: TypeAlias = tuple[Callable[[Any, Any], Any], int]
"""What is done with a number, and the other number."""

MOST: Final = 0x7FFF_FFFF
"""The size of whole numbers up to which sums with one of nine digits have no gaps."""

_OPERATORS: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "+": operator.add,
    "-": operator.sub,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "===": operator.eq,
    "!=": operator.ne,
    "!==": operator.ne,
}
_REST: Final = re.compile(r"\s*([+\-]|[<>]=?|[=!]==?)\s*(0|[1-9]\d{0,8})\s*", re.ASCII)


def operation_of(rest: str) -> Operation | None:
    """The operation in what stands behind a variable; None where it is anything else."""
    match = _REST.fullmatch(rest)
    return (_OPERATORS[match[1]], int(match[2])) if match else None
