"""Promise: a record tells recorders the same, in the same order, as the run told them live."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from saywhy.agent.hooks import HOOKS
from saywhy.agent.instructions.rule import LLMInstruction
from saywhy.agent.recorders.retold import Retelling, hooks_in, replay
from saywhy.agent.tools import define_tool
from saywhy.errors import ModelError
from saywhy.runtime.agents.agent import Agent
from saywhy.runtime.agents.parallel import Parallel
from saywhy.runtime.agents.sequence import Sequence
from saywhy.testing.clock import FakeClock
from saywhy.trace.record import decode, encode
from saywhy.trace.trace import Trace
from tests.agent.recorders.conftest import Timed, all_runs, says, wants


class Listens:
    """Writes down every hook it is told."""

    def __init__(self) -> None:
        self.told: list[tuple[str, Any]] = []

    def __getattr__(self, hook: str) -> Any:
        if hook not in HOOKS:
            raise AttributeError(hook)
        return lambda event: self.told.append((hook, plain(event)))


def plain(event: Any) -> dict[str, Any]:
    """An event as data, without what no record holds: the conversation's id, functions."""
    fields = msgspec.structs.asdict(event)
    fields.pop("conversation_id")
    if "error" in fields and isinstance(fields["error"], Exception):
        fields["error"] = str(fields["error"])
    if "fired" in fields:
        fields["fired"] = [one.to_value() for one in fields["fired"]]
        fields["log"] = [one.to_value() for one in fields["log"]]
    for name in ("args", "usage"):
        if fields.get(name) is not None:
            fields[name] = dict(fields[name])
    return fields


def retold(*records: Any) -> list[tuple[str, Any]]:
    return [(hook, plain(event)) for record in records for hook, event in hooks_in(record)]


async def test_a_record_tells_what_was_told_live() -> None:
    """Calls, rules, refusals, turns, failures, pauses: the same events in the same order."""
    live = Listens()
    records = await all_runs([live])
    assert {hook for hook, _ in live.told} == set(HOOKS)
    assert retold(*records) == live.told


async def test_a_stored_record_tells_the_same() -> None:
    """What went through JSON tells the same as what did not."""
    live = Listens()
    records = await all_runs([live])
    stored = [Trace([decode(encode(commit)) for commit in record]) for record in records]
    assert retold(*stored) == live.told


@pytest.mark.parametrize("timeout", [0.05, 0.15])
async def test_cancelled_runs(timeout: float) -> None:
    """A run that took too long is told with the same words, wherever it was."""
    live, clock = Listens(), FakeClock()

    async def slow(arguments: Any) -> str:
        await clock.sleep(10)
        return "late"

    tool = define_tool("slow", "Slow.", {}, slow)
    model = Timed(clock, (100, wants(("c1", "slow", {}))))
    agent = Agent(model, tools=[tool], recorders=[live], clock=clock)
    with pytest.raises(Exception, match="took longer than"):
        await agent.run("go", timeout=timeout)
    (hook, failed) = live.told[-1]
    assert (hook, failed["phase"]) == ("on_error", "cancelled")
    assert retold(agent.trace) == live.told


async def test_calls_side_by_side() -> None:
    """What was called at the same time is told in the order of the calls, both ways."""
    live, clock = Listens(), FakeClock()

    async def wait(arguments: dict[str, Any]) -> str:
        await clock.sleep(arguments["ms"] / 1000)
        return f"after {arguments['ms']}"

    tool = define_tool("wait", "Waits.", {}, wait, instructions=[LLMInstruction("n", text="note")])
    model = Timed(
        clock, (1, wants(("a", "wait", {"ms": 30}), ("b", "wait", {"ms": 10}))), (1, says("ok"))
    )
    agent = Agent(model, tools=[tool], recorders=[live], clock=clock, tool_concurrency=4)
    await agent.run("go")
    called = [event for hook, event in live.told if hook == "on_tool_call"]
    assert [(one["tool_call_id"], one["latency_ms"]) for one in called] == [("a", 30), ("b", 10)]
    assert retold(agent.trace) == live.told


async def test_the_dynamic_pattern_and_a_store() -> None:
    """Instructions of the agent and a memory change nothing about what is told."""
    from saywhy.agent.agent import AgentMemory
    from saywhy.agent.instructions.agent_rule import AgentInstruction

    class Kept:
        def __init__(self) -> None:
            self.kept: dict[str, Any] = {}

        async def load(self, conversation_id: str) -> Any:
            return self.kept.get(conversation_id)

        async def save(self, conversation_id: str, messages: Any) -> None:
            self.kept[conversation_id] = messages

    live, clock = Listens(), FakeClock()
    rule = AgentInstruction(
        id="calm", prompt="Stay calm.", on_tool_result=[LLMInstruction("c", text="calm")]
    )
    tool = define_tool("a", "A.", {}, lambda arguments: "ra")
    replies = [(1, wants(("c1", "a", {}))), (1, says("one")), (1, says("two"))]
    agent = Agent(
        Timed(clock, *replies),
        system="Help.",
        tools=[tool],
        instructions=[rule],
        pattern="dynamic",
        memory=AgentMemory(Kept(), "u1"),
        recorders=[live],
        clock=clock,
    )
    await agent.run("go")
    first = agent.trace
    await agent.run("again")
    assert retold(first, agent.trace) == live.told


async def test_what_is_masked_is_masked_here_too() -> None:
    """Contents come from the record as it is kept; figures are not touched by masking."""
    clock = FakeClock()
    tool = define_tool("card", "Card.", {}, lambda arguments: {"password": "hunter2hunter2"})
    model = Timed(clock, (5, wants(("c1", "card", {"password": "hunter2hunter2"}))), (5, says("k")))
    agent = Agent(model, tools=[tool], clock=clock)
    await agent.run("go")
    told = dict(retold(agent.trace))
    assert "hunter2" not in repr(told)
    assert told["on_tool_call"]["args"] == {"password": "[REDACTED]"}
    assert told["on_llm_call"]["usage"] == {"input_tokens": 50, "output_tokens": 5}


async def test_hooks_that_raise_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    """A recorder that raises is told the rest all the same."""

    class Raises:
        def __init__(self) -> None:
            self.turns = 0

        def on_llm_call(self, event: Any) -> None:
            raise ValueError("broken")

        def on_turn_complete(self, event: Any) -> None:
            self.turns += 1

    (record, *_) = await all_runs([])
    recorder = Raises()
    replay(record, recorder)
    assert recorder.turns == 1
    assert "recorder Raises raised in on_llm_call; it is told the rest" in caplog.text


async def test_nothing_is_kept_of_loops_that_are_over() -> None:
    """Listening for ever needs no more room than what is open."""
    told = Retelling()
    for record in await all_runs([]):
        for commit in record:
            told.take(commit)
        loops = told.loops
        kept = [loops._loops, loops._frames, loops._callers, loops._calling]
        if record.commit(record.last).phase == "closed":
            assert [len(one) for one in kept] == [0, 0, 0, 0]


@pytest.mark.parametrize("side_by_side", [False, True])
async def test_runs_of_several_agents_are_one_run(side_by_side: bool) -> None:
    """A sequence, or agents side by side: one turn, with the calls of all of them."""
    live, clock = Listens(), FakeClock()
    tool = define_tool("a", "A.", {}, lambda arguments: "ra")
    first = Agent(
        Timed(clock, (1, wants(("c1", "a", {}))), (1, says("one"))), name="first", tools=[tool]
    )
    second = Agent(Timed(clock, (1, says("two"))), name="second")
    runner: Any = (
        Parallel({"x": first, "y": second}, merge=lambda given: "m", recorders=[live], clock=clock)
        if side_by_side
        else Sequence(first, second, recorders=[live], clock=clock)
    )
    await runner.run("hello")
    assert [hook for hook, _ in live.told].count("on_turn_start") == 1
    assert [hook for hook, _ in live.told].count("on_llm_call") == 3
    assert retold(runner.trace) == live.told


async def test_a_sequence_that_fails() -> None:
    """The failure of a part is that of the run, told once."""
    live, clock = Listens(), FakeClock()
    bad = Agent(Timed(clock, (1, ModelError("down", code="server"))), name="bad")
    runner: Any = Sequence(bad, Agent(Timed(clock), name="never"), recorders=[live], clock=clock)
    with pytest.raises(ModelError):
        await runner.run("hello")
    assert [hook for hook, _ in live.told] == ["on_turn_start", "on_error"]
    assert retold(runner.trace) == live.told
