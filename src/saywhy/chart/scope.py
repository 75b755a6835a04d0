"""What a step sees of the state, and where its reads and writes are noted.

Writes are staged: they reach the state when the step ends, in one place (`machine`), and vanish
when it raises or is suspended. Within the step a read sees what the step has written.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from saywhy.chart.commit import Decision, FunctionCall, Op
from saywhy.chart.cursor import Cursor, Frame, State
from saywhy.chart.model import Chart, Charts, Node
from saywhy.chart.outcome import Need
from saywhy.values import UNDEFINED, Key, append_path, delete_path, freeze, get_path, set_path

GONE: Any = object()
"""Staged in place of a variable that the step deletes."""


class Suspend(BaseException):
    """A step cannot go on without this answer; it is run again with the notes it has made.

    No `Exception`: a stage that catches those must not swallow the engine's signal.
    """

    def __init__(self, need: Need) -> None:
        self.need = need
        super().__init__(need.name)


class Scope:
    """A tracked view of one frame's state for the time of one step."""

    __slots__ = (
        "asked",
        "calls",
        "chart",
        "charts",
        "cursor",
        "data",
        "decision",
        "exact",
        "facts",
        "frame",
        "node",
        "now",
        "ops",
        "reads",
        "secrets",
        "staged",
        "state",
        "tags",
        "taken",
        "warnings",
    )

    def __init__(
        self,
        cursor: Cursor,
        frame: Frame,
        chart: Chart,
        node: Node,
        charts: Charts,
        now: float,
        asked: Need | None = None,
    ) -> None:
        self.cursor = cursor
        self.state: State = cursor.state
        self.frame = frame
        self.chart = chart
        self.charts = charts
        self.node = node
        self.now = now
        self.asked = asked
        self.reads: list[Key] = []
        self.ops: list[Op] = []
        self.staged: dict[tuple[str, str], Any] = {}
        self.data: dict[str, Any] = {}
        self.decision: Decision | None = None
        self.calls: list[FunctionCall] = []
        self.warnings: list[str] = []
        self.facts: dict[str, Any] = {}
        self.tags: tuple[str, ...] = ()
        self.secrets: tuple[str, ...] = ()
        self.exact = True
        self.taken = 0

    # ------------------------------------------------------------ reading

    def read(self, key: Key) -> Any:
        """The value at `key`, noted as read; `UNDEFINED` where nothing is."""
        self.reads.append(key)
        return self.peek(key)

    def peek(self, key: Key) -> Any:
        """The value at `key`, not noted: for housekeeping that causes nothing."""
        root = self._root(str(key[0]), str(key[1]))
        return root if len(key) == 2 else get_path(root, key[2:])

    def has(self, scope: str, name: str) -> bool:
        """Whether the variable exists (it may still be undefined)."""
        staged = self.staged.get((scope, name), UNDEFINED) if self.staged else UNDEFINED
        if staged is not UNDEFINED:
            return staged is not GONE
        return name in self.state.scopes.get(scope, ())

    def names(self, scope: str) -> list[str]:
        """Names of the variables in a scope."""
        known = dict.fromkeys(self.state.scopes.get(scope, ()))
        for (owner, name), value in self.staged.items():
            if owner == scope:
                known[name] = None
                if value is GONE:
                    del known[name]
        return list(known)

    def _root(self, scope: str, name: str) -> Any:
        if self.staged:
            staged = self.staged.get((scope, name))
            if staged is not None or (scope, name) in self.staged:
                return UNDEFINED if staged is GONE else staged
        variables = self.state.scopes.get(scope)
        return UNDEFINED if variables is None else variables.get(name, UNDEFINED)

    # ------------------------------------------------------------ writing

    def set(self, key: Key, value: Any) -> None:
        """Put a value at `key`. Raises `StateValueError` for what a conversation cannot hold."""
        frozen = freeze(value, key)
        self.ops.append(Op("set", key, frozen))
        root = (str(key[0]), str(key[1]))
        if len(key) == 2:
            self.staged[root] = frozen
        else:
            self.staged[root] = set_path(self._root(*root), key[2:], frozen)

    def append(self, key: Key, item: Any) -> None:
        """Put an item at the end of the list at `key`; a missing list begins here."""
        frozen = freeze(item, key)
        self.ops.append(Op("append", key, frozen))
        root = (str(key[0]), str(key[1]))
        self.staged[root] = append_path(self._root(*root), key[2:], frozen)

    def delete(self, key: Key) -> None:
        """Take away what is at `key`; nothing happens where nothing is."""
        root = (str(key[0]), str(key[1]))
        self.ops.append(Op("delete", key))
        if len(key) == 2:
            self.staged[root] = GONE
        else:
            self.staged[root] = delete_path(self._root(*root), key[2:])

    def open(self, variables: Mapping[str, Any] | None = None) -> str:
        """Id of a new, empty scope for a chart that is called, filled with `variables`."""
        scope = f"v{self.state.take_id()}"
        self.staged[(scope, "")] = GONE
        for name, value in (variables or {}).items():
            self.set((scope, name), value)
        return scope

    def keep(self, name: str, value: Any) -> None:
        """Remember something on the frame: bookkeeping of the language, not a variable."""
        self.data[name] = value

    def kept(self, name: str, default: Any = None) -> Any:
        """What was kept on the frame under `name`, in this step or before."""
        return self.data[name] if name in self.data else self.frame.data.get(name, default)

    # ------------------------------------------------------------ notes

    def warn(self, text: str) -> None:
        """Something doubtful to be kept with the commit and logged."""
        self.warnings.append(text)

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
