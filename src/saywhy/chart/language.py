"""What the nodes of a chart do: a table from kind to step.

A language is handed to `machine.advance`. Flows, charts written in Python and agents each bring
one, and several may be joined into one table. What a step may say is in `outcome.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec

from saywhy.chart.model import Node
from saywhy.chart.outcome import Answer, Fail, Outcome
from saywhy.chart.scope import Scope
from saywhy.errors import ChartError

Enter = Callable[[Node, Scope], Outcome]
Resume = Callable[[Node, Scope, Answer], Outcome]
Failed = Callable[[Node, Scope, Exception], Outcome]


def _fail(node: Node, scope: Scope, error: Exception) -> Outcome:
    return Fail(error)


def _cannot_resume(node: Node, scope: Scope, answer: Answer) -> Outcome:
    raise ChartError(f"a step of kind {node.kind} was answered, but it never asks anything")


class Step(msgspec.Struct, frozen=True):
    """What nodes of one kind do.

    `enter` runs the node; `resume` takes the answer to a Need it gave; `failed` says what an
    exception in either leads to (a retry, another node, or `Fail`). A chart that the step awaits,
    or a branch of its fork, that fails is an exception in the step as well.
    """

    enter: Enter
    resume: Resume = _cannot_resume
    failed: Failed = _fail
    keeps_partial: bool = False
    """Whether the writes of a step that raised are kept."""


class Ending(msgspec.Struct, frozen=True):
    """How a frame ends: `completed`, `returned`, `replaced`, `failed`, `cancelled`, …"""

    how: str
    reason: str = ""
    error: Exception | None = None
    first: bool = False
    """Whether this frame's own step ended it (the others are unwound with it)."""


Close = Callable[[Scope, Ending], None]


class Language(msgspec.Struct, frozen=True):
    """A table from node kind to step, and from chart kind to what closing a frame writes."""

    steps: Mapping[str, Step]
    close: Mapping[str, Close] = msgspec.field(default_factory=dict[str, Close])
