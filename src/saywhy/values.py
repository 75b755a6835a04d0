"""Which values may live in a conversation, and how they survive JSON.

State holds JSON values and what JavaScript adds to them: undefined, NaN, the infinities, -0,
dates and BigInt. A value is frozen once, when it enters the state; states and commits then share
it. Plain `dict` and `list` trees stay plain inside a frozen value and are wrapped when they are
looked at, so freezing data that we parsed ourselves costs nothing.

Left to others: which values an expression accepts (`expr`), and redaction (`trace.masking`).
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import islice
from typing import Any, Final, TypeAlias, TypeVar

import msgspec

from saywhy.errors import StateValueError
from saywhy.scalars import (
    UNDEFINED,
    BigInt,
    Date,
    NonFinite,
    date_from_tag,
    date_tag,
    iso_from_milliseconds,
    number_from_tag,
    number_tag,
    same_number,
)

__all__ = [
    "UNDEFINED",
    "BigInt",
    "Date",
    "FrozenDict",
    "FrozenList",
    "Key",
    "NonFinite",
    "Value",
    "append_path",
    "delete_path",
    "dumps",
    "freeze",
    "get_path",
    "iso_from_milliseconds",
    "loads",
    "loads_into",
    "loads_raw",
    "raw",
    "same",
    "seal",
    "seal_fields",
    "set_path",
    "tagged",
    "thaw",
    "untagged",
]

T = TypeVar("T")

Value: TypeAlias = Any
"""A user's own value: None, bool, int, float, str, `UNDEFINED`, `BigInt`, `Date`, list or dict."""

Key: TypeAlias = tuple[str | int, ...]
"""Where a value lives: scope id, name, then the path inside the value."""

MAX_DEPTH: Final = 200
"""How deep lists and objects may be nested in a stored value."""


class FrozenDict(Mapping[str, Any]):
    """A read-only object. Nested objects and lists come out frozen as well."""

    __slots__ = ("raw",)

    def __init__(self, raw: dict[str, Any]) -> None:
        self.raw = raw
        """The tree inside, for code that promises not to change it."""

    def __getitem__(self, key: str) -> Any:
        return seal(self.raw[key])

    def __iter__(self) -> Iterator[str]:
        return iter(self.raw)

    def __len__(self) -> int:
        return len(self.raw)

    def __contains__(self, key: object) -> bool:
        return key in self.raw

    def __eq__(self, other: object) -> bool:
        return same(self, other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"FrozenDict({thaw(self)!r})"


class FrozenList(Sequence[Any]):
    """A read-only list whose `append` gives a new list in constant time.

    Lists grown from one another share one buffer, each with a length of its own. The newest grows
    it in place; appending to an older one copies first, as to a plain list that was only wrapped.
    """

    __slots__ = ("_buffer", "_length", "_owned")

    def __init__(
        self, buffer: list[Any], length: int | None = None, *, owned: bool = False
    ) -> None:
        self._buffer = buffer
        self._length = len(buffer) if length is None else length
        self._owned = owned

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return FrozenList(self.raw[index])
        if not -self._length <= index < self._length:
            raise IndexError(f"index {index} is outside a list of {self._length}")
        return seal(self._buffer[index if index >= 0 else self._length + index])

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[Any]:
        return map(seal, islice(self._buffer, self._length))

    def __eq__(self, other: object) -> bool:
        return same(self, other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"FrozenList({thaw(self)!r})"

    @property
    def raw(self) -> list[Any]:
        """The items, for code that promises not to change them."""
        whole = self._length == len(self._buffer)
        return self._buffer if whole else self._buffer[: self._length]

    def behind(self, before: FrozenList) -> list[Any] | None:
        """What was put behind `before` to make this list; None where that is not plain to see."""
        grown = self._buffer is before._buffer and before._length <= self._length
        return self._buffer[before._length : self._length] if grown else None

    def appended(self, *items: Any) -> FrozenList:
        """A list with `items` at the end; this one stays as it is."""
        newest = self._owned and self._length == len(self._buffer)
        buffer = self._buffer if newest else self.raw[:]
        buffer.extend(items)
        return FrozenList(buffer, owned=True)


def seal(value: Any) -> Any:
    """`value` as the outside may see it: a plain dict or list of ours wrapped, the rest as is."""
    kind = type(value)
    if kind is dict:
        return FrozenDict(value)
    if kind is list:
        return FrozenList(value)
    return value


def seal_fields(fields: dict[str, Any]) -> dict[str, Any]:
    """`fields`, a dict of ours, with every value in it sealed."""
    for name, value in fields.items():
        if type(value) is dict or type(value) is list:
            fields[name] = seal(value)
    return fields


def raw(value: Any) -> Any:
    """The plain tree inside a frozen value. Not to be changed."""
    kind = type(value)
    return value.raw if kind is FrozenDict or kind is FrozenList else value


def freeze(value: Any, where: Key = ()) -> Any:
    """`value` as state: copied, so that later changes outside do not reach in.

    Accepts JSON values, tuples, mappings, aware or naive datetimes (naive is UTC), `UNDEFINED`,
    `BigInt` and `Date`. Raises `StateValueError`, naming the place, for anything else, for keys
    that are no strings and for nesting deeper than `MAX_DEPTH`.
    """
    kind = type(value)
    if kind is FrozenDict or kind is FrozenList:
        return value
    return value if kind in _UNCHANGING else seal(_plain(value, where, 0))


def _plain(value: Any, where: Key, depth: int) -> Any:
    # Exact types first: asking an abstract class costs ten times as much.
    kind = type(value)
    if kind in _UNCHANGING:
        return value
    if kind is float:
        return value if math.isfinite(value) else NonFinite(value)
    if kind is FrozenList or kind is FrozenDict or kind is NonFinite:
        return _leaf(value)
    if depth > MAX_DEPTH:
        raise StateValueError(where, f"is nested deeper than {MAX_DEPTH} levels")
    if kind is dict:
        return _plain_object(value, where, depth)
    if kind is list:
        return _plain_list(value, where, depth)
    if hasattr(kind, "__frozen__"):
        return _leaf(value.__frozen__())  # a view of a value that is frozen already
    if isinstance(value, Mapping):
        return _plain_object(value, where, depth)
    if isinstance(value, list | tuple):
        return _plain_list(value, where, depth)
    return _plain_rare(value, where)


_UNCHANGING: Final = frozenset({str, int, bool, type(None), type(UNDEFINED)})
"""Types whose values are frozen as they are."""


def _plain_list(value: Sequence[Any], where: Key, depth: int) -> list[Any]:
    return [
        item if type(item) in _UNCHANGING else _plain(item, (*where, i), depth + 1)
        for i, item in enumerate(value)
    ]


def _plain_object(value: Mapping[Any, Any], where: Key, depth: int) -> Any:
    tree: dict[str, Any] = {}
    for key, item in value.items():
        if not isinstance(key, str):
            raise StateValueError(where, f"has the key {key!r}, which is no text")
        if type(item) in _UNCHANGING:
            tree[key] = item
        else:
            tree[key] = _plain(item, (*where, key), depth + 1)
    return FrozenDict(tree) if _looks_like_tag(tree) else tree


def _plain_rare(value: Any, where: Key) -> Any:
    if isinstance(value, BigInt | Date):
        return value
    if isinstance(value, datetime):
        return Date.from_datetime(value)
    if isinstance(value, str):
        return str.__str__(value)  # not `str(value)`: an enum of texts prints its own name
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return _plain(float(value), where, 0)
    raise StateValueError(where, f"is a {type(value).__name__}, which a conversation cannot hold")


def thaw(value: Any) -> Any:
    """A plain copy of a value that the caller may change."""
    kind = type(value)
    if kind in _UNCHANGING:
        return value
    if kind is FrozenDict or kind is FrozenList:
        value = value.raw
    if isinstance(value, dict):
        return {key: thaw(item) for key, item in value.items()}
    if isinstance(value, list):
        return [thaw(item) for item in value]
    return value


def same(one: Any, other: Any) -> bool:
    """Whether two values are equal as a conversation sees it: NaN equals NaN, true is not 1."""
    if one is other:
        return True
    kind = type(one)
    if (kind is str or kind is int) and type(other) is kind:
        return bool(one == other)
    if kind is FrozenList and type(other) is FrozenList and one.behind(other) == []:
        return len(one) == len(other)
    one, other = raw(one), raw(other)
    if isinstance(one, dict):
        alike = one is other or (isinstance(other, dict) and one.keys() == other.keys())
        return alike and all(map(same, one.values(), map(other.__getitem__, one)))
    if isinstance(one, list | tuple):
        return (
            isinstance(other, list | tuple)
            and len(one) == len(other)
            and all(map(same, one, other))
        )
    return _same_scalar(one, other)


def _same_scalar(one: Any, other: Any) -> bool:
    if isinstance(one, bool) is not isinstance(other, bool):
        return False
    if isinstance(one, float) and isinstance(other, float):
        return same_number(one, other)
    return bool(one == other)


# ------------------------------------------------------------------ paths


def get_path(value: Any, path: Sequence[str | int]) -> Any:
    """What stands at `path` inside `value`; `UNDEFINED` where the path leads nowhere."""
    # Exact types rather than isinstance: every variable an expression reads comes through here.
    for part in path:
        kind = type(value)
        if kind is dict:
            value = value.get(part, UNDEFINED)
        elif kind is FrozenDict:
            value = value.raw.get(part, UNDEFINED)
        elif kind is FrozenList or kind is list:
            if type(part) is not int or not 0 <= part < len(value):
                return UNDEFINED
            value = value[part]
        else:
            return UNDEFINED
    kind = type(value)  # as `seal` does it: a call more is a third of looking up a number
    return FrozenDict(value) if kind is dict else FrozenList(value) if kind is list else value


def set_path(value: Any, path: Sequence[str | int], new: Any) -> Any:
    """`value` with `new` (already frozen) at `path`; only what lies on the path is copied.

    A missing parent becomes an object. An index one past the end appends; one further out raises
    `IndexError`.
    """
    if not path:
        return new
    tree = raw(value)
    head, rest = path[0], path[1:]
    if isinstance(head, int):
        items = tree[:] if isinstance(tree, list) else []
        if head == len(items):
            items.append(raw(set_path(UNDEFINED, rest, new)))
        else:
            items[head] = _leaf(set_path(items[head], rest, new))
        return FrozenList(items)
    fields: dict[str, Any] = dict(tree) if isinstance(tree, dict) else {}
    fields[head] = _leaf(set_path(fields.get(head, UNDEFINED), rest, new))
    return FrozenDict(fields)


def append_path(value: Any, path: Sequence[str | int], item: Any) -> Any:
    """`value` with `item` (already frozen) at the end of the list at `path`."""
    target = get_path(value, path) if path else value
    grown = (target if type(target) is FrozenList else FrozenList([])).appended(_leaf(item))
    return set_path(value, path, grown) if path else grown


def delete_path(value: Any, path: Sequence[str | int]) -> Any:
    """`value` without what stood at `path`; unchanged where nothing did."""
    parent = raw(get_path(value, path[:-1]))
    last = path[-1]
    if isinstance(parent, dict) and last in parent:
        smaller: Any = FrozenDict({key: item for key, item in parent.items() if key != last})
    elif isinstance(parent, list) and isinstance(last, int) and 0 <= last < len(parent):
        smaller = FrozenList(parent[:last] + parent[last + 1 :])
    else:
        return value
    return set_path(value, path[:-1], smaller)


def _leaf(value: Any) -> Any:
    """How a frozen value is kept inside a tree: lists with their shared buffer, objects plain.

    An object that looks like one of our tags keeps its wrapper, so that `dumps` can escape it.
    """
    if type(value) is FrozenDict and not _looks_like_tag(value.raw):
        return value.raw
    return value


def _looks_like_tag(tree: dict[str, Any]) -> bool:
    return len(tree) == 1 and next(iter(tree)) in TAGS


# ------------------------------------------------------------------ JSON


def dumps(value: Any) -> bytes:
    """JSON text (UTF-8) of a value, a Struct or a tree of both. `loads` gives the value back.

    What JSON lacks is written as an object of one key: `{"$undefined": true}`,
    `{"$num": "NaN" | "Infinity" | "-Infinity"}`, `{"$bigint": "12"}`, `{"$date": ISO or null}`. An
    object of the user's that looks like one of these is written `{"$object": {…}}`.
    """
    try:
        return _ENCODER.encode(value)
    except UnicodeEncodeError:
        # A lone surrogate: only the standard library writes it, as an escape.
        return json.dumps(_with_tags(value), separators=(",", ":")).encode()


def loads(data: bytes | str) -> Any:
    """The frozen value written by `dumps`. Raises `ValueError` for text that is no JSON."""
    return seal(loads_raw(data))


def loads_raw(data: bytes | str) -> Any:
    """Like `loads`, as a plain tree of our own that nobody else holds."""
    text = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    try:
        tree = _DECODER.decode(text)
    except msgspec.DecodeError:  # a lone surrogate, or no JSON at all
        tree = json.loads(text)
    return untagged(tree) if _may_hold_tags(text) else tree


def loads_into(data: bytes | str, decoder: msgspec.json.Decoder[T]) -> T:
    """Like `loads_raw`, as the Struct that `decoder` is for: in one step where no tags are in it.

    Raises `msgspec.ValidationError`, a `ValueError`, for JSON of another shape.
    """
    text = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    if not _may_hold_tags(text):
        try:
            return decoder.decode(text)
        except msgspec.DecodeError:  # of another shape, or with a lone surrogate in it
            pass
    return msgspec.convert(loads_raw(text), decoder.type)


def _may_hold_tags(text: bytes) -> bool:
    # A byte as a number is found far faster than a text of two; most texts hold none.
    return 36 in text and b'"$' in text


def tagged(value: Any) -> Any:
    """A plain JSON tree of `value`, with what JSON lacks as tags (see `dumps`)."""
    return json.loads(dumps(value))


def untagged(tree: Any) -> Any:
    """The value behind a JSON tree with tags; the opposite of `tagged`. Unknown tags stay."""
    if isinstance(tree, dict):
        if len(tree) == 1:
            ((key, content),) = tree.items()
            reader = TAGS.get(key)
            if reader is not None:
                return reader(content)
        return {key: untagged(item) for key, item in tree.items()}
    if isinstance(tree, list):
        return [untagged(item) for item in tree]
    return tree


def _object_from_tag(fields: dict[str, Any]) -> FrozenDict:
    return FrozenDict({key: untagged(item) for key, item in fields.items()})


TAGS: Final[dict[str, Callable[[Any], Any]]] = {
    "$undefined": lambda content: UNDEFINED,
    "$num": number_from_tag,
    "$bigint": lambda digits: BigInt(int(digits)),
    "$date": date_from_tag,
    "$object": _object_from_tag,
}
"""What an object of this one key stands for, by what is under it."""


def _with_tags(value: Any) -> Any:
    if isinstance(value, msgspec.Struct):
        listed = value.__struct_config__.array_like
        value = msgspec.structs.astuple(value) if listed else msgspec.structs.asdict(value)
    value = encode_extra(value) if type(value) not in _PLAIN else value
    if isinstance(value, Mapping):
        return {key: _with_tags(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_with_tags(item) for item in value]
    return value


_PLAIN: Final = frozenset({str, int, float, bool, type(None), dict, list, tuple})


def encode_extra(value: Any) -> Any:
    kind = type(value)
    if kind is FrozenDict:
        tree = value.raw
        return {"$object": tree} if len(tree) == 1 and _looks_like_tag(tree) else tree
    if kind is FrozenList:
        return value.raw
    if value is UNDEFINED:
        return {"$undefined": True}
    if isinstance(value, NonFinite):
        return {"$num": number_tag(value)}
    if isinstance(value, BigInt):
        return {"$bigint": str(value.value)}
    if isinstance(value, Date):
        return {"$date": date_tag(value)}
    raise TypeError(f"{type(value).__name__} cannot be written as JSON")


_ENCODER: Final = msgspec.json.Encoder(enc_hook=encode_extra)
_DECODER: Final = msgspec.json.Decoder()
