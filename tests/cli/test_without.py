"""`saywhy why --without`: what is missing to answer is named, with what to hand over."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

RETURNS = Path(__file__).parents[2] / "examples" / "returns"
AGENTS = ("--agents", "returns/desk.py:agents")
MODEL = ("--model", "scripted:returns/model.json")


def saywhy(folder: Path, *arguments: str, given: str = "") -> tuple[int, str]:
    done = subprocess.run(
        [str(Path(sys.executable).with_name("saywhy")), *arguments],
        cwd=folder,
        input=given,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


@pytest.fixture
def talked(tmp_path: Path) -> Path:
    """A folder with a conversation in which an instruction made the reply."""
    shutil.copytree(RETURNS, tmp_path / "returns")
    flows = tmp_path / "returns" / "returns.flows.json"
    flows.write_text(flows.read_text("utf-8").replace("order.delivered", "order.ordered"), "utf-8")
    files = ("returns/returns.flows.json", "returns/returns.tools.json")
    functions = ("--functions", "returns.functions:FUNCTIONS")
    code, told = saywhy(
        tmp_path,
        *("chat", *files, *functions, *AGENTS, *MODEL, "--session", "ann", "--no-guidance"),
        given="Return\n17\n",
    )
    assert code == 0
    assert "I am sorry, it cannot go back: the 14 days are over." in told
    return tmp_path


def test_the_reply_without_an_instruction(talked: Path) -> None:
    """With the agents and a model at hand, both replies are shown."""
    code, told = saywhy(talked, "why", "--without", "instruction:too-late", *AGENTS, *MODEL)
    assert code == 0
    assert told.splitlines()[0] == "without instruction:too-late, turn 2: another reply"
    assert "Let me ask a colleague" in told
    assert told.splitlines()[-1] == "  the model was asked once"


def test_agents_that_are_missing(talked: Path) -> None:
    """An instruction stands in no store, so who forgot the agents is told to hand them over."""
    code, told = saywhy(talked, "why", "--without", "instruction:too-late")
    assert code == 2
    assert 'no agent has instruction "too-late"' in told
    assert "a store does not keep agents: hand them over with --agents FILE.py:NAME" in told


def test_as_data(talked: Path) -> None:
    """`--json` gives the same for programs."""
    args = ("why", "--without", "tool_result:7", *AGENTS, *MODEL, "--json")
    code, told = saywhy(talked, *args)
    data = json.loads(told)
    assert code == 0
    assert data["without"] == "tool_result:7"


def test_nothing_is_claimed_of_what_was_not_run(talked: Path) -> None:
    """Where the turn could not be run again nobody says that a piece played no part in it."""
    code, told = saywhy(talked, "why", "--without", "tool_result:7")
    assert code == 0
    first, reply, gap = [line for line in told.splitlines() if "--agents" not in line][-3:]
    assert "the agents are handed over with --agents FILE.py:NAME" in told.splitlines()
    assert first == "without tool_result:7, turn 2: whether the reply changes cannot be told"
    assert "the 14 days are over" in reply
    assert gap.endswith(
        "of desk is needed and is not here: a store keeps flows, agents are handed over"
    )


def test_flows_that_are_not_there(talked: Path) -> None:
    """A file that cannot be read is no empty set of flows on which everything differs."""
    code, told = saywhy(talked, "replay", "ann", "--flows", "nowhere.json", *AGENTS)
    assert code == 2
    assert "nowhere.json: error: cannot read this file: no such file or directory" in told


def test_a_tool_that_was_called_once(talked: Path) -> None:
    """Of a tool that was called it is not said that it was not."""
    code, told = saywhy(talked, "why", "--missing", "days_left")
    assert code == 0
    assert "days_left was not called again" in told.splitlines()
    code, told = saywhy(talked, "why-not", "tool:cancel")
    assert code == 2
    assert 'this record knows no tool "cancel"' in told
    assert "known are find-order, days_left" in told


def test_what_depended_on_words(talked: Path) -> None:
    """From a message it goes through the answers of tools to the reply of the agent."""
    code, told = saywhy(talked, "what-changed", "--session", "ann")
    assert code == 0
    lines = [line.strip() for line in told.splitlines()]
    assert 'delivered = 18, by SET "days" of Return' in lines
    assert 'tool days_left gave {"left": -4}' in lines
    assert lines[-1] == 'the reply said "I am sorry, it cannot go back: the 14 days are over."'
    assert not [line for line in lines if "runId" in line or "loopCount" in line]
