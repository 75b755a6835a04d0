"""Agents of scenarios: what is wrong with one is told with its place, before anything is played."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from saywhy.errors import DefinitionError
from saywhy.testing.scenario import load_scenarios, run_scenario

MAIN = {"id": "m", "name": "M", "steps": [{"id": "a", "type": "AGENT", "agent": "desk"}]}


def scenario(folder: Path, *agents: Any, **keys: Any) -> Path:
    path = folder / "one.json"
    told = {
        "flows": [MAIN],
        "agents": list(agents),
        "turns": [{"role": "user", "content": "M", "expect": {"response": "Hi."}}],
        **keys,
    }
    path.write_text(json.dumps(told), encoding="utf-8")
    return path


async def test_it_is_played(tmp_path: Path) -> None:
    """The agent's model answers from its script, with tools whose functions are the scenario's."""
    look = {
        "id": "look",
        "name": "look",
        "description": "Looks",
        "implementation": {"type": "local", "function": "look"},
    }
    desk = {
        "name": "desk",
        "tools": [look],
        "script": [{"tool_calls": [{"name": "look", "arguments": {}}]}, {"reply": "Hi."}],
    }
    functions = {"look": {"kind": "constant", "value": "seen"}}
    (one,) = load_scenarios(scenario(tmp_path, desk, functions=functions))
    result = await run_scenario(one)
    assert result.passed, [failure.render() for failure in result.failures]


async def test_a_script_that_is_too_short(tmp_path: Path) -> None:
    """A scenario whose agent is asked more than is written fails."""
    (one,) = load_scenarios(scenario(tmp_path, {"name": "desk", "script": []}))
    assert not (await run_scenario(one)).passed


@pytest.mark.parametrize(
    ("agent", "message"),
    [
        ("desk", "an agent is an object"),
        ({"script": []}, "an agent needs a name"),
        ({"name": "d"}, "an agent needs a script: a list of what its model answers"),
        ({"name": "d", "script": [5]}, "of the model's script is an object"),
        ({"name": "d", "script": [], "system": 5}, "`system` of an agent must be text"),
        ({"name": "d", "script": [], "ask_human": 1}, "`ask_human` of an agent must be true or"),
        ({"name": "d", "script": [], "flows": [""]}, "flow_tool needs the id or name of a flow"),
        ({"name": "d", "script": [], "scrip": []}, "scrip"),
    ],
)
def test_what_is_wrong(tmp_path: Path, agent: Any, message: str) -> None:
    """Each problem says what it is, and where it stands."""
    with pytest.raises(DefinitionError) as refused:
        load_scenarios(scenario(tmp_path, agent))
    assert any(message in problem.message for problem in refused.value.problems)
    assert all("/agents/0" in problem.place.pointer for problem in refused.value.problems)
