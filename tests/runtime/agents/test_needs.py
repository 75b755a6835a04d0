"""What agents need in a turn goes through the journal: asked once, remembered, and told apart."""

from __future__ import annotations

from typing import Any

import pytest

from saywhy import MemoryStore
from saywhy.agent.tools import define_tool
from saywhy.chart.outcome import Answer, Need
from saywhy.errors import FlowExecutionError, OutsideError
from saywhy.runtime.agents.agent import Agent
from saywhy.runtime.agents.needs import first_open
from saywhy.testing import Fault, Faults
from tests.flows.agents.conftest import agent_of, ask_agent, replies, wants
from tests.flows.conftest import ask, engine_of, flow

MAIN = flow(ask("w", "What?"), ask_agent(), ask("more", "More?"))


def gone() -> None:
    raise OutsideError("the machine is gone")


async def test_calls_stand_in_the_journal() -> None:
    """Each question to a model and each call of a tool is a row, answered before the turn ends."""
    store = MemoryStore()
    look = define_tool("look", "Looks", {}, str, effect="reads")
    agent = agent_of(wants("look"), "Seen.", tools=[look])
    async with engine_of(MAIN, agents=agent, store=store) as engine:
        await engine.take_turn("c", "Main")
        await engine.take_turn("c", "look")
        rows = [(row.kind, row.name, row.status) for row in await store.journal("c", 2)]
    assert rows == [
        ("model", "chat", "answered"),
        ("tool", "look", "answered"),
        ("model", "chat", "answered"),
    ]


async def test_an_answered_question_is_not_asked_again() -> None:
    """Where a worker is gone behind an answer, the next goes on with it, also when it failed."""
    store, model = MemoryStore(), replies(wants("look"), "Seen.")
    look = define_tool("look", "Looks", {}, str, effect="reads")

    def engine(*plan: Fault) -> Any:
        faults = Faults(plan, kill=gone)
        agent = Agent(model, name="desk", tools=[look])
        return engine_of(MAIN, agents=agent, store=faults.store(store), lease_seconds=0.05)

    await engine().take_turn("c", "Main")
    with pytest.raises(OutsideError):
        await engine(Fault(action="kill", at="intent", side="after", number=2)).take_turn(
            "c", "look", message_id="m"
        )
    assert len(model.asked) == 1
    done = await engine().take_turn("c", "look", message_id="m")
    assert done.response == "Seen.\n\nMore?"
    assert len(model.asked) == 2


async def test_an_unanswered_question_is_asked_again() -> None:
    """A model that was asked and did not answer in time of its worker is asked by the next."""
    store, model = MemoryStore(), replies("One.", "Two.")

    def engine(*plan: Fault) -> Any:
        faults = Faults(plan, kill=gone)
        agent = Agent(model, name="desk")
        return engine_of(MAIN, agents=agent, store=faults.store(store), lease_seconds=0.05)

    await engine().take_turn("c", "Main")
    with pytest.raises(OutsideError):
        await engine(Fault(action="kill", at="intent", side="after", number=1)).take_turn(
            "c", "x", message_id="m"
        )
    done = await engine().take_turn("c", "x", message_id="m")
    assert done.response == "One.\n\nMore?"


async def test_a_failure_is_remembered() -> None:
    """A model that failed has answered: the next worker does not try its luck."""
    store = MemoryStore()
    model = replies({"for": "chat", "raise": "bad", "code": "auth"}, "Never.")

    def engine(*plan: Fault) -> Any:
        faults = Faults(plan, kill=gone)
        sorry = {"id": "sorry", "type": "SAY", "value": "Sorry."}
        main = flow(ask("w", "What?"), ask_agent(onFail=sorry), ask("more", "More?"))
        agent = Agent(model, name="desk")
        return engine_of(main, agents=agent, store=faults.store(store), lease_seconds=0.05)

    await engine().take_turn("c", "Main")
    with pytest.raises(OutsideError):
        await engine(Fault(action="kill", at="finish", side="before")).take_turn(
            "c", "x", message_id="m"
        )
    done = await engine().take_turn("c", "x", message_id="m")
    assert done.response == "Sorry.\n\nMore?"
    assert len(model.asked) == 1


async def test_a_tool_of_a_provider_that_was_cut_off() -> None:
    """Nobody knows whether it acted: the model is told so, and it is not called again."""
    calls: list[str] = []

    class Provider:
        async def resolve(self, context: Any) -> Any:
            return [{"name": "pay", "description": "Pays", "input_schema": {}}]

        async def execute(self, name: str, arguments: Any) -> str:
            calls.append(name)
            return "paid"

    store, model = MemoryStore(), replies(wants("pay"), "I do not know.")

    def engine(*plan: Fault) -> Any:
        faults = Faults(plan, kill=gone)
        agent = Agent(model, name="desk", tool_provider=Provider())
        return engine_of(MAIN, agents=agent, store=faults.store(store), lease_seconds=0.05)

    await engine().take_turn("c", "Main")
    with pytest.raises(OutsideError):
        await engine(Fault(action="kill", at="intent", side="after", number=2)).take_turn(
            "c", "x", message_id="m"
        )
    done = await engine().take_turn("c", "x", message_id="m")
    assert done.response == "I do not know.\n\nMore?"
    assert calls == []
    told = model.asked[-1].messages[-1]["content"]
    assert "was interrupted, and nobody knows whether it took effect" in told


def test_the_first_item_of_a_fork() -> None:
    """What can be answered here comes first; where only people can, it is said."""
    items = ((0, Need("user", "ask")), (1, Need("task", "look")))
    path, need = first_open(Need("fork", "f", [1, 2], items=items))
    assert (path, need.name) == ((1,), "look")
    with pytest.raises(FlowExecutionError, match="ask asks the user while others run") as refused:
        first_open(Need("fork", "f", [1], items=items[:1]))
    assert refused.value.hint == "let what asks the user run alone, not in a branch"


def test_answers_go_through_the_journal() -> None:
    """An answer is the same after it was stored: value, error and facts."""
    from saywhy.runtime.agents.needs import (
        _answered,  # pyright: ignore[reportPrivateUsage]
        _stored,  # pyright: ignore[reportPrivateUsage]
    )
    from saywhy.tools.answer import ToolAnswer
    from saywhy.values import dumps

    for answer in (Answer({"content": "x"}, facts={"latencyMs": 1.5}), Answer(None, "e", "E")):
        through = ToolAnswer.from_json(dumps(_stored(answer)))
        again = _answered(through)
        assert (again.value, again.error, again.error_name, again.facts) == (
            answer.value, answer.error, answer.error_name, answer.facts,
        )  # fmt: skip
