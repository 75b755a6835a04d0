"""Where in a stack agents are: which frames are flows, and for which of them an agent waits."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from saywhy.chart.cursor import Frame
from saywhy.chart.model import Charts
from saywhy.chart.scope import Scope
from saywhy.chart.stages import KIND as PYTHON

KIND: Final = "carried"
"""Kind of the charts that carry something out for an agent."""

AGENTS: Final = frozenset({PYTHON, KIND})
"""Kinds of charts that are no flows."""


def is_agents(charts: Charts, frame: Frame) -> bool:
    """Whether a frame belongs to an agent, or carries something out for one."""
    chart = charts.version(frame.chart)
    return chart is not None and chart.kind in AGENTS


def flows_among(charts: Charts, frames: Iterable[Frame]) -> list[Frame]:
    """The frames that are no agent's."""
    return [frame for frame in frames if not is_agents(charts, frame)]


def carrier_of(scope: Scope) -> int:
    """Id of the frame for which the running flow is carried out; 0 where it is for none."""
    for frame in reversed(scope.cursor.frames):
        chart = scope.charts.version(frame.chart)
        if chart is not None and chart.kind == KIND:
            return frame.id
    return 0
