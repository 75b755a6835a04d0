"""Who answers the needs of a chart that brings its answerers along.

A pausable stage may be declared with `answers`: the function that answers what it asks, unless the
host names somebody for that kind of need. It stands beside the stage's own functions, so it comes
along wherever the chart is mounted, and two agents in one run each ask their own model.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import msgspec

from saywhy.chart.cursor import Cursor, Frame
from saywhy.chart.drive import Answerer, Emit
from saywhy.chart.model import Charts
from saywhy.chart.outcome import Answer, Need
from saywhy.chart.stages import KIND, Stages
from saywhy.clock import Clock


@dataclass(frozen=True, slots=True)
class Running:
    """The run that something is asked in, for whoever answers."""

    cursor: Cursor
    """It rests at the need, so the state that was asked from is there to be read."""
    charts: Charts
    env: Mapping[str, Any]
    clock: Clock
    watched: bool = False
    """Whether what is being answered is cancelled with the run; else an answerer that wants to heed
    `env["signal"]` has to."""
    kept: dict[Any, Any] = field(default_factory=dict[Any, Any])
    """What answerers want to find again later in the same run: open connections, counters."""


class Asking(msgspec.Struct, frozen=True, eq=False):
    """What is asked, and the frame that asks."""

    need: Need
    frame: Frame
    running: Running
    emit: Emit


Answers = Callable[[Asking], Awaitable[Answer]]
"""Answers a need of the stage that it was declared with."""


def brought_answerer(running: Running, stages: Stages, need: Need) -> Answerer | None:
    """Who answers `need` by the word of the stage that asks it; None when it brought nobody.

    A stage that asks tools may ask a person in between: of another kind than it declared, a need
    is for the host.
    """
    frame = _asker(running.cursor, need)
    chart = None if frame is None else running.charts.version(frame.chart)
    if frame is None or chart is None or chart.kind != KIND or frame.at is None:
        return None
    node = chart.node(frame.at)
    if need.kind != node.spec.get("ask", "user"):
        return None
    answers = stages.plan(chart, node).others.get("answers")
    return None if answers is None else partial(_answer, answers, running, frame)


def _asker(cursor: Cursor, need: Need) -> Frame | None:
    """The frame that rests at this very need: the top one, or one of a branch."""
    frames = cursor.frames
    if frames and frames[-1].waiting is need:
        return frames[-1]
    return next((frame for frame in cursor.walk() if frame.waiting is need), None)


def _answer(
    answers: Answers, running: Running, frame: Frame, need: Need, emit: Emit
) -> Awaitable[Answer]:
    return answers(Asking(need, frame, running, emit))
