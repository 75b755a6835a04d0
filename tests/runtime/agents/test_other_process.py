"""Promise: a run that rests at a question goes on in any process, and nothing is done twice."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.runtime.agents.resumed_worker import cashier

WORKER = Path(__file__).parent / "resumed_worker.py"


def resumed(checkpoint: bytes, answer: str) -> tuple[dict[str, Any], str]:
    """What the other process tells, and what it did on the way."""
    done = subprocess.run(
        [sys.executable, str(WORKER), answer], input=checkpoint, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    return json.loads(done.stdout), done.stderr.decode()


async def test_two_questions_three_processes(capfd: pytest.CaptureFixture[str]) -> None:
    """The payment was made before the first pause, and is not made again by anybody."""
    agent = cashier()
    paused = await agent.run("pay 5")
    assert paused.pause_data == {"question": "Sure?", "tool_call_id": "h1"}
    assert capfd.readouterr().err == "paid 5\n"
    second, did = resumed(agent.checkpoint(), "yes")
    assert (second["paused"], second["question"], did) == (True, "Really?", "")
    third, did = resumed(second["checkpoint"].encode(), "really")
    assert (third["content"], did) == ("heard ['yes', 'paid', 'really']", "")
    assert paused.run_id == second["run_id"] == third["run_id"]
    assert (third["calls"], third["first"]) == (3, 1)
    agent.restore(third["checkpoint"])
    assert [one["content"] for one in agent.get_messages()] == [
        "pay 5",
        "",
        "yes",
        "paid",
        "",
        "really",
        "heard ['yes', 'paid', 'really']",
    ]
