"""Streaming: what agents do in a turn of a conversation is told as it happens, without harm."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import pytest

from saywhy import MemoryStore
from saywhy.agent.events import AgentEvent
from saywhy.agent.tools import define_tool
from saywhy.errors import FlowExecutionError
from saywhy.runtime.agents.flow_tool import flow_tool
from saywhy.runtime.agents.screen import Screen
from saywhy.runtime.engine import Engine
from tests.flows.agents.conftest import agent_of, ask_agent, wants
from tests.flows.conftest import ask, engine_of, flow, say

STREAMED = {"for": "chat", "chunks": ["Hel", "lo ", "Ann."]}


def found(arguments: Any) -> dict[str, bool]:
    return {"found": True}


def desk_engine(**options: Any) -> Engine:
    look_up = define_tool("look_up", "Looks up", {}, found)
    desk = agent_of(wants("look_up"), STREAMED, tools=[look_up], streaming=True)
    main = flow(ask("name", "Name?"), ask_agent(), ask("more", "More?"))
    return engine_of(main, agents=desk, **options)


def told(into: list[AgentEvent]) -> Callable[[AgentEvent], None]:
    return into.append


SHOWN = [
    *("turn_start", "llm_start", "llm_end", "tool_start", "tool_end"),
    *("llm_start", "token", "token", "token", "llm_end", "turn_end"),
]


async def test_in_a_session() -> None:
    """Every call and piece of text between the beginning and the end of the turn, in order."""
    engine, events = desk_engine(), list[AgentEvent]()
    session = await engine.update_activity("Main", engine.init_session("u"))
    session = await engine.update_activity("Ann", session, on_event=told(events))
    assert [one.type for one in events] == SHOWN
    values = [one.to_value() for one in events]
    assert values[0] == {"type": "turn_start", "user_message": "Ann"}
    assert "".join(one["content"] for one in values if one["type"] == "token") == "Hello Ann."
    assert values[3]["tool_name"] == "look_up"
    assert values[4]["result"] == '{"found":true}'
    assert values[-1] == {"type": "turn_end", "content": session.response, "iterations": 2}


async def test_on_a_store() -> None:
    """A stored conversation tells the same; a repeated message tells its beginning and end."""
    events: list[AgentEvent] = []
    async with desk_engine(store=MemoryStore()) as engine:
        await engine.take_turn("c", "Main")
        await engine.take_turn("c", "Ann", message_id="m", on_event=told(events))
        assert [one.type for one in events] == SHOWN
        events.clear()
        again = await engine.take_turn("c", "Ann", message_id="m", on_event=told(events))
    assert again.repeated
    assert [one.type for one in events] == ["turn_start", "turn_end"]


async def test_where_flows_run_in_threads() -> None:
    """With isolated expressions flows run in threads, and the listener on the event loop."""
    engine, events = desk_engine(expressions="isolated"), list[AgentEvent]()
    async with engine:
        session = await engine.update_activity("Main", engine.init_session("u"))
        await engine.update_activity("Ann", session, on_event=told(events))
    assert sorted(one.type for one in events) == sorted(SHOWN)


async def test_a_listener_that_raises(caplog: pytest.LogCaptureFixture) -> None:
    """It is logged, and the turn is as it would have been."""

    def broken(event: AgentEvent) -> None:
        raise ValueError("no screen")

    engine = desk_engine()
    with caplog.at_level(logging.ERROR):
        session = await engine.update_activity("Main", engine.init_session("u"))
        session = await engine.update_activity("Ann", session, on_event=broken)
    assert session.response == "Hello Ann.\n\nMore?"
    assert "the listener for events raised ValueError, at " in caplog.text


async def test_an_async_listener_is_waited_for() -> None:
    """What it does is done, in order, when the turn comes back."""
    events: list[str] = []

    async def slowly(event: AgentEvent) -> None:
        events.append(event.type)

    engine = desk_engine()
    session = await engine.update_activity("Main", engine.init_session("u"))
    await engine.update_activity("Ann", session, on_event=slowly)
    assert events == SHOWN


async def test_a_turn_that_fails() -> None:
    """It ends with an error: that of the model first, that of the turn last."""
    down = {"for": "chat", "raise": "the line is dead", "code": "network"}
    engine, events = engine_of(flow(ask_agent()), agents=agent_of(down)), list[AgentEvent]()
    with pytest.raises(FlowExecutionError):
        await engine.update_activity("Main", engine.init_session("u"), on_event=told(events))
    assert [one.type for one in events] == ["turn_start", "llm_start", "error", "error"]
    assert events[-1].to_value()["phase"] == "turn"


async def test_a_flow_in_an_agent() -> None:
    """A turn that ends at a question of the agent's flow ends on the screen as well."""
    inner = flow(ask("x", "X?"), name="Inner")
    engine = engine_of(
        flow(ask_agent()),
        inner,
        agents=agent_of(wants("inner"), "Done.", tools=[flow_tool("inner")]),
    )
    first, second = list[AgentEvent](), list[AgentEvent]()
    session = await engine.update_activity("Main", engine.init_session("u"), on_event=told(first))
    await engine.update_activity("5", session, on_event=told(second))
    assert [one.type for one in first] == [
        *("turn_start", "llm_start", "llm_end", "tool_start", "turn_end"),
    ]
    assert first[-1].to_value()["content"] == "X?"
    assert [one.type for one in second] == [
        *("turn_start", "tool_end", "llm_start", "llm_end", "turn_end"),
    ]


async def test_it_costs_nothing_where_nobody_looks_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a listener there is no screen at all."""

    def refuse(self: Screen, on_event: Any) -> None:
        raise AssertionError("nobody looks on")

    monkeypatch.setattr(Screen, "__init__", refuse)
    engine = desk_engine()
    session = await engine.update_activity("Main", engine.init_session("u"))
    assert (await engine.update_activity("Ann", session)).response == "Hello Ann.\n\nMore?"


async def test_without_agents() -> None:
    """A turn without agents has a beginning and an end."""
    events: list[AgentEvent] = []
    engine = engine_of(flow(say("Hi.")))
    await engine.update_activity("Main", engine.init_session("u"), on_event=told(events))
    assert [one.to_value() for one in events] == [
        {"type": "turn_start", "user_message": "Main"},
        {"type": "turn_end", "content": "Hi.", "iterations": 0},
    ]
