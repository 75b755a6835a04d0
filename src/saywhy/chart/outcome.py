"""What a step may say: where to go on or back, whom to call, what to return, what it needs.

A step never acts on the outside and never moves the cursor; it gives one of these, and
`machine.advance` does the rest.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from saywhy.chart.commit import Decision, Effect, Op
from saywhy.values import UNDEFINED, Key


class Goto(msgspec.Struct, frozen=True):
    """Go on at a node of the same chart; None: past the last node, so the frame returns."""

    to: str | None


class Call(msgspec.Struct, frozen=True):
    """Run another chart on top of this frame.

    The scope is one the step opened (`Scope.open`), or the caller's own for a shared call. With
    `awaits` the caller's step is resumed with the returned value; otherwise it goes on at `then`.
    """

    chart: str
    """Digest, id or name."""
    scope: str
    then: str | None = None
    tail: bool = False
    """Replace this frame instead of stacking on it."""
    awaits: bool = False
    boundary: bool = False
    """An interruption: when the called frame ends, the frame below is entered again."""
    data: dict[str, Any] = {}
    """What the language keeps on the new frame."""


class Return(msgspec.Struct, frozen=True):
    """End this frame, or every frame, with a value. `then` is called once all are gone."""

    value: Any = UNDEFINED
    unwind: Literal["frame", "all"] = "frame"
    how: str = "completed"
    """Why the frames end: completed, returned, dispatched, rebooted, cancelled, …"""
    reason: str = ""
    then: Call | None = None
    down_to: int = 0
    """With `all`: only the frames above this one, whose step goes on with the value."""


class Need(msgspec.Struct, frozen=True, omit_defaults=True):
    """Something only the outside can give. The run rests here until it is answered.

    `kind` says who answers: `user`, `tool`, `model`, `function`, `timer`, `approval`, `task`,
    `flow`, or `fork` for several at once (`items`).
    """

    kind: str
    name: str = ""
    args: Any = None
    effect: Effect = "once"
    items: tuple[tuple[int, Need], ...] = ()
    """For kind `fork`: branch number and what that branch needs, in declared order."""


class Invoke(msgspec.Struct, frozen=True):
    """What a pausable stage gives to run another chart and go on with what that returns.

    The chart runs on a state of its own and is given `args`.
    """

    chart: str
    """Digest, id or name."""
    args: Mapping[str, Any] = {}


class Branch(msgspec.Struct, frozen=True):
    """One side of a fork: a chart on a scope of its own."""

    name: str
    chart: str
    scope: str
    """Opened over that of the fork (`Scope.open(over=…)`): writes stay apart until the join."""
    data: dict[str, Any] = {}
    """What the language keeps on the branch's frame."""


class Fork(msgspec.Struct, frozen=True):
    """Run branches side by side; the step is resumed with their results in declared order."""

    branches: tuple[Branch, ...]
    collect_errors: bool = False
    """Hand failures to the join as data instead of failing the fork."""


class Rewind(msgspec.Struct, frozen=True):
    """Go back: close this frame and all others above the one with this id, and enter a node of it.

    What the steps since have written is the step's own to put right.
    """

    frame: int
    to: str
    how: str = "rewound"
    """Why the frames above end."""
    data: dict[str, Any] = {}
    """What the language keeps on the frame that goes on."""


class Fail(msgspec.Struct, frozen=True):
    """The step failed and nothing on the node takes care of it: the frame is closed."""

    error: Exception


Outcome = Goto | Call | Return | Need | Fork | Rewind | Fail


class Work(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a stage did that ran outside the engine: its step does the same, all or nothing."""

    reads: tuple[Key, ...] = ()
    ops: tuple[Op, ...] = ()
    decision: Decision | None = None
    exact: bool = True
    warnings: tuple[str, ...] = ()
    once: dict[str, Any] = {}
    """Results that the stage need not compute again should it be run again."""
    need: Need | None = None
    """It stopped to ask this; nothing else of it counts."""
    stop: tuple[str, bool] | None = None
    """It ends the run here: why, and whether the charts around it end as well."""
    facts: dict[str, Any] = {}
    """What it told of the step besides reads and writes."""


class Answer(msgspec.Struct, frozen=True, omit_defaults=True):
    """What came back for a Need: a value, or an error as data."""

    value: Any = None
    error: str | None = None
    error_name: str = "Error"
    facts: dict[str, Any] = {}
    """What else is known: which message it was, which attempts were made."""
    work: Work | None = None
    """For a need of kind `task`."""


class BranchAnswer(msgspec.Struct, frozen=True):
    """An answer for one branch of a fork."""

    branch: int
    answer: Answer
    within: tuple[int, ...] = ()
    """Where that branch is forked itself: the branch of its fork, and so on inwards."""
