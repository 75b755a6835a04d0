"""The flows that belong to agents: one takes the words that no other fits, one asks a person."""

from __future__ import annotations

from typing import Any, Final

from saywhy.chart.model import Chart
from saywhy.errors import Place
from saywhy.flows.compile import compile_flow
from saywhy.flows.phrases import OF_AGENTS
from saywhy.flows.read_flow import read_flow

FALLBACK, ASKING = OF_AGENTS
ANSWER: Final = "answer"
"""The variable of the second that holds what the user said."""


def fallback_chart(agent: str) -> Chart:
    """A flow of one step: the agent answers, knowing what was said before."""
    return _compiled(FALLBACK, [{"id": agent, "type": "AGENT", "agent": agent}])


def asking_chart() -> Chart:
    """The flow by which an agent asks the user something."""
    return _compiled(ASKING, [{"type": "SAY-GET", "variable": ANSWER, "value": "{{question}}"}])


def _compiled(name: str, steps: list[Any]) -> Chart:
    raw = {"name": name, "id": name, "interruptable": True, "steps": steps}
    return compile_flow(read_flow(raw, Place(), None, []))
