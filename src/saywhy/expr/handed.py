"""What is an expression handed for a path, where that is no plain number or text?

A list or an object travels as text, and where there is nothing, something that lets JavaScript
decide what that means. Most values never come here: see `worker`.
"""

from __future__ import annotations

from typing import Any, Final, TypeAlias

from saywhy.expr.brief import MAX_TEXT
from saywhy.expr.failures import too_large
from saywhy.expr.outcome import Names, Raised
from saywhy.expr.program import MISSING, Parameter, sparse
from saywhy.expr.transfer import SCALAR, UNDEFINED_ARGUMENT, TooLarge, argument
from saywhy.values import UNDEFINED, FrozenDict, FrozenList, Value

Handed: TypeAlias = tuple[str, Any, bool]
"""A letter and an argument as of `transfer`, and whether the argument is long."""

INHERITED: Final = frozenset(
    [
        "constructor",
        "toString",
        "toLocaleString",
        "valueOf",
        "hasOwnProperty",
        "isPrototypeOf",
        "propertyIsEnumerable",
        "__proto__",
        "__defineGetter__",
        "__defineSetter__",
        "__lookupGetter__",
        "__lookupSetter__",
    ]
)
"""Keys every JavaScript object answers to, though it does not hold them."""


class Refused(Exception):
    """The expression cannot be run at all; `outcome` says why."""

    def __init__(self, outcome: Raised) -> None:
        self.outcome = outcome
        super().__init__(outcome.message)


def passed(parameter: Parameter, value: Value, names: Names) -> Handed:
    """How to pass a value that is not passed as it is."""
    if value is UNDEFINED:
        letter, given = absent(parameter, names)
    else:
        if parameter.inside:
            value = touched(parameter, value)
        try:
            letter, given = argument(value)
        except TooLarge:
            raise Refused(too_large(parameter.path)) from None
    return letter, given, type(given) is str and len(given) > MAX_TEXT


def touched(parameter: Parameter, value: Value) -> Value:
    """The part of a variable that an expression can see and change, where that is known."""
    if not parameter.inside or type(value) is not FrozenDict:
        return value
    return FrozenDict(sparse(value.raw, parameter.inside))


def absent(parameter: Parameter, names: Names) -> tuple[str, Any]:
    """How to pass a path where nothing is: undefined, its length, or a parent that decides.

    Raises `Refused` for a parent that cannot be read.
    """
    path = parameter.path
    count = len(path)
    if parameter.has_length:
        parent = names.get(path[:-1])
        if type(parent) is FrozenList:
            return SCALAR, len(parent)
        if type(parent) is str:
            return SCALAR, len(parent) + sum(character > "\uffff" for character in parent)
    for depth in range(count - 1, 0, -1):
        parent = names.get(path[:depth])
        if parent is UNDEFINED:
            continue
        key = path[depth]
        is_gap = (type(parent) is FrozenDict and type(key) is str and key not in INHERITED) or (
            type(parent) is FrozenList and type(key) is int
        )
        if is_gap:
            full = depth + 1 == count
            return UNDEFINED_ARGUMENT + ("" if full else str(depth + 1)), None
        try:
            letter, given = argument(parent)
        except TooLarge:
            raise Refused(too_large(path[:depth])) from None
        return letter + str(depth), given
    return ("u1" if names.has(parameter.root) else MISSING), None


def is_undefined(parameter: Parameter, names: Names) -> bool:
    """Whether JavaScript finds undefined at a path where nothing is; otherwise it may raise."""
    letter, _ = absent(parameter, names)
    return letter == UNDEFINED_ARGUMENT or (letter == "u1" and len(parameter.path) == 1)
