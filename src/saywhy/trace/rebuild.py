"""What a value was at some commit, rebuilt from the operations of the commits before.

A record that was masked or cut cannot give the real value back, on purpose, and one that begins
in the middle knows nothing of what was written before. What is found says so.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, Literal

import msgspec

from saywhy.chart.commit import Op
from saywhy.trace.masking.redact import CUT, MARK
from saywhy.values import (
    UNDEFINED,
    FrozenDict,
    FrozenList,
    Key,
    append_path,
    delete_path,
    get_path,
    seal,
    set_path,
)

Doubt = Literal["", "redacted", "cut", "start", "unrecorded"]

DOUBTS: Final[dict[str, str]] = {
    "": "",
    "redacted": "masked in the record",
    "cut": "too big to be kept whole",
    "start": "the record begins after it was first written",
    "unrecorded": "not written by any recorded step",
}


class Found(msgspec.Struct, frozen=True, omit_defaults=True):
    """A value as the record knows it. With a `doubt` it is not, or not wholly, the real one."""

    value: Any = UNDEFINED
    doubt: Doubt = ""
    commits: tuple[int, ...] = ()
    """The commits it was rebuilt from, oldest first."""

    @property
    def exact(self) -> bool:
        """Whether the value is what the run had."""
        return not self.doubt

    @property
    def note(self) -> str:
        """The doubt in words; empty for none."""
        return DOUBTS[self.doubt]


def replay(root: Key, ops: Iterable[Op]) -> Any:
    """The value of a variable after these operations on it or on parts of it.

    Operations that do not fit are passed over: what they were to change was masked or cut.
    """
    value: Any = UNDEFINED
    for op in ops:
        path = op.key[len(root) :]
        try:
            value = _applied(value, op, path)
        except IndexError:
            continue
    return value


def _applied(value: Any, op: Op, path: Key) -> Any:
    if op.verb == "set":
        return set_path(value, path, seal(op.value)) if path else seal(op.value)
    if op.verb == "append":
        return append_path(value, path, seal(op.value))
    return delete_path(value, path) if path else UNDEFINED


def doubt_in(value: Any) -> Doubt:
    """Whether something in a kept value was masked or cut."""
    doubt: Doubt = ""
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, FrozenDict | FrozenList):
            item = item.raw
        if isinstance(item, str):
            if MARK in item:
                return "redacted"
            doubt = "cut" if CUT in item else doubt
        elif isinstance(item, dict):
            stack.extend(item.keys())
            stack.extend(item.values())
        elif isinstance(item, list | tuple):
            stack.extend(item)
    return doubt


def part_of(value: Any, root: Key, key: Key) -> Any:
    """The part of a variable's value that a longer key names; of a masked one the mark."""
    path = key[len(root) :]
    for depth in range(len(path)):
        if get_path(value, path[:depth]) == MARK:
            return MARK
    return get_path(value, path)
