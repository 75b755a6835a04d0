"""Promise: recorders and listeners are told live, with real numbers, and every run has its end."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from saywhy.agent.hooks import HOOKS
from saywhy.agent.instructions.rule import LLMInstruction
from saywhy.agent.tools import ask_human, define_tool
from saywhy.errors import ModelError
from saywhy.models.provider import Ask, ModelReply
from saywhy.runtime.agents.agent import Agent
from saywhy.testing.clock import FakeClock
from tests.runtime.agents.models import Replies, call, calls


class Listens:
    """Writes down every hook it is told, by name."""

    def __init__(self) -> None:
        self.told: list[tuple[str, Any]] = []

    def __getattr__(self, hook: str) -> Any:
        if hook not in HOOKS:
            raise AttributeError(hook)
        return lambda event: self.told.append((hook, event))

    @property
    def hooks(self) -> list[str]:
        return [hook for hook, _ in self.told]

    def events(self, hook: str) -> list[Any]:
        return [event for name, event in self.told if name == hook]


class Slow:
    """Takes 250 ms of the clock for each answer; says what had been told by then."""

    def __init__(self, clock: FakeClock, listener: Listens, *replies: ModelReply | str) -> None:
        self.inner = Replies(*replies)
        self.clock = clock
        self.listener = listener
        self.known: list[list[str]] = []

    async def ask(self, ask: Ask) -> ModelReply:
        self.known.append(self.listener.hooks)
        await self.clock.sleep(0.25)
        return await self.inner.ask(ask)


async def test_hooks_are_told_live_with_real_numbers() -> None:
    """While the second answer is awaited, the first call and its tool are known already."""
    clock, listener = FakeClock(), Listens()
    rule = LLMInstruction("n", text="note")
    tool = define_tool("a", "A.", {}, lambda arguments: "ra", instructions=[rule])
    model = Slow(clock, listener, calls(call("a", "c1", k=1)), "done")
    agent = Agent(model, tools=[tool], recorders=[listener], clock=clock, new_id=lambda: "r1")
    await agent.conversation("u1").run("go")
    assert model.known == [
        ["on_turn_start"],
        ["on_turn_start", "on_llm_call", "on_instructions_fired", "on_tool_call"],
    ]
    first, second = listener.events("on_llm_call")
    assert (first.latency_ms, first.loop_iteration, first.finish_reason) == (250, 0, "tool_calls")
    assert (second.latency_ms, second.loop_iteration, second.content) == (250, 1, "done")
    assert dict(first.usage) == {"input_tokens": 10, "output_tokens": 20}
    assert first.model == "test"
    (called,) = listener.events("on_tool_call")
    assert (called.tool_name, dict(called.args), called.error) == ("a", {"k": 1}, False)
    assert called.result == "ra\n\n[INSTRUCTION] note"
    (fired,) = listener.events("on_instructions_fired")
    assert (fired.tool_id, [one.id for one in fired.fired]) == ("a", ["n"])
    (completed,) = listener.events("on_turn_complete")
    assert (completed.content, completed.message_count) == ("done", 4)
    assert (completed.total_loop_iterations, completed.stop_reason) == (1, "final")
    for _, event in listener.told:
        assert (event.turn_number, event.run_id, event.conversation_id) == (1, "r1", "u1")


async def test_turns_are_counted() -> None:
    """The turn number is that of the conversation, failed runs included."""
    listener = Listens()
    agent = Agent(Replies("1", ModelError("no"), "2"), recorders=[listener])
    await agent.run("one")
    with pytest.raises(ModelError):
        await agent.run("two")
    await agent.run("three")
    assert [event.turn_number for event in listener.events("on_turn_start")] == [1, 2, 3]
    (failed,) = listener.events("on_error")
    assert (failed.turn_number, failed.phase, str(failed.error)) == (2, "llm", "no")
    assert agent.get_messages()[-2]["content"] == "three"


async def test_a_paused_turn_is_one_turn() -> None:
    """It starts once and completes once, whenever a person answers."""
    listener = Listens()
    model = Replies(calls(call("ask_human", "h1", question="Sure?")), "Done.")
    agent = Agent(model, tools=[ask_human()], recorders=[listener])
    events: list[dict[str, Any]] = []
    await agent.run("go", on_event=lambda event: events.append(event.to_value()))
    assert events[-1] == {"type": "turn_end", "content": "", "iterations": 0, "paused": True}
    assert "on_turn_complete" not in listener.hooks
    events.clear()
    await agent.resume("yes", on_event=lambda event: events.append(event.to_value()))
    assert events[0] == {"type": "turn_start", "user_message": "yes"}
    assert events[1]["type"] == "tool_end"
    assert events[-1] == {"type": "turn_end", "content": "Done.", "iterations": 1}
    assert listener.hooks.count("on_turn_start") == 1
    assert listener.hooks.count("on_turn_complete") == 1


async def test_a_failed_run_ends_with_an_error() -> None:
    """Every start has its end, and the last event says what was being waited for."""
    events: list[dict[str, Any]] = []
    agent = Agent(Replies(ModelError("down", code="server")))
    with pytest.raises(ModelError):
        await agent.run("hi", on_event=lambda event: events.append(event.to_value()))
    assert [event["type"] for event in events] == ["turn_start", "llm_start", "error"]
    assert events[-1]["phase"] == "llm"
    assert events[-1]["message"] == "LLM call failed: [server] down"


async def test_a_listener_that_raises_is_told_on(caplog: pytest.LogCaptureFixture) -> None:
    """The run does not notice, and the listener misses nothing."""
    heard: list[str] = []

    def listen(event: Any) -> None:
        heard.append(event.type)
        raise ValueError("no screen")

    assert (await Agent(Replies("hello")).run("hi", on_event=listen)).content == "hello"
    assert heard == ["turn_start", "llm_start", "llm_end", "turn_end"]
    assert "the listener for events raised ValueError, at " in caplog.text


async def test_an_async_listener_has_heard_everything_in_the_end() -> None:
    """Events come in order, and the run waits for the last of them to be dealt with."""
    heard: list[str] = []

    async def listen(event: Any) -> None:
        await asyncio.sleep(0.001)
        heard.append(event.type)

    await Agent(Replies("hello")).run("hi", on_event=listen)
    assert heard == ["turn_start", "llm_start", "llm_end", "turn_end"]
