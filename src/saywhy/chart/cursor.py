"""Where a run stands: frames, the scopes they name, and nothing else.

A cursor's JSON is the checkpoint: written at a Need, read anywhere, it goes on where it was. Frames
name a scope, and the state holds the scopes, so who shares variables with whom is the same before
and after JSON. A scope may lie over another one: a branch of a fork sees what its parent had, and
holds only what it wrote itself, so that a checkpoint in the midst of a fork is no larger for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

import msgspec

from saywhy.chart.outcome import Answer, Need
from saywhy.errors import DamagedSession
from saywhy.values import UNDEFINED, FrozenDict, dumps, loads_raw, seal_fields


class Base(msgspec.Struct, omit_defaults=True):
    """The scope that another one lies over: what is not written there shows through from here."""

    scope: str
    gone: list[str] = []
    """Names taken away in the scope above, which therefore do not show through."""


class State(msgspec.Struct, omit_defaults=True):
    """What the cursors of one conversation share: scopes by id, and the counters."""

    scopes: dict[str, dict[str, Any]] = {}
    seq: int = 0
    """Number of the newest commit."""
    next_id: int = 1
    """Number of the next frame or scope."""
    turn: int = 0
    bases: dict[str, Base] = {}
    """By scope: what it lies over. The scopes of branches lie over that of the fork's frame."""

    def take_id(self) -> int:
        """A number that was never used in this conversation."""
        number = self.next_id
        self.next_id += 1
        return number

    def get(self, scope: str, name: str) -> Any:
        """A variable, frozen; `UNDEFINED` when the scope or the name is not there."""
        while True:
            variables = self.scopes.get(scope)
            if variables is not None and name in variables:
                return variables[name]
            base = self.bases.get(scope)
            if base is None or name in base.gone:
                return UNDEFINED
            scope = base.scope

    def for_json(self) -> State:
        """This state as it is to be written: itself, but for scopes that look like our tags.

        A scope whose only variable is called `$date` would be read back as a date.
        """
        odd = {
            name: FrozenDict(held)
            for name, held in self.scopes.items()
            if len(held) == 1 and next(iter(held))[:1] == "$"
        }
        if not odd:
            return self
        scopes: dict[str, Any] = {**self.scopes, **odd}
        return State(scopes, self.seq, self.next_id, self.turn, self.bases)


class Side(msgspec.Struct, omit_defaults=True):
    """One branch of a fork: its name, its variables, and what it gave once it is done."""

    name: str
    scope: str
    done: bool = False
    value: Any = None
    error: str = ""
    error_name: str = ""
    last: int = 0
    """The newest commit when it was done."""


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
    branches: list[list[Frame]] | None = None
    """While forked: the stack of each branch, in declared order. They share the cursor's state."""
    results: list[Side] = []
    """From the fork until its step has gone on: the branches and what each gave."""
    collect_errors: bool = False
    """While forked: a failing branch is a result like the others."""
    keeps: list[str] = []
    """Scopes of branches and awaited calls, which the step at `at` has still to read."""


class Cursor(msgspec.Struct, omit_defaults=True):
    """A stack of frames, top last. Two cursors of one conversation share one `State`."""

    frames: list[Frame] = []
    state: State = msgspec.field(default_factory=State)
    returned: Any = None
    """What the bottom frame returned, once there are no frames left."""

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
        scopes = {name: variables.copy() for name, variables in state.scopes.items()}
        twin = State(scopes, state.seq, state.next_id, state.turn)
        if state.bases:  # scopes of branches, which few turns have
            for name, base in state.bases.items():
                twin.bases[name] = Base(base.scope, list(base.gone))
        return self.onto(twin)

    def onto(self, state: State) -> Cursor:
        """The same frames, copied, on another state."""
        frames = [_copy_frame(frame) for frame in self.frames] if self.frames else []
        return Cursor(frames, state, self.returned)

    def to_json(self) -> bytes:
        """The checkpoint as JSON text."""
        return dumps(Cursor(self.frames, self.state.for_json(), self.returned))

    @classmethod
    def from_json(cls, data: bytes) -> Self:
        """The cursor written by `to_json`. Raises `DamagedSession` for anything else."""
        try:
            tree = loads_raw(data)
        except (ValueError, TypeError, AttributeError) as error:
            raise DamagedSession(f"the stored cursor is no JSON of ours: {error}") from error
        return cls.from_tree(tree)

    @classmethod
    def from_tree(cls, tree: Any, state: State | None = None) -> Self:
        """The cursor in a parsed document; with `state`, on that state instead of its own."""
        try:
            cursor = msgspec.convert(tree, cls)
        except msgspec.ValidationError as error:
            raise DamagedSession(f"the stored cursor cannot be read: {error}") from error
        _check_branches(cursor.frames)
        if state is not None:
            cursor.state = state
            return cursor
        for variables in cursor.state.scopes.values():
            seal_fields(variables)
        return cursor

    def walk(self) -> Iterator[Frame]:
        """All frames, those of branches included, bottom first."""
        return _walk(self.frames)


def _walk(frames: list[Frame]) -> Iterator[Frame]:
    for frame in frames:
        yield frame
        for branch in frame.branches or ():
            yield from _walk(branch)


def _check_branches(frames: list[Frame]) -> None:
    for number, frame in enumerate(frames):
        stacks = frame.branches or []
        sides = frame.results
        fits = len(stacks) == len(sides) or not stacks
        if not fits or any(not stack and not sides[i].done for i, stack in enumerate(stacks)):
            problem = "its branches do not fit what it holds of their results"
            raise DamagedSession(problem, frame=number, flow=frame.name)
        for stack in stacks:
            _check_branches(stack)


def _copy_frame(frame: Frame) -> Frame:
    """A frame that can change on its own. Field by field, since every turn copies its frames."""
    branches = frame.branches
    return Frame(
        frame.id,
        frame.chart,
        frame.name,
        frame.at,
        frame.scope,
        frame.data.copy(),
        frame.waiting,
        frame.notes.copy(),
        frame.held,
        frame.asked,
        frame.boundary,
        frame.caller,
        None if branches is None else [[_copy_frame(one) for one in stack] for stack in branches],
        [msgspec.structs.replace(side) for side in frame.results] if frame.results else [],
        frame.collect_errors,
        frame.keeps.copy(),
    )
