"""Promise: a loop's model and tools answer what it asks, as far as the run's signal lets them."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from saywhy.cancel import CancelToken
from saywhy.chart.built import RunCancelled
from saywhy.chart.failure import StepFailed
from saywhy.models.provider import ModelReply
from tests.agent.loop.conftest import Form, Model, answers, config, tool


class Slow:
    """Answers after a moment, and notes what became of it."""

    def __init__(self) -> None:
        self.log: list[str] = []

    async def ask(self, ask: Any) -> ModelReply:
        self.log.append("asked")
        try:
            await asyncio.sleep(0.03)
        except asyncio.CancelledError:
            self.log.append("cancelled")
            raise
        self.log.append("answered")
        return ModelReply("late")


def soon(token: CancelToken) -> None:
    asyncio.get_running_loop().call_later(0.01, token.cancel, "enough")


@pytest.mark.parametrize("way", ["signal", "env"])
async def test_a_signal_reaches_the_call_in_flight(form: Form, way: str) -> None:
    """The run ends as cancelled, its receipt is kept, and nothing goes on."""
    model, token = Slow(), CancelToken()
    soon(token)
    given: Any = {"signal": token} if way == "signal" else {"env": {"signal": token}}
    with pytest.raises(RunCancelled, match="enough") as caught:
        await form.run(config(model, get_run_id=lambda: "r"), **given)
    result = caught.value.result
    assert model.log == ["asked", "cancelled"]
    assert asyncio.all_tasks() == {asyncio.current_task()}
    assert len(result.state["receipts"]) == 1
    assert result.commits[-1].facts == {"how": "cancelled", "reason": "enough"}
    assert [one["role"] for one in result.state["messages"]] == ["user"]


async def test_a_signal_may_stop_the_traversal_alone(form: Form) -> None:
    """The call that is on its way is waited for; what comes after it is not begun."""
    model, token = Slow(), CancelToken()
    soon(token)
    with pytest.raises(RunCancelled, match="enough"):
        await form.run(config(model), signal=token, propagate_signal=False)
    assert model.log == ["asked", "answered"]


async def test_a_signal_in_env_may_cancel_the_call_of_the_model_alone(form: Form) -> None:
    """Beside another one for the traversal: the call fails as aborted, and so does the run."""
    model, token = Slow(), CancelToken()
    soon(token)
    with pytest.raises(StepFailed, match=r"LLM call failed: \[aborted\] enough"):
        await form.run(
            config(model), signal=CancelToken(), propagate_signal=False, env={"signal": token}
        )
    assert model.log == ["asked", "cancelled"]


async def test_a_tool_that_hangs_is_given_up(form: Form) -> None:
    """After its time limit the model is told; the run goes on."""

    async def hang(args: Any) -> None:
        await asyncio.Event().wait()

    model = Model([("1", "hang", {})], "sorry")
    result = await form.run(config(model, tool("hang", hang, timeout_ms=10)))
    assert "timeout after 10ms" in answers(model.handed())["1"]
    assert result.value == "sorry"


async def test_a_model_that_takes_too_long_is_given_up(form: Form) -> None:
    """Where the loop sets a limit."""
    with pytest.raises(StepFailed, match=r"\[timeout\] the model gave no answer within 5 ms"):
        await form.run(config(Slow(), model_timeout_ms=5))


async def test_what_is_asked_is_known_by_its_key(form: Form) -> None:
    """A handler learns the run's id and a key of its own for each call."""
    seen: list[Any] = []

    def work(args: Any, context: Any) -> None:
        seen.append((context.session_id, context.tool, context.key))

    model = Model([("1", "work", {}), ("2", "work", {})], "done")
    await form.run(config(model, tool("work", work)), args={"runId": "run-7"})
    assert [one[:2] for one in seen] == [("run-7", "work")] * 2
    assert len({key for _, _, key in seen}) == 2
