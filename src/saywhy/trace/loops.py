"""The loops of agents in a record: which step belongs to which, and what each has come to.

A loop begins with the step that takes the user's message in. Its slots and rounds are charts of
their own, with frames whose caller stands in the loop.
"""

from __future__ import annotations

from typing import Any, Final

from saywhy.chart.commit import Commit, Op
from saywhy.values import FrozenDict, FrozenList, raw, seal

KEPT: Final = frozenset(
    {
        "messages",
        "assembledSystem",
        "memory_storedHistory",
        "memory_preparedMessages",
        "userMessage",
        "runId",
        "loopCount",
        "result",
        "stopReason",
        "settings",
    }
)
"""Variables of a loop whose values are known after each step."""

LISTS: Final = frozenset({"messages", "memory_storedHistory", "memory_preparedMessages"})
NONE: Final = FrozenList([])
NOTHING: Final = FrozenDict({})

BEGINS: Final = "userMessage"
"""The variable that only the first step of a loop sets."""


class LoopState:
    """One loop, as far as it has come."""

    def __init__(self, commit: Commit, scope: str, outer: LoopState | None = None) -> None:
        self.outer = outer
        """The loop, or the sequence and the like, that this one is a part of."""
        self.frame = commit.frame
        self.began = commit.seq
        self.name = commit.flow
        self.scope = scope
        self.state: dict[str, Any] = {}
        self.iteration = 0
        self.phase = ""
        self.error = ""
        self.error_name = ""
        self._calls: dict[str, Any] = {}

    @property
    def root(self) -> LoopState:
        """The outermost one: that of the run."""
        return self if self.outer is None else self.outer.root

    def text(self, name: str) -> str:
        """A variable as text; empty where there is none."""
        return str(self.state.get(name) or "")

    def arguments(self, call_id: str) -> FrozenDict:
        """What a call of the newest reply was made with."""
        found = self._calls.get(call_id)
        return FrozenDict(found) if isinstance(found, dict) else NOTHING

    def take(self, commit: Commit) -> None:
        """Take in what a step wrote."""
        for op in commit.ops:
            if len(op.key) == 2 and op.key[0] == self.scope and op.key[1] in KEPT:
                self._write(str(op.key[1]), op)

    def _write(self, name: str, op: Op) -> None:
        if op.verb == "append":
            before = self.state.get(name)
            known = before if isinstance(before, FrozenList) else FrozenList([])
            self.state[name] = known.appended(raw(op.value))
            self._note_calls(op.value)
            return
        value = raw(op.value)
        self.state[name] = seal(value) if name not in LISTS or type(value) is list else NONE
        if name == "messages" and type(value) is list:
            for message in value[-2:]:
                self._note_calls(message)

    def _note_calls(self, message: Any) -> None:
        """Keep the arguments of the calls in a message of the model: those of the newest reply."""
        told: Any = raw(message)
        wanted = raw(told.get("tool_calls")) if isinstance(told, dict) else None
        if isinstance(wanted, list | tuple):
            calls = [raw(one) for one in wanted]
            self._calls = {str(one.get("id")): raw(one.get("arguments")) for one in calls}


class Loops:
    """The loops that are open, by their frames, and the frames that stand in them."""

    def __init__(self) -> None:
        self._loops: dict[int, LoopState] = {}
        self._frames: dict[int, int] = {}
        """By frame: the frame that its caller stands in."""
        self._callers: dict[int, int] = {}
        """By commit that called something: its frame. A frame does one thing at a time."""
        self._calling: dict[int, int] = {}

    def take(self, commit: Commit) -> LoopState | None:
        """The loop that a step stands in, with what it wrote; None for steps of anything else."""
        self._place(commit)
        scope = _begins(commit)
        if scope and commit.frame not in self._loops:
            outer = self._around(commit.frame)
            self._loops[commit.frame] = LoopState(commit, scope, outer)
        loop = self._around(commit.frame)
        if loop is not None:
            loop.take(commit)
        if commit.phase == "closed":
            self._loops.pop(commit.frame, None)
            self._frames.pop(commit.frame, None)
            self._callers.pop(self._calling.pop(commit.frame, 0), None)
        return loop

    def of(self, frame: int) -> LoopState | None:
        """The loop that a frame stands in."""
        return self._around(frame)

    def above(self, frame: int) -> int:
        """The frame that the caller of a frame stands in; 0 where there is none that is open."""
        return self._frames.get(frame, 0)

    def _place(self, commit: Commit) -> None:
        if commit.caller and commit.frame not in self._frames:
            frame = self._callers.get(commit.caller)
            if frame is not None:
                self._frames[commit.frame] = frame
        if commit.to == "fork" or commit.to.startswith("call "):
            self._callers.pop(self._calling.get(commit.frame, 0), None)
            self._callers[commit.seq] = commit.frame
            self._calling[commit.frame] = commit.seq

    def _around(self, frame: int) -> LoopState | None:
        while True:
            loop = self._loops.get(frame)
            if loop is not None:
                return loop
            above = self._frames.get(frame)
            if above is None:
                return None
            frame = above


def _begins(commit: Commit) -> str:
    """The scope of a loop that begins here; "" where none does."""
    for op in commit.ops:
        if len(op.key) == 2 and op.key[1] == BEGINS and op.verb == "set":
            return str(op.key[0])
    return ""
