"""What a step sees of the state, and where its reads and writes are noted.

Writes are staged: they reach the state when the step ends, in one place (`stack.apply_writes`), and
vanish when it raises or is suspended. Within the step a read sees what the step has written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from saywhy.chart.commit import Decision, FunctionCall, Op
from saywhy.chart.cursor import Cursor, Frame, State
from saywhy.chart.model import Chart, Charts, Node
from saywhy.chart.outcome import Need
from saywhy.values import (
    UNDEFINED,
    FrozenDict,
    FrozenList,
    Key,
    append_path,
    delete_path,
    freeze,
    get_path,
    set_path,
)

GONE: Any = object()
"""Staged in place of a variable that the step deletes."""

_FROZEN = frozenset({str, int, bool, type(None), FrozenDict, FrozenList})
"""Types whose values are frozen as they are."""


class Suspend(BaseException):
    """A step cannot go on without this answer; it is run again with the notes it has made.

    No `Exception`: a stage that catches those must not swallow the engine's signal.
    """

    def __init__(self, need: Need) -> None:
        self.need = need
        super().__init__(need.name)


class Scope(msgspec.Struct, eq=False, gc=False):
    """A tracked view of one frame's state for the time of one step.

    A Struct because one is made for every step: filling twenty fields in Python code takes five
    times as long.
    """

    cursor: Cursor
    state: State
    frame: Frame
    chart: Chart
    node: Node
    charts: Charts
    now: float = 0.0
    asked: Need | None = None
    cursors: Sequence[Cursor] = ()
    """All cursors of this conversation that the run knows, the running one among them."""
    reads: list[Key] = []
    ops: list[Op] = []
    staged: dict[tuple[str, str], Any] = {}
    data: dict[str, Any] = {}
    opened: dict[str, str] | None = None
    """Scopes this step opens, each with the scope it lies over ("" for none)."""
    decision: Decision | None = None
    calls: tuple[FunctionCall, ...] = ()
    warnings: tuple[str, ...] = ()
    facts: dict[str, Any] = {}
    tags: tuple[str, ...] = ()
    secrets: tuple[str | tuple[str, str], ...] = ()
    exact: bool = True
    taken: int = 0

    # ------------------------------------------------------------ reading

    def read(self, key: Key) -> Any:
        """The value at `key`, noted as read; `UNDEFINED` where nothing is."""
        if not self.state.bases:
            self.reads.append(key)
            return self.peek(key)
        if len(key) == 2:
            found, value = self._found(key)
            self.reads.append(found)
            return UNDEFINED if value is GONE else value
        self.touch(key)
        return self.peek(key)

    def _found(self, key: Key) -> tuple[Key, Any]:
        """Where a variable is held as seen from `key`, and its value; `GONE` where nowhere.

        `touch` and `peek` in one: a look through the scopes below is made for each read in a
        branch.
        """
        root: Any = key
        at, name = root
        scopes, bases, staged = self.state.scopes, self.state.bases, self.staged
        while True:
            if staged and root in staged:
                return root, staged[root]
            if at in scopes and name in scopes[at]:
                return root, scopes[at][name]
            if at in bases:
                base = bases[at]
                if base.gone and name in base.gone:
                    return key, GONE
                at = base.scope
            elif self.opened and self.opened.get(at):
                at = self.opened[at]
            else:
                return key, GONE
            root = (at, name)

    def touch(self, key: Key) -> None:
        """Note `key` as read. What shows through from a scope below is noted as that one's."""
        if self.state.bases:
            owner: Any = key[0]
            name: Any = key[1]
            holder = self.holder(owner, name)
            if holder != owner:
                key = (holder, *key[1:])
        self.reads.append(key)

    def peek(self, key: Key) -> Any:
        """The value at `key`, not noted: for housekeeping that causes nothing."""
        if len(key) > 2:
            return get_path(self.peek(key[:2]), key[2:])
        root: Any = key
        if root in self.staged:
            value = self.staged[root]
            return UNDEFINED if value is GONE else value
        scope, name = root
        state = self.state
        variables = state.scopes.get(scope)
        if variables is not None and name in variables:
            return variables[name]
        if state.bases or self.opened:
            value = self._found(root)[1]
            return UNDEFINED if value is GONE else value
        return UNDEFINED

    def has(self, scope: str, name: str) -> bool:
        """Whether the variable exists (it may still be undefined)."""
        key = (scope, name)
        if key in self.staged:
            return self.staged[key] is not GONE
        if name in self.state.scopes.get(scope, ()):
            return True
        if not self.state.bases and not self.opened:
            return False
        holder = self.holder(scope, name)
        if (holder, name) in self.staged:
            return self.staged[(holder, name)] is not GONE
        return name in self.state.scopes.get(holder, ())

    def names(self, scope: str) -> list[str]:
        """Names of the variables that are seen in a scope."""
        base, gone = self._base(scope)
        known = dict.fromkeys(self.names(base)) if base else {}
        for name in gone:
            known.pop(name, None)
        known |= dict.fromkeys(self.state.scopes.get(scope, ()))
        for (owner, name), value in self.staged.items():
            if owner == scope:
                known[name] = None
                if value is GONE:
                    del known[name]
        return list(known)

    def holder(self, scope: str, name: str) -> str:
        """The scope that holds the variable as seen from `scope`; itself where none does."""
        at = scope
        while True:
            if (at, name) in self.staged or name in self.state.scopes.get(at, ()):
                return at
            base, gone = self._base(at)
            if not base or name in gone:
                return scope
            at = base

    def _base(self, scope: str) -> tuple[str, list[str]]:
        found = self.state.bases.get(scope)
        if found is not None:
            return found.scope, found.gone
        return (self.opened or {}).get(scope, ""), []

    # ------------------------------------------------------------ writing

    def set(self, key: Key, value: Any) -> None:
        """Put a value at `key`. Raises `StateValueError` for what a conversation cannot hold."""
        if type(value) not in _FROZEN:
            value = freeze(value, key)
        if len(key) == 2:
            self.staged[key] = value  # pyright: ignore[reportArgumentType] - scope and name
        else:
            root = self._own(key)
            self.staged[root] = set_path(self.peek(root), key[2:], value)
        self.ops.append(Op("set", key, value))

    def append(self, key: Key, item: Any) -> None:
        """Put an item at the end of the list at `key`; a missing list begins here."""
        if type(item) not in _FROZEN:
            item = freeze(item, key)
        root: Any = key
        if len(key) > 2 or self.state.bases or self.opened:
            root = self._own(key)
        self.staged[root] = append_path(self.peek(root), key[2:], item)
        self.ops.append(Op("append", key, item))

    def delete(self, key: Key) -> None:
        """Take away what is at `key`; nothing happens where nothing is."""
        root: Any = key
        if len(key) == 2:
            self.staged[root] = GONE
        else:
            root = self._own(key)
            self.staged[root] = delete_path(self.peek(root), key[2:])
        self.ops.append(Op("delete", key))

    def replace(self, key: Key, value: Any, ops: list[Op]) -> None:
        """Put a frozen value in place of a variable, and note it as `ops`, which say the same."""
        root: Any = key
        self.staged[root] = value
        self.ops.extend(ops)

    def _own(self, key: Key) -> tuple[str, str]:
        """The root of `key`, ready to be changed inside.

        What shows through from a scope below is first noted as this scope's own, so that the
        operations of this scope alone say what it holds.
        """
        root: Any = key[:2]
        if self.state.bases or self.opened:
            holder = self.holder(*root)
            if holder != root[0]:
                value = self.peek((holder, root[1]))
                self.reads.append((holder, root[1]))
                self.ops.append(Op("set", root, value))
                self.staged[root] = value
        return root

    def open(self, variables: Mapping[str, Any] | None = None, *, over: str = "") -> str:
        """Id of a new scope for a chart that is called, filled with `variables`.

        With `over`, what it does not hold itself shows through from that scope.
        """
        scope = f"v{self.state.take_id()}"
        if self.opened is None:
            self.opened = {}
        self.opened[scope] = over
        for name, value in (variables or {}).items():
            self.set((scope, name), value)
        return scope

    def discard(self) -> None:
        """Forget everything staged: the step raised or was suspended."""
        self.staged.clear()
        self.ops.clear()
        self.data.clear()
        self.opened = None

    def keep(self, name: str, value: Any) -> None:
        """Remember something on the frame: bookkeeping of the language, not a variable."""
        self.data[name] = value

    def kept(self, name: str, default: Any = None) -> Any:
        """What was kept on the frame under `name`, in this step or before."""
        return self.data[name] if name in self.data else self.frame.data.get(name, default)

    # ------------------------------------------------------------ notes

    def warn(self, text: str) -> None:
        """Something doubtful to be kept with the commit and logged."""
        self.warnings += (text,)

    def noted(self) -> Any:
        """The next note of this step, or `UNDEFINED` when all were taken."""
        if self.taken < len(self.frame.notes):
            self.taken += 1
            return self.frame.notes[self.taken - 1]
        return UNDEFINED

    def note(self, answer: Any) -> None:
        """Remember an answer, so that the step gets it again should it be suspended later."""
        self.frame.notes.append(answer)
        self.taken = len(self.frame.notes)
