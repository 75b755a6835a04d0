"""Where a run stands: frames, the scopes they name, and nothing else.

A cursor's JSON is the checkpoint: written at a Need, read anywhere, it goes on where it was. Frames
name a scope, and the state holds the scopes, so who shares variables with whom is the same before
and after JSON.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

import msgspec

from saywhy.chart.outcome import Answer, Need
from saywhy.errors import DamagedSession
from saywhy.values import UNDEFINED, dumps, loads_raw, seal


class State(msgspec.Struct, omit_defaults=True):
    """What the cursors of one conversation share: scopes by id, and the counters."""

    scopes: dict[str, dict[str, Any]] = {}
    seq: int = 0
    """Number of the newest commit."""
    next_id: int = 1
    """Number of the next frame or scope."""
    turn: int = 0

    def take_id(self) -> int:
        """A number that was never used in this conversation."""
        number = self.next_id
        self.next_id += 1
        return number

    def get(self, scope: str, name: str) -> Any:
        """A variable, frozen; `UNDEFINED` when the scope or the name is not there."""
        variables = self.scopes.get(scope)
        return UNDEFINED if variables is None else variables.get(name, UNDEFINED)


class Frame(msgspec.Struct, omit_defaults=True):
    """One running chart: which, where in it, and on whose variables."""

    id: int
    chart: str
    """Digest: a frame runs to its end on the version it was opened with."""
    name: str
    at: str | None
    scope: str
    data: dict[str, Any] = {}
    """What the language keeps for this frame."""
    waiting: Need | None = None
    """What the step at `at` asked for and has not got yet."""
    notes: list[Any] = []
    """Answers of the functions this step has called so far, in order."""
    held: Answer | None = None
    """The answer the step was working on when a function suspended it."""
    asked: Need | None = None
    """What `held` answers; None when the step was being entered."""
    boundary: bool = False
    """This frame interrupted the one below, which is entered again when this one ends."""
    caller: int = 0
    branches: list[Cursor] | None = None
    """While forked: one cursor for each branch, in declared order."""
    results: list[Any] = []
    """While forked: what each branch gave; see `fork.py`."""


class Cursor(msgspec.Struct, omit_defaults=True):
    """A stack of frames, top last. Two cursors of one conversation share one `State`."""

    frames: list[Frame] = []
    state: State = msgspec.field(default_factory=State)

    @property
    def top(self) -> Frame:
        """The frame that runs."""
        return self.frames[-1]

    def beside(self) -> Cursor:
        """An empty cursor on the same state, for routing or for a branch."""
        return Cursor([], self.state)

    def copy(self) -> Cursor:
        """A cursor that can run on without changing this one. Values are shared, not copied."""
        state = self.state
        scopes = {name: dict(variables) for name, variables in state.scopes.items()}
        return self.onto(State(scopes, state.seq, state.next_id, state.turn))

    def onto(self, state: State) -> Cursor:
        """The same frames, copied, on another state."""
        return Cursor([_copy_frame(frame, state) for frame in self.frames], state)

    def to_json(self) -> bytes:
        """The checkpoint as JSON text."""
        return dumps(self)

    @classmethod
    def from_json(cls, data: bytes) -> Self:
        """The cursor written by `to_json`. Raises `DamagedSession` for anything else."""
        return cls.from_tree(loads_raw(data))

    @classmethod
    def from_tree(cls, tree: Any, state: State | None = None) -> Self:
        """The cursor in a parsed document; with `state`, on that state instead of its own."""
        cursor = _converted(tree, cls)
        if state is not None:
            return cls([_onto(frame, state) for frame in cursor.frames], state)
        for variables in cursor.state.scopes.values():
            for name, value in variables.items():
                variables[name] = seal(value)
        for frame in cursor.frames:
            _onto(frame, cursor.state)
        return cursor

    def walk(self) -> Iterator[Frame]:
        """All frames, those of branches included, bottom first."""
        for frame in self.frames:
            yield frame
            for branch in frame.branches or ():
                yield from branch.walk()


def _converted(tree: Any, kind: type[Any]) -> Any:
    try:
        return msgspec.convert(tree, kind)
    except msgspec.ValidationError as error:
        raise DamagedSession(f"the stored cursor cannot be read: {error}") from error


def _copy_frame(frame: Frame, state: State) -> Frame:
    return Frame(
        frame.id,
        frame.chart,
        frame.name,
        frame.at,
        frame.scope,
        dict(frame.data),
        frame.waiting,
        list(frame.notes),
        frame.held,
        frame.asked,
        frame.boundary,
        frame.caller,
        None if frame.branches is None else [branch.onto(state) for branch in frame.branches],
        list(frame.results),
    )


def _onto(frame: Frame, state: State) -> Frame:
    """Branch cursors are written without their state; here they get it back."""
    for branch in frame.branches or ():
        branch.state = state
        for inner in branch.frames:
            _onto(inner, state)
    return frame
