"""Promise: what stands around a runner keeps its conversation, its stream and its questions."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from saywhy.agent.events import TurnEnd, TurnStart
from saywhy.agent.tools import ask_human
from saywhy.cancel import CancelToken
from saywhy.chart.built import RunCancelled
from saywhy.errors import CallerError, CircuitOpen, ModelError
from saywhy.runtime.agents.agent import Agent
from saywhy.runtime.agents.parallel import Parallel, ParallelResult
from saywhy.runtime.agents.wrappers import with_retry
from saywhy.runtime.agents.wrapping import with_circuit_breaker, with_fallback
from saywhy.stores.chat_memory import LocalChatMemory
from saywhy.testing.clock import FakeClock
from tests.runtime.agents.models import Replies, call, calls


def down(text: str = "down") -> ModelError:
    return ModelError(text, code="server")


# ------------------------------------------------------------------ retry


async def test_the_conversation_goes_on() -> None:
    """What a failed attempt said is forgotten; what went well is remembered."""
    model = Replies("one", down(), "two")
    runner = with_retry(Agent(model, system="S"))
    await runner.run("a")
    result = await runner.run("b")
    assert [one["content"] for one in model.messages[2]] == ["a", "one", "b"]
    assert [one["content"] for one in result.messages] == ["S", "a", "one", "b", "two"]
    assert runner.name == "agent"


async def test_the_last_error_is_raised() -> None:
    """The very one, after one attempt and the retries."""
    errors = [down(str(number)) for number in range(3)]
    model = Replies(*errors)
    with pytest.raises(ModelError) as caught:
        await with_retry(Agent(model), 2).run("a")
    assert str(caught.value) == "LLM call failed: [server] 2"
    assert len(model.asked) == 3


async def test_should_retry_is_asked() -> None:
    """It is given what was raised."""
    seen: list[Exception] = []

    def should(error: Exception) -> bool:
        seen.append(error)
        return False

    with pytest.raises(ModelError):
        await with_retry(Agent(Replies(down(), "x")), should_retry=should).run("a")
    assert [type(one) for one in seen] == [ModelError]


async def test_waits_grow() -> None:
    """By the multiplier, and on the runner's clock."""
    clock = FakeClock()
    began = clock.now()
    runner = with_retry(
        Agent(Replies(down(), down(), down(), "ok")),
        backoff_ms=100,
        backoff_multiplier=3,
        clock=clock,
    )
    assert (await runner.run("a")).content == "ok"
    assert clock.now() - began == pytest.approx(100 + 300 + 900)


async def test_the_wait_obeys_the_signal() -> None:
    """Cancelling the run ends it at once."""
    signal = CancelToken()
    runner = with_retry(Agent(Replies(down(), "ok")), backoff_ms=3_600_000)
    running = asyncio.ensure_future(runner.run("a", signal=signal))
    await asyncio.sleep(0.05)
    signal.cancel("enough")
    with pytest.raises(RunCancelled, match="enough"):
        await running
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_a_mistake_is_not_tried_again() -> None:
    """What the program around does wrong stays wrong."""
    attempts: list[str] = []

    def wrong(message: str) -> str:
        attempts.append(message)
        raise CallerError("wrong")

    with pytest.raises(CallerError, match="wrong"):
        await with_retry(wrong).run("a")
    assert attempts == ["a"]


async def test_questions_pass_through() -> None:
    """To a person and back, in another process as well."""
    asks = calls(call("ask_human", "q", question="Sure?"))
    runner = with_retry(Agent(Replies(asks), tools=[ask_human()]))
    result = await runner.run("a")
    assert result.paused
    assert result.messages[-1]["content"] == '[Waiting for human response to: "Sure?"]'
    model = Replies(down(), "done")
    again = with_retry(Agent(model, tools=[ask_human()]))
    again.restore(runner.checkpoint())
    assert (await again.resume("yes")).content == "done"
    assert model.messages[0][-1]["content"] == "yes"
    assert model.messages[1] == [{"role": "user", "content": "a"}]  # that attempt began anew


async def test_it_streams() -> None:
    """Events of the runner inside, and its result in the end."""
    runner = with_retry(Agent(Replies("fine")))
    told = [one async for one in runner.stream("a")]
    kinds = [type(one) for one in told if isinstance(one, TurnStart | TurnEnd)]
    assert kinds == [TurnStart, TurnEnd]
    assert told[-1].content == "fine"  # type: ignore[union-attr]


async def test_the_result_is_of_the_kind_of_the_inner_one() -> None:
    """With all that it says."""
    both = Parallel([lambda message: "a", lambda message: "b"], merge=lambda found: "ab")
    result = await with_retry(with_retry(both)).run("x")
    assert isinstance(result, ParallelResult)
    assert [one.content for one in result.branches] == ["a", "b"]


async def test_a_memory_inside_keeps_its_conversation() -> None:
    """Under the id that it was given."""
    store = LocalChatMemory()
    agent = Agent.create(Replies("one")).memory(store, "c-1").build()
    await with_retry(agent).run("a")
    assert [one["content"] for one in store.load("c-1") or ()] == ["a", "one"]


# ------------------------------------------------------------------ fallback


async def test_the_other_one_answers() -> None:
    """On the same message, in the same conversation and record."""
    spare = Replies("spare", "again")
    runner = with_fallback(Agent(Replies(down(), down())), Agent(spare))
    assert (await runner.run("a")).content == "spare"
    assert (await runner.run("b")).content == "again"
    assert [one["content"] for one in spare.messages[1]] == ["a", "spare", "b"]
    caught = [one.facts["caught"] for one in runner.trace if "caught" in one.facts]
    assert caught == [{"error": "LLM call failed: [server] down", "name": "Error"}]


async def test_it_is_only_asked_where_it_should() -> None:
    """Else the first one's error is raised, the very one."""
    spare = Replies("spare")
    runner = with_fallback(
        Agent(Replies(down())), Agent(spare), should_fallback=lambda error: "quota" in str(error)
    )
    with pytest.raises(ModelError, match="down"):
        await runner.run("a")
    assert not spare.asked


async def test_both_may_fail() -> None:
    """Then the error of the last one is raised."""
    with pytest.raises(ModelError, match="second"):
        await with_fallback(Agent(Replies(down("first"))), Agent(Replies(down("second")))).run("a")


# ------------------------------------------------------------------ circuit breaker


async def test_it_opens_and_closes() -> None:
    """After the delay one success closes it, and a failure opens it for as long again."""
    clock = FakeClock()
    model = Replies(down(), down(), down(), "ok", "ok")
    runner = with_circuit_breaker(Agent(model), 2, 1000, clock=clock)
    for _ in range(2):
        with pytest.raises(ModelError, match="down"):
            await runner.run("a")
    assert runner.state == "open"
    with pytest.raises(CircuitOpen) as caught:
        await runner.run("a")
    assert str(caught.value) == "Circuit breaker is open"
    await clock.sleep(1)
    assert runner.state == "half_open"
    with pytest.raises(ModelError, match="down"):
        await runner.run("a")
    assert runner.state == "open"
    await clock.sleep(1)
    assert (await runner.run("a")).content == "ok"
    assert runner.state == "closed"
    assert len(model.asked) == 4


async def test_errors_about_the_message_tell_nothing() -> None:
    """The runner works; it was asked nonsense."""
    wrong = [ModelError("bad", code="invalid_request") for _ in range(3)]
    runner = with_circuit_breaker(Agent(Replies(*wrong)), 1)
    for _ in range(3):
        with pytest.raises(ModelError, match="bad"):
            await runner.run("a")
    assert runner.state == "closed"


async def test_they_compose() -> None:
    """A spare one behind an open circuit behind retries."""
    clock = FakeClock()
    primary = Replies(*[down() for _ in range(4)])
    breaker = with_circuit_breaker(Agent(primary), 3, clock=clock)
    spare = Replies("spare", "spare")
    runner = with_fallback(with_retry(breaker, 5, clock=clock), Agent(spare), clock=clock)
    assert (await runner.run("a")).content == "spare"
    assert (await runner.run("b")).content == "spare"
    assert len(primary.asked) == 3
    assert breaker.state == "open"


# ------------------------------------------------------------------ misuse


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: with_retry(3), "with_retry: runner is int, which cannot be run"),
        (
            lambda: with_retry(Agent(Replies()), -1),
            "with_retry: max_retries is a whole number from 0, not -1",
        ),
        (
            lambda: with_retry(Agent(Replies()), should_retry="x"),  # type: ignore[arg-type]
            "with_retry: should_retry is a function, not str",
        ),
        (
            lambda: with_fallback(Agent(Replies()), 3),
            "with_fallback: fallback is int, which cannot be run",
        ),
        (
            lambda: with_fallback(Agent(Replies())),  # type: ignore[call-overload]
            "with_fallback: a runner needs another one",
        ),
        (
            lambda: with_circuit_breaker(Agent(Replies()), 0),
            "with_circuit_breaker: threshold is a whole number from 1, not 0",
        ),
    ],
)
def test_misuse_is_told(make: Any, text: str) -> None:
    """The wrapper and the argument are named."""
    with pytest.raises(CallerError) as caught:
        make()
    assert str(caught.value) == text


async def test_around_models_they_are_what_they_were() -> None:
    """A list of models is one model."""
    model = with_circuit_breaker(with_fallback([Replies(down()), Replies("spare")]))
    assert (await Agent(model).run("a")).content == "spare"
