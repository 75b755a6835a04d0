"""Promise: a run may be cancelled at any await; nothing is left behind but its record.

The same run is stopped at each of the places where it waits: in the model's stream, in a tool, in
the prompt provider, in the store. The places are counted by a run that nobody stops.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from saywhy.agent.instructions.follow_up import ResolvedFollowUp
from saywhy.agent.tools import ask_human, define_tool
from saywhy.cancel import CancelToken
from saywhy.chart.built import RunCancelled, RunTimedOut
from saywhy.models.provider import Ask, ModelReply
from saywhy.runtime.agents.agent import Agent
from saywhy.runtime.agents.result import AgentResult
from saywhy.testing.clock import FakeClock
from saywhy.trace.trace import Trace
from saywhy.values import FrozenDict
from tests.runtime.agents.models import GatedStream, Gates, Replies, call, calls, says


class GatedStore:
    """Keeps histories behind a gate; what a cancelled `save` was given is not kept."""

    def __init__(self, gates: Gates) -> None:
        self.gates = gates
        self.kept: dict[str, Any] = {}

    async def load(self, conversation_id: str) -> Any:
        await self.gates.pass_one()
        return self.kept.get(conversation_id)

    async def save(self, conversation_id: str, messages: Any) -> None:
        await self.gates.pass_one()
        self.kept[conversation_id] = messages


class Scene:
    """An agent each of whose parts waits at gates."""

    def __init__(self, gates: Gates, *, with_store: bool = False) -> None:
        self.gates = gates
        self.model = GatedStream(
            gates,
            calls(call("a", "1"), call("b", "2"), text="let me see"),
            says("all is well"),
        )
        self.store = GatedStore(gates)
        builder = (
            Agent.create(self.model)
            .prompt_provider(self.prompt)
            .tools([self.tool("a"), self.tool("b")])
            .streaming()
        )
        self.agent = (builder.memory(self.store, "c1") if with_store else builder).build()

    async def prompt(self, context: Any) -> str:
        await self.gates.pass_one()
        return "Be brief."

    def tool(self, id: str) -> Any:
        async def handler(arguments: Any) -> str:
            await self.gates.pass_one()
            return f"r{id}"

        return define_tool(id, "A tool.", {}, handler)


def steps(trace: Trace) -> list[tuple[str, str, str]]:
    """The steps that were made, but for the closing of frames."""
    return [(one.flow, one.node, one.phase) for one in trace if one.phase != "closed"]


def others() -> set[asyncio.Task[Any]]:
    """The tasks besides the test's own."""
    return asyncio.all_tasks() - {asyncio.current_task()}


async def undisturbed(with_store: bool) -> tuple[int, Trace]:
    """How many places a run waits at, and its whole record."""
    scene = Scene(Gates(), with_store=with_store)
    result = await scene.agent.run("go")
    assert result.content == "alliswell"
    return scene.gates.passed, scene.agent.trace


Stop = Callable[[Gates, Scene], Any]


async def by_signal(gates: Gates, scene: Scene) -> str:
    signal = CancelToken()
    gates.then = lambda: signal.cancel("the user hung up")
    with pytest.raises(RunCancelled) as caught:
        await scene.agent.run("go", signal=signal)
    assert caught.value.reason == "the user hung up"
    return "the user hung up"


async def by_task(gates: Gates, scene: Scene) -> str:
    task = asyncio.ensure_future(scene.agent.run("go"))
    gates.then = task.cancel
    with pytest.raises(asyncio.CancelledError):
        await task
    return "the task was cancelled"


async def by_leaving(gates: Gates, scene: Scene) -> str:
    left = asyncio.Event()
    gates.then = left.set
    pieces = scene.agent.stream("go")

    async def listen() -> None:
        async for _ in pieces:
            pass

    listening = asyncio.ensure_future(listen())
    await left.wait()
    listening.cancel()
    await asyncio.gather(listening, return_exceptions=True)
    await pieces.aclose()
    return "the task was cancelled"


@pytest.mark.parametrize("with_store", [False, True])
@pytest.mark.parametrize("stop", [by_signal, by_task, by_leaving])
async def test_cancelled_at_every_await(stop: Any, with_store: bool) -> None:
    """No task and no stream is left, the history is as before, the record goes up to there."""
    places, whole = await undisturbed(with_store)
    assert places >= 10
    for at in range(1, places + 1):
        gates = Gates(at)
        scene = Scene(gates, with_store=with_store)
        reason = await stop(gates, scene)
        where = f"at place {at} of {places}"
        beside = with_store and at == 1  # prompt and history are fetched side by side
        assert gates.passed == at + beside, where
        assert not others(), where
        assert scene.model.open == 0, where
        assert scene.agent.get_messages() == [], where
        assert scene.store.kept == {}, where
        made = steps(scene.agent.trace)
        assert made == steps(whole)[: len(made)], where
        assert made, where
        last = scene.agent.trace.commit(scene.agent.trace.last)
        assert last.phase == "closed", where
        assert reason in str(last.facts), where


async def test_after_a_cancelled_run_the_next_one_goes_well() -> None:
    """The conversation is free again at once."""
    gates = Gates(4)
    scene = Scene(gates)
    await by_signal(gates, scene)
    scene.model.left[:] = [says("back")]
    assert (await scene.agent.run("again")).content == "back"
    assert [one["content"] for one in scene.agent.get_messages()] == ["Be brief.", "again", "back"]


async def test_leaving_a_stream_cancels_the_run() -> None:
    """`break` is enough: nothing goes on behind the caller's back."""
    scene = Scene(Gates())
    async for event in scene.agent.stream("go"):
        if event.type == "token":  # type: ignore[union-attr]
            break
    for _ in range(20):
        await asyncio.sleep(0)
    assert not others()
    assert scene.model.open == 0
    assert scene.agent.get_messages() == []


async def test_a_stream_ends_with_the_result() -> None:
    """Events as they come, then what `run` would have given."""
    scene = Scene(Gates())
    pieces = [piece async for piece in scene.agent.stream("go")]
    assert isinstance(pieces[-1], AgentResult)
    kinds = [piece.type for piece in pieces[:-1]]  # type: ignore[union-attr]
    assert kinds == [
        "turn_start",
        "llm_start",
        "token",
        "token",
        "token",
        "llm_end",
        "tool_start",
        "tool_end",
        "tool_start",
        "tool_end",
        "llm_start",
        "token",
        "token",
        "token",
        "llm_end",
        "turn_end",
    ]


class Hangs:
    """Never answers; knows whether it was told to stop."""

    def __init__(self) -> None:
        self.stopped = False

    async def ask(self, ask: Ask) -> ModelReply:
        try:
            await asyncio.Event().wait()
        finally:
            self.stopped = True
        raise AssertionError("nobody sets it")


async def test_a_timeout_reaches_the_call_in_flight() -> None:
    """The model is told to stop, and the run says how long it was given."""
    model = Hangs()
    agent = Agent(model, clock=FakeClock())
    events: list[dict[str, Any]] = []
    with pytest.raises(RunTimedOut) as caught:
        await agent.run("hi", timeout=5, on_event=lambda event: events.append(event.to_value()))
    assert str(caught.value) == "the run took longer than 5 seconds and was cancelled"
    assert model.stopped
    assert not others()
    assert events[-1] == {
        "type": "error",
        "phase": "cancelled",
        "message": "the run took longer than 5 seconds and was cancelled",
    }


async def test_a_signal_that_is_cancelled_already() -> None:
    """Nobody is asked at all."""
    model = Replies("x")
    signal = CancelToken()
    signal.cancel("too late")
    agent = Agent(model)
    with pytest.raises(RunCancelled, match=r"^cancelled: too late$"):
        await agent.run("hi", signal=signal)
    assert model.asked == []
    assert agent.get_messages() == []


async def test_tools_are_handed_the_token() -> None:
    """A handler that asks for its context can look whether anybody still wants it."""
    seen: list[CancelToken] = []

    async def handler(arguments: Any, context: Any) -> str:
        seen.append(context.signal)
        signal.cancel("enough")
        await asyncio.sleep(60)
        return "never"

    signal = CancelToken()
    agent = Agent(Replies(calls(call("a"))), tools=[define_tool("a", "A.", {}, handler)])
    with pytest.raises(RunCancelled, match=r"^cancelled: enough$"):
        await agent.run("go", signal=signal)
    assert [token.reason for token in seen] == ["enough"]
    assert not others()


def asking(gates: Gates) -> tuple[Agent, GatedStream]:
    """An agent whose run rests at a question, and goes on at gates."""
    question = calls(call("ask_human", "h1", question="Sure?"))
    model = GatedStream(gates, question, says("all is well"))
    return Agent(model, tools=[ask_human()]), model


async def test_a_resume_cancelled_at_every_await_waits_as_before() -> None:
    """The question stays open, and answering it again goes well."""
    counted = Gates()
    agent, _ = asking(counted)
    await agent.run("go")
    first = counted.passed
    await agent.resume("yes")
    assert counted.passed > first
    for at in range(first + 1, counted.passed + 1):
        gates, signal = Gates(at), CancelToken()
        agent, model = asking(gates)
        await agent.run("go")
        before = agent.checkpoint()
        gates.then = lambda signal=signal: signal.cancel("not now")  # type: ignore[misc]
        with pytest.raises(RunCancelled, match=r"^cancelled: not now$"):
            await agent.resume("yes", signal=signal)
        assert agent.checkpoint() == before
        assert not others()
        assert model.open == 0
        model.left[:] = [says("back")]
        assert (await agent.resume("yes")).content == "back"


async def test_a_follow_up_cancelled_at_every_await_is_still_offered() -> None:
    """Neither the action nor its counter is used up by a run that did not go well."""

    async def carried_out(arguments: Any) -> str:
        await gates.pass_one()
        return "because"

    for at in range(1, 5):
        gates, signal = Gates(at), CancelToken()
        model = GatedStream(Gates(), says("hi"))
        agent = Agent(model, tools=[define_tool("explain", "E.", {}, carried_out)])
        await agent.run("go")
        before = agent.get_messages()
        model.gates, model.left = gates, [says("so it is")]
        gates.then = lambda signal=signal: signal.cancel("not now")  # type: ignore[misc]
        offer = ResolvedFollowUp("explain", FrozenDict({}), "Explain")
        with pytest.raises(RunCancelled):
            await agent.follow_up(offer, signal=signal)
        assert agent.get_messages() == before
        model.gates, model.left = Gates(), [says("so it is")]
        gates.at = 0
        assert (await agent.follow_up(offer)).content == "soitis"
        assert agent.get_messages()[-2]["tool_call_id"] == "auto-strict-1"


class Stubborn:
    """Answers all the same when it is told to stop."""

    async def ask(self, ask: Ask) -> ModelReply:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return ModelReply("too late")
        raise AssertionError("nobody sets it")


@pytest.mark.parametrize("by", ["signal", "task"])
async def test_an_answer_after_the_end_counts_for_nothing(by: str) -> None:
    """A model that will not be cancelled is waited for, and what it says is not heard."""
    agent, signal = Agent(Stubborn()), CancelToken()
    run = asyncio.ensure_future(agent.run("hi", signal=signal))
    for _ in range(10):
        await asyncio.sleep(0)
    if by == "signal":
        signal.cancel("enough")
        with pytest.raises(RunCancelled, match=r"^cancelled: enough$"):
            await run
    else:
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run
    assert agent.get_messages() == []
    assert not others()
    heard = [commit.answered for commit in agent.trace if commit.answered is not None]
    assert all(answered.kind != "model" for answered in heard)
