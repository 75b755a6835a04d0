"""What did an expression change inside a variable? The difference of before and after."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from saywhy.expr.chains import Path
from saywhy.values import UNDEFINED, Value, raw, same, seal


class Change(msgspec.Struct, frozen=True):
    """A value that is new at `path`; for `deleted`, what was there is gone.

    Items added to a list come as changes at the indexes from its old end on, in order.
    """

    path: Path
    value: Value
    deleted: bool = False


def changes(path: Path, before: Any, after: Any) -> Iterator[Change]:
    """The changes that turn `before` into `after`, as far inside as they can be placed."""
    one, other = raw(before), raw(after)
    if isinstance(one, dict) and isinstance(other, dict):
        yield from _in_object(path, one, other)
    elif isinstance(one, list) and isinstance(other, list) and len(one) <= len(other):
        yield from _in_list(path, one, other)
    elif not same(one, other):
        yield Change(path, seal(after))


def _in_object(path: Path, before: dict[str, Any], after: dict[str, Any]) -> Iterator[Change]:
    for key, item in before.items():
        if key in after:
            yield from changes((*path, key), item, after[key])
        else:
            yield Change((*path, key), UNDEFINED, deleted=True)
    for key, item in after.items():
        if key not in before:
            yield Change((*path, key), seal(item))


def _in_list(path: Path, before: list[Any], after: list[Any]) -> Iterator[Change]:
    found: list[Change] = []
    touched = 0
    for index, item in enumerate(before):
        inside = list(changes((*path, index), item, after[index]))
        touched += bool(inside)
        found += inside
    if touched > 1 and touched * 2 > len(before):
        yield Change(path, seal(after))  # sorted, reversed, shifted: the list is a new one
        return
    yield from found
    for index in range(len(before), len(after)):
        yield Change((*path, index), seal(after[index]))
