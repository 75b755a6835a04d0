"""Promise: what a round writes down does not grow with the conversation."""

from __future__ import annotations

from typing import Any

import pytest

from saywhy.agent.loop.config import AgentPattern
from saywhy.chart.built import Result
from saywhy.values import dumps
from tests.agent.loop.conftest import Form, Model, config, tool

ROUNDS = 40


def sizes(result: Result) -> list[int]:
    """Bytes of the record of each round, from one question to the model to the next."""
    found: list[int] = []
    for commit in result.commits:
        asked = commit.asked
        if asked is not None and asked.kind == "model":
            found.append(0)
        if found:
            found[-1] += len(dumps(commit))
    return found


@pytest.mark.parametrize("pattern", list(AgentPattern))
async def test_a_late_round_writes_no_more_than_an_early_one(
    form: Form, pattern: AgentPattern
) -> None:
    """Receipts and the records of the slots included: each holds what is new."""
    script: list[Any] = [[(f"call-{n:03}", "work", {"n": n + 100})] for n in range(ROUNDS)]
    fields: dict[str, Any] = {"max_iterations": ROUNDS, "get_run_id": lambda: "run-1"}
    result = await form.run(config(Model(*script, "done"), tool("work"), pattern=pattern, **fields))
    rounds = sizes(result)[1:-1]
    assert len(rounds) == ROUNDS - 1
    assert max(rounds[-10:]) < 1.1 * max(rounds[:10])


async def test_a_checkpoint_holds_the_conversation_twice(form: Form) -> None:
    """Beside what the run was given: the conversation, and how it was handed over."""
    text = "x" * 5_000
    history = [{"role": "user", "content": f"{n} {text}"} for n in range(10)]
    built = form.build(config(None))
    paused = await built.run({"message": "go", "history": history})
    payload = len(dumps(history))
    assert len(paused.checkpoint()) < 3.2 * payload
