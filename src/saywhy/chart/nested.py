"""Views of objects and lists inside the state, as a stage written in Python uses them.

They behave like `dict` and `list`. Each holds a path, not a value: nothing is copied to make one,
and what is done to it becomes an operation on that path. Looking at one part notes that part as
read; going through all of it, or comparing it, notes the whole.
"""

from __future__ import annotations

from collections.abc import (
    Callable,
    ItemsView,
    Iterable,
    Iterator,
    MutableMapping,
    MutableSequence,
    ValuesView,
)
from typing import TYPE_CHECKING, Any, cast

from saywhy.errors import ChartError
from saywhy.values import UNDEFINED, FrozenDict, FrozenList, Key, same, thaw

if TYPE_CHECKING:
    from saywhy.chart.view import Sight


def plain(value: Any) -> Any:
    """A plain copy of a value or a view, which may be kept and changed."""
    return thaw(value.__frozen__() if isinstance(value, DictView | ListView) else value)


def _seen(sight: Sight, key: Key, value: Any, noted: bool) -> Any:
    if type(value) is FrozenDict:
        return DictView(sight, key, noted)
    if type(value) is FrozenList:
        return ListView(sight, key, noted)
    if not noted:
        sight.scope.touch(key)
    return value


class _Nested:
    """What both kinds of view share."""

    __slots__ = ("_key", "_noted", "_sight")

    def __init__(self, sight: Sight, key: Key, noted: bool = False) -> None:
        put = object.__setattr__
        put(self, "_sight", sight)
        put(self, "_key", key)
        put(self, "_noted", noted)

    _sight: Sight
    _key: Key
    _noted: bool
    """The read of something around this was noted, so that its parts need not be."""

    def __frozen__(self) -> Any:
        """The value itself, noted as read."""
        if not self._noted:
            self._sight.scope.touch(self._key)
        return self._sight.scope.peek(self._key)

    def is_at(self, sight: Sight, key: Key) -> bool:
        """Whether this is the view of what stands at `key`."""
        return self._sight is sight and self._key == key

    def copy(self) -> Any:
        """A plain copy, all the way down."""
        return thaw(self.__frozen__())

    def __eq__(self, other: object) -> bool:
        return same(self.__frozen__(), _bare(other))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(self.copy())


def _bare(value: Any) -> Any:
    return value.__frozen__() if isinstance(value, _Nested) else value


class DictView(_Nested, MutableMapping[str, Any]):
    """An object of the state. Fields are items, and attributes where no method has the name."""

    __slots__ = ()

    def _raw(self) -> dict[str, Any]:
        found = self._sight.scope.peek(self._key)
        return found.raw if isinstance(found, FrozenDict) else {}

    def __getitem__(self, name: str) -> Any:
        key = (*self._key, name)
        value = self._sight.scope.peek(key)
        if value is UNDEFINED and name not in self._raw():
            if not self._noted:
                self._sight.scope.touch(key)
            raise KeyError(name)
        return _seen(self._sight, key, value, self._noted)

    def __setitem__(self, name: str, value: Any) -> None:
        key = (*self._key, name)
        if not (isinstance(value, _Nested) and value.is_at(self._sight, key)):
            self._sight.scope.set(key, value)

    def __delitem__(self, name: str) -> None:
        if name not in self:
            raise KeyError(name)
        self._sight.scope.delete((*self._key, name))

    def __contains__(self, name: object) -> bool:
        if not self._noted:
            self._sight.scope.touch((*self._key, str(name)))
        return name in self._raw()

    def __iter__(self) -> Iterator[str]:
        return iter(list(self.__frozen__()))

    def __len__(self) -> int:
        return len(self.__frozen__())

    def items(self) -> ItemsView[str, Any]:
        """All fields; noted as one read."""
        return self._all().items()

    def values(self) -> ValuesView[Any]:
        """All values; noted as one read."""
        return self._all().values()

    def _all(self) -> dict[str, Any]:
        found = self.__frozen__()
        sight, key = self._sight, self._key
        return {name: _seen(sight, (*key, name), found[name], True) for name in found}

    def pop(self, name: str, *default: Any) -> Any:
        """Take a field away and give a plain copy of it."""
        if name not in self:
            if default:
                return default[0]
            raise KeyError(name)
        value = plain(self[name])
        del self[name]
        return value

    def setdefault(self, name: str, default: Any = None) -> Any:
        """The field, set to `default` first where it is missing."""
        if name not in self:
            self[name] = default
        return self[name]

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            where = ".".join(str(part) for part in self._key[1:])
            raise AttributeError(f'{where} has no "{name}"') from None

    def __setattr__(self, name: str, value: Any) -> None:
        if name[:1] == "_" or hasattr(type(self), name):
            raise ChartError(f'the attribute "{name}" is taken', hint=f'write view["{name}"] = …')
        self[name] = value

    def __delattr__(self, name: str) -> None:
        del self[name]


class ListView(_Nested, MutableSequence[Any]):
    """A list of the state. `append` costs the same however long the list is."""

    __slots__ = ()

    def _place(self, index: int) -> Key:
        length = self._length()
        at = index + length if index < 0 else index
        if not 0 <= at < length:
            raise IndexError(f"index {index} is outside a list of {length}")
        return (*self._key, at)

    def _length(self) -> int:
        found = self._sight.scope.peek(self._key)
        return len(found) if isinstance(found, FrozenList) else 0

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return self._all()[index]
        key = self._place(index)
        return _seen(self._sight, key, self._sight.scope.peek(key), self._noted)

    def __setitem__(self, index: Any, value: Any) -> None:
        if isinstance(index, slice):
            self._rewrite(lambda items: items.__setitem__(index, list(value)))
        else:
            self._sight.scope.set(self._place(index), value)

    def __delitem__(self, index: Any) -> None:
        if isinstance(index, slice):
            self._rewrite(lambda items: items.__delitem__(index))
        else:
            self._sight.scope.delete(self._place(index))

    def __len__(self) -> int:
        return len(self.__frozen__())

    def __iter__(self) -> Iterator[Any]:
        return iter(self._all())

    def __add__(self, other: Iterable[Any]) -> list[Any]:
        return [*self, *other]

    def append(self, value: Any) -> None:
        """Put a value at the end. This reads nothing."""
        self._sight.scope.append(self._key, value)

    def insert(self, index: int, value: Any) -> None:
        """Put a value before the one at `index`."""
        if index >= self._length():
            self.append(value)
        else:
            self._rewrite(lambda items: items.insert(index, value))

    def pop(self, index: int = -1) -> Any:
        """Take an item away and give a plain copy of it."""
        value = plain(self[index])
        del self[index]
        return value

    def clear(self) -> None:
        """Take all items away."""
        self._sight.scope.set(self._key, [])

    def reverse(self) -> None:
        """Turn the order round."""
        self._rewrite(lambda items: items.reverse())

    def sort(self, *, key: Callable[[Any], Any] | None = None, reverse: bool = False) -> None:
        """Put the items in order."""
        self._rewrite(lambda items: items.sort(key=cast("Any", key), reverse=reverse))

    def _all(self) -> list[Any]:
        sight, key = self._sight, self._key
        found = self.__frozen__()
        return [_seen(sight, (*key, at), item, True) for at, item in enumerate(found)]

    def _rewrite(self, change: Callable[[list[Any]], object]) -> None:
        items = self._all()
        change(items)
        self._sight.scope.set(self._key, [_bare(item) for item in items])
