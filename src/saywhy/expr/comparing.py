"""What do comparisons come to, as JavaScript has it: of plain values, as far as Python agrees?

Each function makes one that is handed what the paths of a condition hold. Values that JavaScript
would convert first are left to it (`Unsure`).
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, Final

from saywhy.values import UNDEFINED

Values = list[Any]
"""What the paths of a condition hold."""

Decide = Callable[[Values], Any]


class Unsure(Exception):
    """Only JavaScript knows what these values come to: it converts one of them."""


_ORDERS: Final = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
_SUMS: Final = {"+": operator.add, "-": operator.sub}
NUMBERS: Final = frozenset({int, float})
_NOTHING: Final = (None, UNDEFINED)
_ALONE: Final = (str, type(None), type(UNDEFINED))
"""Types whose values nothing of another type equals."""


class Constant:
    """A value that is written down."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value: Final = value

    def __call__(self, values: Values) -> Any:
        return self.value


class Held:
    """What one of the paths holds."""

    __slots__ = ("place",)

    def __init__(self, place: int) -> None:
        self.place: Final = place

    def __call__(self, values: Values) -> Any:
        return values[self.place]


def length(place: int) -> Decide:
    return lambda values: len(values[place])


def search(place: int, text: str) -> Decide:
    def found(values: Values) -> bool:
        value = values[place]
        if type(value) is str:
            return text in value
        items = value.raw
        if int in map(type, items):
            raise Unsure  # it may be too large to be read at all
        return text in items

    return found


# Python's `if`, `and`, `or` and `not` take the same of our values for false as JavaScript does.


def choice(one: Decide, yes: Decide, no: Decide) -> Decide:
    return lambda values: yes(values) if one(values) else no(values)


def either(sign: str, one: Decide, other: Decide) -> Decide:
    return lambda values: one(values) or other(values)


def both(sign: str, one: Decide, other: Decide) -> Decide:
    return lambda values: one(values) and other(values)


def negated(one: Decide) -> Decide:
    return lambda values: not one(values)


def equality(sign: str, one: Decide, other: Decide) -> Decide:
    is_wanted, is_strict = sign[0] == "=", len(sign) == 3
    if isinstance(other, Constant) and is_strict and type(other.value) in _ALONE:
        return _is(one, other.value, is_wanted=is_wanted)

    def compare(values: Values) -> bool:
        left, right = one(values), other(values)
        kind, second = type(left), type(right)
        if kind is second or (kind in NUMBERS and second in NUMBERS):
            return (left == right) is is_wanted
        left_lacks, right_lacks = left in _NOTHING, right in _NOTHING
        if is_strict or left_lacks or right_lacks:
            return (not is_strict and left_lacks and right_lacks) is is_wanted
        raise Unsure

    return compare


def _is(one: Decide, wanted: Any, *, is_wanted: bool) -> Decide:
    """The same beside what is written down, and is no number or boolean."""
    if isinstance(one, Held):
        place = one.place
        return lambda values: (values[place] == wanted) is is_wanted
    return lambda values: (one(values) == wanted) is is_wanted


def order(sign: str, one: Decide, other: Decide) -> Decide:
    operate = _ORDERS[sign]
    if isinstance(other, Constant) and type(other.value) in NUMBERS:
        return _beside(operate, one, other.value)
    return _numbers(operate, one, other)


def _numbers(operate: Callable[[Any, Any], Any], one: Decide, other: Decide) -> Decide:
    def compute(values: Values) -> Any:
        left, right = one(values), other(values)
        if type(left) in NUMBERS and type(right) in NUMBERS:
            return operate(left, right)
        raise Unsure

    return compute


def _beside(operate: Callable[[Any, Any], Any], one: Decide, number: Any) -> Decide:
    """The same beside a number that is written down."""
    place = one.place if isinstance(one, Held) else None

    def compare(values: Values) -> Any:
        value = one(values) if place is None else values[place]
        if type(value) in NUMBERS:
            return operate(value, number)
        raise Unsure

    return compare


def total(sign: str, one: Decide, other: Decide) -> Decide:
    compute = _numbers(_SUMS[sign], one, other)

    def add(values: Values) -> Any:
        found = compute(values)
        if found - found == 0:  # neither infinite nor no number
            return found
        raise Unsure

    return add
