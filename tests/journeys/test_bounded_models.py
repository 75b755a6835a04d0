"""Promise: agents and flows ask wrapped models as they ask any; what was recorded runs again."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest

from saywhy import (
    Ask,
    Budget,
    Engine,
    ModelError,
    RecordingModel,
    ReplayModel,
    StopPiece,
    TextPiece,
    ToolCallPiece,
    UsagePiece,
    resilient,
    with_budget,
    with_rate_limit,
    with_retries,
    with_timeout,
)
from saywhy.agent.events import Token
from saywhy.agent.tools import define_tool
from saywhy.models.provider import Piece
from saywhy.runtime.agents.agent import Agent
from saywhy.testing import FakeClock

SCHEMA = {
    "type": "object",
    "properties": {"order": {"type": "string"}},
    "required": ["order"],
}


class Service:
    """A model that looks up an order and then tells about it; every second call of it fails."""

    def __init__(self, clock: FakeClock) -> None:
        self.clock = clock
        self.calls = 0

    async def ask(self, ask: Ask) -> AsyncGenerator[Piece, None]:
        self.calls += 1
        await self.clock.sleep(1)
        if self.calls % 2:
            raise ModelError("overloaded", code="server")
        if ask.messages[-1]["role"] == "user":
            order = ask.user.split()[-1]
            yield ToolCallPiece(f"c{self.calls}", "look_up", {"order": order})
            yield UsagePiece(20, 5)
            yield StopPiece("tool_calls", "small-1")
            return
        for text in ("It ", "is ", str(ask.messages[-1]["content"])):
            yield TextPiece(text)
        yield UsagePiece(30, 6)
        yield StopPiece("stop", "small-1")


def bounded(service: Any, clock: FakeClock, **limits: Any) -> Any:
    steady = with_retries(
        with_rate_limit(
            with_timeout(service, 30, clock=clock), requests=50, per_seconds=1, clock=clock
        ),
        clock=clock,
    )
    return with_budget(resilient([steady], clock=clock), clock=clock, **limits)


def agent(model: Any, **options: Any) -> Agent:
    tool = define_tool(
        "look_up", "Looks up an order.", SCHEMA, lambda given: f"{given['order']} sent"
    )
    return Agent(model, system="Be brief.", tools=[tool], **options)


async def test_an_agent_over_a_model_that_fails() -> None:
    """It hears nothing of what was tried again, and its budget everything."""
    clock = FakeClock()
    service = Service(clock)
    model = bounded(service, clock)
    result = await agent(model).run("where is A7")
    assert (result.content, result.iterations) == ("It is A7 sent", 1)
    assert service.calls == 4
    assert (model.spent.calls, model.spent.tokens) == (2, 61)


async def test_a_run_that_spends_too_much() -> None:
    """It ends with the reason; the next run has a budget of its own."""
    clock = FakeClock()
    model = bounded(Service(clock), clock)
    asked = agent(model)
    with Budget(calls=1).applied() as budget, pytest.raises(ModelError) as error:
        await asked.run("where is A7")
    assert "the budget for models is used up: 1 of 1 calls" in str(error.value)
    assert budget.spent.calls == 1
    with Budget(calls=2).applied():
        assert (await asked.run("where is A7")).content == "It is A7 sent"


async def test_a_recorded_run_runs_again(tmp_path: Path) -> None:
    """With calls of tools, streamed or not, and without the service; a changed one is told of."""
    clock = FakeClock()
    path = tmp_path / "talk.jsonl"
    recorder = RecordingModel(bounded(Service(clock), clock), path, clock=clock)
    first = await agent(recorder).run("where is A7")
    again = await agent(ReplayModel(path)).run("where is A7")
    assert again.messages == first.messages
    streaming = agent(ReplayModel(path), streaming=True)
    events = [event async for event in streaming.stream("where is A7")]
    tokens = [event.content for event in events if isinstance(event, Token)]
    assert tokens == ["It ", "is ", "A7 sent"]
    with pytest.raises(ModelError) as error:
        await agent(ReplayModel(path)).run("where is B8")
    assert 'first at messages[0].content: recorded was "where is A7"' in str(error.value)


FLOWS = [
    {
        "id": "pay",
        "name": "Pay",
        "version": "1.0",
        "primary": True,
        "prompt": "Pay",
        "description": "Pay somebody",
        "steps": [{"id": "say", "type": "SAY", "value": "Paid."}],
    }
]


async def test_a_flow_over_a_model_that_fails() -> None:
    """An engine takes a wrapped model as it takes any."""
    clock = FakeClock()

    class Chooses(Service):
        async def ask(self, ask: Ask) -> AsyncGenerator[Piece, None]:
            self.calls += 1
            if self.calls == 1:
                raise ConnectionError("gone")
            yield TextPiece('{"flowName": "Pay", "parameters": {}}')
            yield StopPiece()

    service = Chooses(clock)
    engine = Engine(
        flows=FLOWS,
        model=with_retries(service, clock=clock),
        guidance={"enabled": False},
        logger=None,
        clock=clock,
    )
    session = await engine.update_activity("give Bo money", engine.init_session("ann"))
    assert (session.response, service.calls) == ("Paid.", 2)


def test_nothing_of_it_needs_a_loop_to_be_made() -> None:
    """Wrappers are made where a program begins, before any loop runs, and serve several."""
    clock = FakeClock()
    model = bounded(Service(clock), clock)
    for _ in range(2):
        assert asyncio.run(agent(model).run("where is A7")).content == "It is A7 sent"
