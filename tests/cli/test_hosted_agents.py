"""`--agents`: flows in a terminal may call agents, and be run by them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from .conftest import Run, write

PLAIN = "--no-guidance"
AGENTS = """
from saywhy import Agent, ScriptedModel, define_tool, flow_tool

def pay(arguments):
    return "paid"

model = ScriptedModel([
    {"for": "chat", "tool_calls": [{"name": "inner", "arguments": {}}]},
    {"for": "chat", "reply": "All done."},
])
desk = Agent(model, name="desk", tools=[flow_tool("inner")])
PAYING = [{"for": "chat", "tool_calls": [{"name": "pay", "arguments": {}}]}]
TOLD = [{"for": "chat", "reply": "It is paid."}]
bank = Agent(
    ScriptedModel(PAYING), name="desk", tools=[define_tool("pay", "Pays", {}, pay, approval=True)]
)
later = Agent(
    ScriptedModel(TOLD), name="desk", tools=[define_tool("pay", "Pays", {}, pay, approval=True)]
)
nothing = 5

def made(model):
    return Agent(model, name="desk", tools=[flow_tool("inner")])

def broken(model, desk):
    return desk
"""


def flows(path: Path) -> str:
    common: dict[str, Any] = {"version": "1.0", "interruptable": True}
    main = {
        **common,
        "id": "main",
        "name": "Main",
        "primary": True,
        "prompt": "main",
        "description": "Calls an agent",
        "steps": [
            {"id": "desk", "type": "AGENT", "agent": "desk"},
            {"id": "more", "type": "SAY-GET", "variable": "more", "value": "More?"},
        ],
    }
    inner = {
        **common,
        "id": "inner",
        "name": "Inner",
        "description": "Asks",
        "steps": [{"id": "x", "type": "SAY-GET", "variable": "x", "value": "X?"}],
    }
    return write(path / "main.flows.json", json.dumps([main, inner]))


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "agents.py", AGENTS)
    return flows(tmp_path)


def test_chat(run: Run, files: str) -> None:
    """A flow calls the agent, the agent a flow, and the flow asks whoever types."""
    done = run("chat", files, PLAIN, "--agents", "agents.py:desk", stdin="Main\n7\n")
    assert (done.code, done.out) == (0, "X?\nAll done.\n\nMore?\n")


def test_it_goes_on(run: Run, files: str) -> None:
    """The newest conversation is taken up at the question of a flow that an agent has run."""
    run("chat", files, PLAIN, "--agents", "agents.py:desk", stdin="Main\n")
    done = run("chat", files, PLAIN, "--agents", "agents.py:desk", stdin="7\n")
    assert "goes on; the last reply was:\nX?" in done.err


def test_a_fallback(run: Run, files: str) -> None:
    """Words that no flow fits are the agent's."""
    options = ["--agents", "agents.py:later", "--fallback-agent", "desk"]
    done = run("chat", files, PLAIN, *options, stdin="hello\n")
    assert (done.code, done.out) == (0, "It is paid.\n")
    wrong = run("chat", files, PLAIN, *options[:3], "dask", stdin="hello\n")
    assert wrong.code == 2
    assert 'fallback_agent: there is no agent "dask"' in wrong.err


def test_an_approval(run: Run, files: str) -> None:
    """What an agent waits for is approved with the agent at hand."""
    first = run(
        "chat", files, PLAIN, "--agents", "agents.py:bank", "--session", "s", stdin="Main\n"
    )
    assert first.out == "pay has to be approved first. I am waiting for that.\n"
    (call,) = json.loads(run("approvals", "list", "--json").out)
    named = [call["sessionId"], call["id"], files, "--agents", "agents.py:later"]
    done = run("approvals", "approve", *named, "--digest", call["digest"], "--by", "boss")
    assert done.code == 0
    assert "It is paid." in done.out


def test_check(run: Run, files: str) -> None:
    """Names of agents are checked where the agents are handed over."""
    assert run("check", files).code == 0
    assert run("check", files, "--agents", "agents.py:desk").code == 0
    wrong = run("check", files, "--agents", "agents.py:nothing")
    assert wrong.code == 2
    assert "--agents agents.py:nothing: agents holds 5, which is no agent" in wrong.err


def test_check_an_unknown_agent(run: Run, files: str, tmp_path: Path) -> None:
    """A name that none of them has is an error."""
    text = Path(files).read_text(encoding="utf-8").replace('"agent": "desk"', '"agent": "dask"')
    write(tmp_path / "other.flows.json", text)
    done = run("check", "other.flows.json", "--agents", "agents.py:desk")
    assert done.code == 1
    assert 'no agent has the name "dask"' in done.out
    assert 'did you mean "desk"?' in done.out


def test_what_is_no_place_of_agents(run: Run, files: str) -> None:
    """The option says how it is written."""
    done = run("chat", files, "--agents", "agents.py")
    assert done.code == 2
    assert "--agents agents.py names no agent" in done.err
    assert "--agents takes FILE.py:NAME or MODULE:NAME" in done.err


def test_a_function_that_makes_agents(run: Run, files: str, tmp_path: Path) -> None:
    """A function is called with the model that is named; to check its flows no model is needed."""
    script = [
        {"for": "chat", "tool_calls": [{"name": "inner", "arguments": {}}]},
        {"for": "chat", "reply": "Made and done."},
    ]
    write(tmp_path / "said.json", json.dumps(script))
    options = ["--agents", "agents.py:made", "--model", "scripted:said.json"]
    done = run("chat", files, PLAIN, *options, stdin="Main\n7\n")
    assert (done.code, done.out) == (0, "X?\nMade and done.\n\nMore?\n")
    assert run("check", files, "--agents", "agents.py:made").code == 0
    without = run("chat", files, PLAIN, "--agents", "agents.py:made", stdin="Main\n")
    assert without.code == 2
    assert "agents.py:made needs a model" in without.err
    more = run("check", files, "--agents", "agents.py:broken")
    assert more.code == 2
    assert "agents.py:broken needs model, desk" in more.err
    assert "only `model` may be without one" in more.err
