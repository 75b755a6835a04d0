"""Whether the arguments of a model's call are there and of the declared types.

Two things are checked before a handler runs, and no more: what is required is given, and what is
given is of its declared type. A tool may have the whole schema checked on top of this (`strict`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec

from saywhy.values import UNDEFINED, BigInt, raw


class InputError(msgspec.Struct, frozen=True):
    """One thing wrong with the arguments."""

    path: str
    message: str


class InputCheck(msgspec.Struct, frozen=True):
    """What came of a check."""

    errors: tuple[InputError, ...] = ()

    @property
    def valid(self) -> bool:
        """Whether the handler may be called."""
        return not self.errors

    @property
    def formatted(self) -> str:
        """All errors in one line, as the model is told them."""
        return "; ".join(f"{error.path}: {error.message}" for error in self.errors)


def validate_tool_input(args: Any, schema: Mapping[str, Any] | None) -> InputCheck:
    """Check arguments: first what is missing, then what is of another type, in declared order.

    A parameter that is null counts as not given. Unknown keys, nested schemas and enums pass.
    """
    if not schema:
        return FITS
    given: Any = raw(args)
    if type(given) is dict and _is_plain(given, schema):
        return FITS
    if not isinstance(given, Mapping):
        message = f"Expected object for the arguments, got {type_name(given)}."
        return InputCheck((InputError("arguments", message),))
    return InputCheck((*_missing(given, schema), *_mistyped(given, schema)))


FITS: Final = InputCheck()


def _is_plain(given: dict[str, Any], schema: Mapping[str, Any]) -> bool:
    """Whether all is plainly as declared; False where only the whole check can tell."""
    for name in schema.get("required") or ():
        if given.get(name) is None:
            return False
    declared: Mapping[str, Any] = schema.get("properties") or {}
    for name, value in given.items():
        one = declared.get(name)
        if one is not None and (
            type(one) is not dict or one.get("type") not in _PLAIN.get(type(value), ())
        ):
            return False
    return True


_PLAIN: Final[Mapping[type, tuple[str, ...]]] = {
    str: ("string",),
    int: ("integer", "number"),
    float: ("number",),
    bool: ("boolean",),
    dict: ("object",),
    list: ("array",),
}


def _missing(given: Mapping[str, Any], schema: Mapping[str, Any]) -> Iterator[InputError]:
    for name in schema.get("required") or ():
        if _is_absent(given, name):
            yield InputError(name, f"Required field '{name}' is missing.")


def _mistyped(given: Mapping[str, Any], schema: Mapping[str, Any]) -> Iterator[InputError]:
    declared = schema.get("properties") or {}
    for name, one in declared.items():
        wanted = one.get("type") if isinstance(one, Mapping) else None
        if not wanted or _is_absent(given, name):
            continue
        kinds = [wanted] if isinstance(wanted, str) else [str(kind) for kind in wanted]
        if not any(_is_of(given[name], kind) for kind in kinds):
            expected, actual = " or ".join(kinds), type_name(given[name])
            yield InputError(name, f"Expected {expected} for '{name}', got {actual}.")


def _is_absent(given: Mapping[str, Any], name: str) -> bool:
    value = given.get(name)
    return value is None or value is UNDEFINED


def _is_of(value: Any, kind: str) -> bool:
    if kind == "integer":
        whole = isinstance(value, float) and value.is_integer()
        return whole or (isinstance(value, int | BigInt) and not isinstance(value, bool))
    return type_name(value) == kind


def type_name(value: Any) -> str:
    """The name JSON schema has for the type of a value."""
    value = raw(value)
    if isinstance(value, bool):
        return "boolean"
    if value is None or value is UNDEFINED:
        return "null"
    if isinstance(value, str):
        return "string"
    if isinstance(value, Mapping):
        return "object"
    if isinstance(value, Sequence):
        return "array"
    return "number"
