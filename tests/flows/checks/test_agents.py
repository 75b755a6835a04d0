"""What is wrong with AGENT steps is found before anything runs."""

from __future__ import annotations

from typing import Any

import pytest

from saywhy.errors import Problem
from saywhy.flows.check import check_library
from saywhy.flows.load import load_definitions
from tests.flows.agents.conftest import agent_of, ask_agent
from tests.flows.conftest import engine_of, flow


def problems(*agents: str, **step: Any) -> list[Problem]:
    """What is found in a flow with one AGENT."""
    engine = engine_of(
        flow({"type": "AGENT", **step}, version="1.0"),
        agents=[agent_of("x", name=name) for name in agents],
    )
    return [one for one in engine.problems if one.place.pointer.startswith("/0/steps/0")]


def test_a_sound_step() -> None:
    """All keys that it takes."""
    keys = {
        "value": "x {{sessionId}}",
        "value_de": "y",
        "variable": "v",
        "say": True,
        "history": "none",
    }
    assert problems("desk", agent="desk", **keys, maxRetries=2) == []


@pytest.mark.parametrize(
    ("keys", "message", "hint"),
    [
        ({}, "AGENT has no `agent`", 'name it as the engine does: "agent": "support"'),
        ({"agent": 5}, "AGENT has no `agent`", 'name it as the engine does: "agent": "support"'),
        ({"agent": "dask"}, 'no agent has the name "dask"', 'did you mean "desk"?'),
        (
            {"agent": "desk", "value": 5},
            "`value` must be a text, this is the number 5",
            "write what the agent is told, or leave it out: then it gets the user's words",
        ),
        (
            {"agent": "desk", "value_de": []},
            "`value_de` must be a text, this is a list",
            "write what the agent is told, or leave it out: then it gets the user's words",
        ),
        (
            {"agent": "desk", "say": "yes"},
            "`say` must be true or false, this is a text",
            "write true or false without quotes",
        ),
        (
            {"agent": "desk", "history": "all"},
            'unknown history "all"',
            "use conversation or none",
        ),
        (
            {"agent": "desk", "say": False},
            "the agent's answer is neither said nor kept",
            'name a variable for it: "variable": "answer"',
        ),
    ],
)
def test_what_is_wrong(keys: dict[str, Any], message: str, hint: str) -> None:
    """Each problem says what to write instead."""
    problem = problems("desk", **keys)[-1]
    assert (problem.message, problem.hint) == (message, hint)


def test_an_engine_without_agents() -> None:
    """Then no name is known."""
    (problem,) = problems(agent="desk")
    assert problem.message == 'no agent has the name "desk"'
    assert problem.hint == "hand it to the engine: Engine(agents=[…])"


def test_flows_alone() -> None:
    """Where only files are looked at, any name may be that of an agent of the host."""
    library = load_definitions([flow(ask_agent("anyone"), version="1.0")])
    assert [one.message for one in check_library(library) if "agent" in one.message] == []


def test_an_unknown_key() -> None:
    """A key that is nearly one of the step's is taken for a slip."""
    (problem,) = problems("desk", agent="desk", histroy="none")
    assert problem.hint == 'did you mean "history"?'
