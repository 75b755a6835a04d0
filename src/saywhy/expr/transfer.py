"""How values cross into the JavaScript engine and back, unharmed.

The binding alone would corrupt them: it cuts whole numbers to 32 bits, gives `None` for both null
and undefined, ends texts at the first NUL, breaks on lone surrogates, and cannot return a BigInt.
So what is not plainly safe travels as JSON text with the tags of `saywhy.values`; `kit.js` is the
other end.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, Final

import msgspec

from saywhy.expr.chains import Path
from saywhy.expr.numbers import SAFE
from saywhy.values import (
    TAGS,
    UNDEFINED,
    BigInt,
    Date,
    FrozenDict,
    FrozenList,
    NonFinite,
    Value,
    dumps,
    loads_raw,
    raw,
    seal,
)

MARK: Final = "\x01"
"""First character of a result that is not simply itself."""


class Foreign(msgspec.Struct, frozen=True):
    """A result that only JavaScript can hold: a function, symbol, Map, Set, RegExp, Error, …

    It can be looked at, but not kept in a conversation.
    """

    kind: str
    """`function`, `symbol`, `map`, `set`, `regexp`, `error`, `bytes` or `promise`."""
    data: Any = None
    """Pairs of a map, items of a set."""
    text: str = ""
    """As JavaScript shows it: `/a/g`."""


class TooLarge(Exception):
    """A whole number that JavaScript would round."""

    def __init__(self, number: int) -> None:
        self.number = number
        super().__init__(number)


# ------------------------------------------------------------------- into the engine

SCALAR: Final = "s"
UNDEFINED_ARGUMENT: Final = "u"
JSON_TEXT: Final = "j"
TAGGED_TEXT: Final = "t"


def argument(value: Value) -> tuple[str, Any]:
    """How to pass `value`: a letter for the compiled program, and the argument itself."""
    handler = _ARGUMENTS.get(type(value))
    if handler is None:
        raise TypeError(f"{type(value).__name__} is no value of a conversation")
    return handler(value)


def is_safe_text(text: str) -> bool:
    """Whether the binding takes the text as it is."""
    return "\0" not in text and (text.isascii() or _SURROGATE.search(text) is None)


def _text_argument(text: str) -> tuple[str, Any]:
    return (SCALAR, text) if is_safe_text(text) else (JSON_TEXT, json.dumps(text))


def _int_argument(number: int) -> tuple[str, Any]:
    if -0x8000_0000 <= number <= 0x7FFF_FFFF:
        return SCALAR, number
    if -SAFE <= number <= SAFE:
        return SCALAR, float(number)
    raise TooLarge(number)


def _scalar_argument(value: Any) -> tuple[str, Any]:
    return SCALAR, value


def _undefined_argument(value: Any) -> tuple[str, Any]:
    return UNDEFINED_ARGUMENT, None


def _tree_argument(tree: Any) -> tuple[str, Any]:
    try:
        data = dumps(tree)
    except OverflowError:
        data = None
    return tree_argument(tree, data)


def tree_argument(tree: Any, data: bytes | None) -> tuple[str, str]:
    """How to pass a tree that `dumps` has written as `data`; None where it could not."""
    if data is None:
        return TAGGED_TEXT, dumps(_guarded(tree)).decode()
    if _DOLLAR not in data and not _has_long_number(data):
        return JSON_TEXT, data.decode()
    data = tree_json(tree)
    return (TAGGED_TEXT if b'"$' in data else JSON_TEXT), data.decode()


def _list_argument(value: FrozenList) -> tuple[str, Any]:
    return _tree_argument(value.raw)


def _object_argument(value: FrozenDict) -> tuple[str, Any]:
    # An object of one key may look like a tag; its wrapper is what `dumps` knows it by.
    return _tree_argument(value if len(value) == 1 else value.raw)


_ARGUMENTS: Final[dict[type, Callable[[Any], tuple[str, Any]]]] = {
    str: _text_argument,
    int: _int_argument,
    float: _scalar_argument,
    NonFinite: _scalar_argument,
    bool: _scalar_argument,
    type(None): _scalar_argument,
    type(UNDEFINED): _undefined_argument,
    BigInt: _tree_argument,
    Date: _tree_argument,
    FrozenDict: _object_argument,
    FrozenList: _list_argument,
    dict: _tree_argument,
    list: _tree_argument,
}

_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_DIGITS: Final = bytes(48 if 48 <= byte <= 57 else 32 for byte in range(256))
_LONG_NUMBER: Final = b"0" * 16
_DOLLAR: Final = ord("$")
_ZERO: Final = ord("0")
"""Bytes as numbers: Python finds one five times faster than a text of one byte."""


def _has_long_number(data: bytes) -> bool:
    """Whether sixteen digits stand in a row; then every sixteenth byte that is looked at has one.

    Looked for after every digit became 0: a fifth of what a regular expression costs.
    """
    if len(data) < 16 or _ZERO not in data[15::16].translate(_DIGITS):
        return False
    return _LONG_NUMBER in data.translate(_DIGITS)


def tree_json(value: Value) -> bytes:
    """JSON text of a value for `kit.decode`, with whole numbers beyond 2**53 under guard."""
    try:
        data = dumps(value)
    except OverflowError:
        return dumps(_guarded(value))
    return dumps(_guarded(value)) if _has_long_number(data) or b'"$big"' in data else data


def _guarded(value: Any) -> Any:
    """`value` with its large whole numbers as tags, and its own objects that look like tags told
    apart from them."""
    value = raw(value)
    if isinstance(value, dict):
        fields = {key: _guarded(item) for key, item in value.items()}
        return {"$object": fields} if len(fields) == 1 and fields.keys() <= _TAGS else fields
    if isinstance(value, list):
        return [_guarded(item) for item in value]
    if isinstance(value, int) and not -SAFE <= value <= SAFE:
        return {"$big": str(value)}
    return value


_TAGS: Final = frozenset(
    {"$undefined", "$num", "$bigint", "$date", "$object", "$foreign", "$float", "$big"}
)


# ------------------------------------------------------------------- out of the engine


def whole(number: float) -> int | float:
    """A JavaScript number as Python has it: whole ones as int, as far as they are exact."""
    if -SAFE <= number <= SAFE:
        if number.is_integer() and (number or _is_plain_zero(number)):
            return int(number)
        return number
    return number if number - number == 0 else NonFinite(number)


def _is_plain_zero(number: float) -> bool:
    return str(number) == "0.0"


def tree_from(mode: str, text: str) -> Any:
    """The plain tree behind JSON text of the kit; `mode` is one of its letters j, t, f."""
    if mode == "t":
        return loads_raw(text)
    try:
        tree = _DECODER.decode(text)
    except msgspec.DecodeError:  # lone surrogates
        tree = json.loads(text)
    return tree if mode == "j" else _opened(tree)


def value_from(result: str) -> Value:
    """The value behind a marked result."""
    mode = result[1]
    return UNDEFINED if mode == "u" else seal(tree_from(mode, result[2:]))


def _opened(tree: Any) -> Any:
    if isinstance(tree, list):
        return [_opened(item) for item in tree]
    if not isinstance(tree, dict):
        return tree
    if len(tree) == 1:
        ((key, content),) = tree.items()
        reader = _READERS.get(key)
        if reader is not None:
            return reader(content)
    return {key: _opened(item) for key, item in tree.items()}


def _foreign_from_tag(content: list[Any]) -> Foreign:
    kind, data, text = content
    return Foreign(kind, _opened(data), text)


def _object_from_tag(fields: dict[str, Any]) -> FrozenDict:
    return FrozenDict({key: _opened(item) for key, item in fields.items()})


_READERS: Final[dict[str, Callable[[Any], Any]]] = {
    **TAGS,
    "$foreign": _foreign_from_tag,
    "$float": float,
    "$big": int,
    "$object": _object_from_tag,
}
_DECODER: Final = msgspec.json.Decoder()


def foreign_in(tree: Any, path: Path = ()) -> tuple[Path, Foreign] | None:
    """The first thing in a tree that no conversation can hold, and where it is."""
    if isinstance(tree, Foreign):
        return path, tree
    tree = raw(tree)
    if isinstance(tree, dict):
        children = list(tree.items())
    elif isinstance(tree, list):
        children = list(enumerate(tree))
    else:
        return None
    for key, item in children:
        found = foreign_in(item, (*path, key))
        if found is not None:
            return found
    return None
