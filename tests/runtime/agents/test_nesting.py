"""Promise: runners nest in any way and to any depth; each nest runs, rests and stops as one run.

Nests are drawn at random out of all kinds of runners. Every one of them gives its answer, goes
through JSON at a question, and can be cancelled at each of the places where it waits, with no task
and no open stream left behind and every frame closed in the record.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from saywhy.agent.receipts.served import served_all
from saywhy.agent.tools import ask_human
from saywhy.cancel import CancelToken
from saywhy.chart.built import RunCancelled
from saywhy.models.provider import Ask, ModelReply
from saywhy.runtime.agents.agent import Agent
from saywhy.runtime.agents.agent_tool import agent_as_tool
from saywhy.runtime.agents.conditional import Conditional
from saywhy.runtime.agents.llm_call import LLMCall
from saywhy.runtime.agents.parallel import Parallel
from saywhy.runtime.agents.repeat import Loop
from saywhy.runtime.agents.sequence import Sequence
from saywhy.runtime.agents.swarm import Specialist, Swarm
from saywhy.runtime.agents.team import Team
from saywhy.runtime.agents.wrappers import with_retry
from saywhy.runtime.agents.wrapping import with_circuit_breaker, with_fallback
from tests.runtime.agents.models import GatedStream, Gates, Replies, call, calls, says

QUICK = settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)


class Echo:
    """A model that calls the one tool it is offered, and then repeats what it heard last."""

    async def ask(self, ask: Ask) -> ModelReply:
        await asyncio.sleep(0)
        last = ask.messages[-1]
        if ask.tools and last["role"] == "user":
            name = ask.tools[0]["name"]
            return calls(call(name, "1", message=str(last["content"]), question="Sure?"))
        return says(f"{last['content']}.")


Nest = Callable[[Callable[[], Any]], Any]
"""Puts something around what makes a runner. Inner ones are made anew for each place."""

AROUND: dict[str, Nest] = {
    "sequence": lambda make: Sequence(make(), lambda message: message),
    "parallel": lambda make: Parallel(
        [("one", make()), ("two", make())], merge=lambda found: found[0].content
    ),
    "conditional": lambda make: Conditional(
        [("yes", lambda context: True, make()), ("no", None, make())]
    ),
    "loop": lambda make: Loop(make(), max_rounds=1),
    "swarm": lambda make: Swarm(Echo(), [Specialist("helper", make())]),
    "tool": lambda make: Agent(Echo(), tools=[agent_as_tool(make(), description="Helps.")]),
    "retry": lambda make: with_retry(make()),
    "fallback": lambda make: with_fallback(make(), make()),
    "breaker": lambda make: with_circuit_breaker(make()),
}

NESTS = st.lists(st.sampled_from(sorted(AROUND)), max_size=5)


def nested(kinds: list[str], leaf: Callable[[], Any]) -> Any:
    """The runner that `kinds` describe, outermost first."""
    make = leaf
    for kind in reversed(kinds):
        make = _around(kind, make)
    return make()


def _around(kind: str, make: Callable[[], Any]) -> Callable[[], Any]:
    return lambda: AROUND[kind](make)


def width(kinds: list[str]) -> int:
    return 2 ** kinds.count("parallel")


@QUICK
@given(NESTS)
def test_every_nest_answers(kinds: list[str]) -> None:
    """With a record in which every model call has its receipt."""

    async def main() -> None:
        runner = nested(kinds, lambda: LLMCall(Echo()))
        result = await runner.run("hi")
        dots = 1 + sum(kind in ("swarm", "tool") for kind in kinds)
        assert result.content == "hi" + "." * dots
        verdicts = [one.verdict for one in served_all(runner.get_snapshot())]
        assert verdicts == ["verified"] * result.usage.calls
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(main())


@QUICK
@given(NESTS)
def test_every_nest_rests_and_goes_on(kinds: list[str]) -> None:
    """At each question, through JSON, with runners that are made anew."""

    def made() -> Any:
        return nested(kinds, lambda: Agent(Echo(), tools=[ask_human()]))

    async def main() -> None:
        runner = made()
        result = await runner.run("hi")
        asked = 0
        while result.paused:
            asked += 1
            assert result.pause_data["question"] == "Sure?"
            checkpoint = runner.checkpoint()
            runner = made()
            runner.restore(checkpoint)
            result = await runner.resume("yes")
        assert asked == width(kinds)
        dots = 1 + sum(kind in ("swarm", "tool") for kind in kinds)
        assert result.content == "yes" + "." * dots

    asyncio.run(main())


@QUICK
@given(NESTS, st.integers(1, 40))
def test_every_nest_stops_at_any_await(kinds: list[str], at: int) -> None:
    """No task is left, no stream is open, and every frame is closed in the record."""

    async def main() -> None:
        signal = CancelToken()
        gates = Gates(at, lambda: signal.cancel("enough"))
        streams: list[GatedStream] = []

        def leaf() -> Agent:
            streams.append(GatedStream(gates, says("one two three")))
            return Agent(streams[-1], streaming=True)

        runner = nested(kinds, leaf)
        try:
            await runner.run("hi", signal=signal)
            assert gates.passed < at
        except RunCancelled as cancelled:
            assert cancelled.reason == "enough"
            closed = {one.frame for one in runner.trace if one.phase == "closed"}
            assert {one.frame for one in runner.trace} == closed
        assert [one.open for one in streams] == [0] * len(streams)
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(main())


async def test_forty_deep() -> None:
    """As deep as the machine goes, and beyond that with an error that says so."""
    runner: Any = LLMCall(Replies("fine"))
    for _ in range(40):
        runner = Sequence(runner)
    assert (await runner.run("hi")).content == "fine"
    for _ in range(10):
        runner = Sequence(runner)
    with pytest.raises(Exception, match="Maximum recursion depth reached: 50 frames"):
        await runner.run("hi")


async def test_a_team_within() -> None:
    """One that is handed over to inside a branch answers there."""
    team = Team(
        [
            Specialist("a", Agent(Replies(calls(call("transfer_to_b", "1"))))),
            Specialist("b", Agent(Replies("b here"))),
        ]
    )
    both = Parallel({"team": team, "echo": LLMCall(Echo())}, merge=lambda found: found[0].content)
    assert (await with_retry(Sequence(both)).run("hi")).content == "b here"
