"""Which arguments a tool is called with, and whether they fit.

Pure functions: filling in what an author left out, giving nulls the default of their type,
checking against the schema. Templates in `args` are filled by `flows` before; asking a model for
arguments is the driver's business.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any, Final

from saywhy.tools.schema import REFUSED, describe, refusal
from saywhy.tools.tool import Tool
from saywhy.values import UNDEFINED, BigInt, Date, FrozenDict, FrozenList, NonFinite

__all__ = [
    "REFUSED",
    "certain",
    "complete",
    "errors_in",
    "generate",
    "json_view",
    "matched",
    "plain",
    "refusal",
    "validate",
]

_NUMBER: Final = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
_NUMBER_IN_TEXT: Final = re.compile(
    r"(?:(?<!\S)-)?(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?", re.ASCII
)
_DIGITS: Final = re.compile(r"\d+", re.ASCII)
_WHOLE_TEXT_NAMES: Final = frozenset({"q", "city", "location"})
_EXACT: Final = 2**53
_SCALARS: Final = frozenset({str, int, float, bool, type(None), NonFinite, Date})

_TYPE_DEFAULTS: Final[dict[str, Any]] = {
    "string": "",
    "number": 0,
    "integer": 0,
    "boolean": False,
    "array": [],
    "object": {},
}


# ------------------------------------------------------------------ arguments nobody wrote


def generate(tool: Tool, variables: Mapping[str, Any], last_input: str) -> dict[str, Any]:
    """Arguments for a call whose author gave none, without asking a model.

    Variables called like a parameter come first, then what can be read off the last input; with
    neither, the function gets `{"userInput": last input}`.
    """
    found = matched(tool, variables, last_input)
    return {"userInput": last_input.strip()} if found is None else found


def matched(tool: Tool, variables: Mapping[str, Any], last_input: str) -> dict[str, Any] | None:
    """Like `generate`, but None where nothing matches and a model may still be asked."""
    return _same_named(tool, variables) or _from_input(tool, last_input.strip()) or None


def certain(tool: Tool, variables: Mapping[str, Any], last_input: str) -> dict[str, Any]:
    """What a call surely gets: variables called like a parameter; without any, what parameters of
    that name take from the words. A text that merely goes to the first parameter is a guess."""
    return _same_named(tool, variables) or _by_name(tool, last_input.strip())


def _same_named(tool: Tool, variables: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, schema in tool.properties.items():
        value = variables.get(name, UNDEFINED)
        if value is UNDEFINED or value is None:
            continue
        found[name] = _as_number(value) if _wants_number(schema) else value
    return found


def _by_name(tool: Tool, text: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, schema in tool.properties.items() if text else ():
        value = _read_off(name.lower(), text)
        if value is not None and _may_be(schema, value):
            found[name] = _as_number(value) if _wants_number(schema) else value
    return found


def _may_be(schema: Any, text: str) -> bool:
    """Whether words that were only read off can be meant: none but those that are listed."""
    listed = schema.get("enum") if isinstance(schema, Mapping) else None
    return not listed or text in map(str, listed)


def _from_input(tool: Tool, text: str) -> dict[str, Any]:
    found = _by_name(tool, text)
    if found or not text:
        return found
    for name in tool.required:
        if "string" in _types(tool.properties.get(name)):
            return {name: text}
    return {}


def _read_off(name: str, text: str) -> str | None:
    """What a parameter of this name takes from the user's words."""
    if name in _WHOLE_TEXT_NAMES:
        return text
    if "account" in name:
        hit = _DIGITS.search(text)
    elif "amount" in name or "price" in name:
        hit = _NUMBER_IN_TEXT.search(text)
    else:
        return None
    return hit[0].replace(",", "") if hit else None


def _as_number(value: Any) -> Any:
    """The number a text spells; the text itself where a number would not hold all its digits."""
    if not isinstance(value, str) or not _NUMBER.fullmatch(value.strip()):
        return value
    try:
        number: int | float = int(value)
    except ValueError:
        number = float(value)
    return number if math.isfinite(number) and abs(number) <= _EXACT else value


def _types(schema: Any) -> tuple[str, ...]:
    kind = schema.get("type") if isinstance(schema, Mapping) else None
    return (kind,) if isinstance(kind, str) else tuple(kind or ())


def _wants_number(schema: Any) -> bool:
    """Whether a number is wanted and text is not: "0123" stays what it is where text will do."""
    types = _types(schema)
    return "string" not in types and ("number" in types or "integer" in types)


# ------------------------------------------------------------------ nulls


def complete(tool: Tool, args: Mapping[str, Any]) -> dict[str, Any]:
    """`args` with the default of the declared type where null or undefined was given.

    What is not there at all stays away, so that a missing argument is refused as missing, and a
    null stays where the schema allows null or names no type.
    """
    return {
        name: _default(tool.properties.get(name), value)
        if value is None or value is UNDEFINED
        else value
        for name, value in args.items()
    }


def _default(schema: Any, value: Any) -> Any:
    types = _types(schema)
    if not types or "null" in types:
        return None if value is UNDEFINED else value
    default = _TYPE_DEFAULTS.get(types[0])
    return default.copy() if isinstance(default, list | dict) else default


# ------------------------------------------------------------------ checking


def validate(tool: Tool, args: Mapping[str, Any], *, strict: bool = False) -> list[str]:
    """Everything about `args` that breaks the schema, each as `<path> <message>`.

    Flat parameters are not checked: hosts wrote them as documentation, and flows rely on their
    functions getting '' for a number. `strict` checks them too, for callers that have shown the
    schema to a model. Values are never quoted, they may be secret.
    """
    return errors_in(tool, plain(args), strict=strict)


def errors_in(tool: Tool, tree: dict[str, Any], *, strict: bool = False) -> list[str]:
    """Like `validate`, for arguments that are a plain tree already."""
    if tool.style == "positional" and not strict:
        return []
    try:
        if tool.checker.is_valid(tree):
            return []
        errors = list(tool.checker.iter_errors(tree))
    except ValueError:
        # Something in it is no JSON: a date, a lone surrogate, NaN.
        errors = list(tool.checker.iter_errors(json_view(tree)))
    return [describe(error) for error in errors]


def plain(value: Any) -> Any:
    """A copy made of Python's own types, as a function gets it, free to be changed.

    Undefined is left out of objects and null in lists, a BigInt is an int; a `Date` stays.
    """
    kind = type(value)
    if kind in _SCALARS:
        return value
    if kind is FrozenDict or kind is FrozenList:
        value = value.raw
        kind = type(value)
    if kind is list:
        return [None if item is UNDEFINED else plain(item) for item in value]
    if kind is BigInt:
        return value.value
    if kind is dict or isinstance(value, Mapping):
        return {name: plain(item) for name, item in value.items() if item is not UNDEFINED}
    return value


def json_view(value: Any) -> Any:
    """A plain tree as it would look after being written as JSON by a browser."""
    if isinstance(value, dict):
        return {name: json_view(item) for name, item in value.items()}
    if isinstance(value, list):
        return [json_view(item) for item in value]
    if isinstance(value, Date):
        return None if math.isnan(value.milliseconds) else str(value)
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    return value
