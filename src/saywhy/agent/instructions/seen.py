"""What a condition looks at, and which of it decided.

A condition sees ordinary dicts and lists, whose fields are attributes as well, and each look is
noted with the value found. They are real subclasses, unlike the views of a stage
(`chart.nested`): a tool's content may be text or an object, and a condition that asks
`isinstance(ctx.content, dict)` must not be told no by our way of watching.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, NoReturn, cast

import msgspec

from saywhy.values import UNDEFINED, Key, same, thaw

MOST_LOOKS: Final = 40
"""So many looks are kept for one rule; a loop over a long list would fill the record."""

LONGEST_VALUE: Final = 120
"""Texts are kept up to this length."""

_PLAIN: Final = frozenset({int, float, bool, type(None)})


class Look(msgspec.Struct, frozen=True, array_like=True):
    """A value that a condition read: where, and what stood there.

    Objects, lists and what is absent are told in words, such as `<list of 3>`.
    """

    key: Key
    value: Any = None

    @property
    def path(self) -> str:
        """Where it stood: `content.lines.0.price`."""
        return ".".join(map(str, self.key))

    def to_value(self) -> list[Any]:
        """As it stands in a record: path and value."""
        return [self.path, self.value]


class Looks:
    """Notes of one condition."""

    __slots__ = ("_found", "_passed")

    def __init__(self) -> None:
        self._found: dict[Key, Any] = {}
        self._passed: dict[Key, Any] = {}

    def note(self, key: Key, value: Any) -> None:
        """The value at `key` was read, all of it."""
        if len(self._found) < MOST_LOOKS:
            self._found[key] = _brief(value)

    def pass_through(self, key: Key, value: Any) -> None:
        """An object or list was reached for. It counts only where nothing inside is looked at."""
        if len(self._passed) < MOST_LOOKS:
            self._passed[key] = value

    def taken(self) -> tuple[Look, ...]:
        """The notes, in the order of the looks."""
        found = self._found
        looks = [Look(key, value) for key, value in found.items()]
        keys = [*found, *self._passed]
        for key, value in self._passed.items():
            size = len(key)
            inside = any(len(other) > size and other[:size] == key for other in keys)
            if not inside and key not in found:
                looks.append(Look(key, _brief(value)))
        return tuple(looks)


def _brief(value: Any) -> Any:
    kind = type(value)
    if kind in _PLAIN:
        return value
    if isinstance(value, str):
        return value if len(value) <= LONGEST_VALUE else value[:LONGEST_VALUE] + "…"
    if value is UNDEFINED:
        return "<absent>"
    if isinstance(value, Mapping):
        return f"<object of {len(dict(cast('Mapping[str, Any]', value)))}>"
    if isinstance(value, list | tuple):
        return f"<list of {list.__len__(value) if isinstance(value, list) else len(value)}>"
    return f"<{kind.__name__}>"


def seen(value: Any, key: Key, looks: Looks) -> Any:
    """`value` as a condition sees it: objects and lists watched, all else noted as read."""
    if isinstance(value, dict):
        looks.pass_through(key, cast("Any", value))
        return SeenDict(cast("dict[str, Any]", value), key, looks)
    if isinstance(value, list):
        looks.pass_through(key, cast("Any", value))
        return SeenList(cast("list[Any]", value), key, looks)
    looks.note(key, value)
    return value


def _only_looks(*_args: Any, **_named: Any) -> NoReturn:
    raise TypeError("a condition only looks at values; `decide` is what changes the decision")


class SeenDict(dict[str, Any]):
    """An object that a condition looks at. Fields are attributes too, but for names of methods."""

    __slots__ = ("_key", "_looks")

    def __init__(self, content: dict[str, Any], key: Key, looks: Looks) -> None:
        dict.__init__(self, content)
        _put_key(self, key)
        _put_looks(self, looks)

    _key: Key
    _looks: Looks

    def __getitem__(self, name: str) -> Any:
        key = (*self._key, name)
        try:
            value = dict.__getitem__(self, name)
        except KeyError:
            self._looks.note(key, UNDEFINED)
            raise
        return seen(value, key, self._looks)

    def __getattr__(self, name: str) -> Any:
        if name[:2] == "__":
            raise AttributeError(name)
        try:
            return self[name]
        except KeyError:
            where = ".".join(map(str, self._key)) or "the decision"
            raise AttributeError(f'{where} has no "{name}"') from None

    def get(self, name: str, default: Any = None) -> Any:
        """The field, or `default` where there is none."""
        try:
            return self[name]
        except KeyError:
            return default

    def __contains__(self, name: object) -> bool:
        found = dict.__contains__(self, name)
        if not found:
            self._looks.note((*self._key, str(name)), UNDEFINED)
        else:
            self._looks.pass_through((*self._key, str(name)), dict.__getitem__(self, str(name)))
        return found

    def _whole(self) -> dict[str, Any]:
        content = dict(dict.items(self))
        self._looks.note(self._key, content)
        return content

    def __iter__(self) -> Iterator[str]:
        return iter(self._whole())

    def __len__(self) -> int:
        return len(self._whole())

    def keys(self) -> Any:
        """Names of the fields; noted as a look at the whole."""
        return self._whole().keys()

    def values(self) -> Any:
        """All values; noted as a look at the whole."""
        return {name: self[name] for name in self._whole()}.values()

    def items(self) -> Any:
        """All fields; noted as a look at the whole."""
        return {name: self[name] for name in self._whole()}.items()

    def copy(self) -> dict[str, Any]:
        """A plain copy, all the way down."""
        return thaw(self._whole())

    def __eq__(self, other: object) -> bool:
        return same(self._whole(), _bare(other))

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __repr__(self) -> str:
        return repr(self._whole())

    def __deepcopy__(self, _memo: Any) -> dict[str, Any]:
        return self.copy()

    __hash__ = None  # type: ignore[assignment]
    __setattr__ = _only_looks  # type: ignore[assignment]
    __setitem__ = __delitem__ = __ior__ = _only_looks  # type: ignore[assignment]
    update = setdefault = pop = popitem = clear = _only_looks  # type: ignore[assignment]


# Past `__setattr__`, which refuses; and faster than `object.__setattr__`.
_put_key: Callable[[SeenDict, Key], None] = SeenDict._key.__set__  # type: ignore  # pyright: ignore
_put_looks: Callable[[SeenDict, Looks], None] = SeenDict._looks.__set__  # type: ignore  # pyright: ignore


class SeenList(list[Any]):
    """A list that a condition looks at."""

    __slots__ = ("_key", "_looks")

    def __init__(self, content: Iterable[Any], key: Key, looks: Looks) -> None:
        list.__init__(self, content)
        self._key = key
        self._looks = looks

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return self._all()[index]
        try:
            value = list.__getitem__(self, index)
        except IndexError:
            self._looks.note((*self._key, index), UNDEFINED)
            raise
        at = index if index >= 0 else list.__len__(self) + index
        return seen(value, (*self._key, at), self._looks)

    def _whole(self) -> list[Any]:
        content = list(list.__iter__(self))
        self._looks.note(self._key, content)
        return content

    def _all(self) -> list[Any]:
        return [seen(v, (*self._key, at), self._looks) for at, v in enumerate(self._whole())]

    def __iter__(self) -> Iterator[Any]:
        for at, value in enumerate(self._whole()):
            yield seen(value, (*self._key, at), self._looks)

    def __reversed__(self) -> Iterator[Any]:
        return reversed(self._all())

    def __len__(self) -> int:
        return len(self._whole())

    def __contains__(self, item: object) -> bool:
        bare = _bare(item)
        return any(same(one, bare) for one in self._whole())

    def copy(self) -> list[Any]:
        """A plain copy, all the way down."""
        return thaw(self._whole())

    def __eq__(self, other: object) -> bool:
        return same(self._whole(), _bare(other))

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __repr__(self) -> str:
        return repr(self._whole())

    def __deepcopy__(self, _memo: Any) -> list[Any]:
        return self.copy()

    __hash__ = None  # type: ignore[assignment]
    __setitem__ = __delitem__ = __iadd__ = __imul__ = _only_looks  # type: ignore[assignment]
    append = extend = insert = remove = pop = _only_looks  # type: ignore[assignment]
    clear = sort = reverse = _only_looks  # type: ignore[assignment]


def _bare(value: Any) -> Any:
    return value.copy() if isinstance(value, SeenDict | SeenList) else value
