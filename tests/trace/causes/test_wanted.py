"""Promise: a call that a model wanted is told with what became of it, whoever carries it out."""

from __future__ import annotations

from typing import Any

import pytest

from saywhy import Agent, Engine, MemoryStore, agent_as_tool, define_tool, flow_tool
from saywhy.errors import CallerError
from saywhy.trace.trace import Trace
from tests.flows.agents.conftest import agent_of, wants
from tests.flows.conftest import ask, flow, say

ID = {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]}
REFUND = flow(
    ask("sure", "Sure?"),
    say("Refunded."),
    name="Refund",
    description="Give money back",
    parameters=[{"name": "order", "type": "string", "description": "the order"}],
)


def look(**options: Any) -> Any:
    return define_tool("look", "Looks.", ID, lambda _: "seen", **options)


async def told(agent: Agent, *words: str, **engine: Any) -> Trace:
    """The record of a conversation in which the agent answers all that is said."""
    options: dict[str, Any] = {"flows": [REFUND], "fallback_agent": "desk", **engine}
    async with Engine(agents=[agent], store=MemoryStore(), **options) as held:
        for one in words:
            await held.take_turn("c", one)
        return await held.trace("c")


async def test_a_call_that_a_flow_carries_out() -> None:
    """It was called in the turn of the answer that wanted it, whenever the flow is over."""
    pay = flow_tool("Refund", name="pay_back")
    answers = (wants("pay_back", order="7"), "All done.", "Welcome.")
    trace = await told(agent_of(*answers, tools=[pay, look()]), "money", "yes", "thanks")
    assert trace.why_not("tool:pay_back", 1).text() == (
        "pay_back was called in turn 1: the flow Refund ran"
    )
    assert trace.why_not("tool:pay_back").considered[0].happened
    assert trace.why_not("flow:Refund", 1).text() == "Refund was run for an agent in turn 1"
    assert trace.why_not("tool:pay_back", 2).text() == (
        'pay_back was offered in turn 2, but the model answered "All done."'
    )
    assert "Refund was run for an agent" in trace.what_changed(turn=1).text()
    assert trace.why("missing:pay_back").target.sentence == "pay_back was not called again"
    argument = trace.why("argument:pay_back.order")
    assert argument.target.sentence == 'pay_back.order = "7", wanted by the model of desk (turn 1)'
    assert any(
        'the model wanted pay_back({"order": "7"})' in one.sentence for one in argument.causes
    )
    with pytest.raises(CallerError, match="no call of pay_bak is recorded") as error:
        trace.why("argument:pay_bak.order")
    assert error.value.hint == 'did you mean "pay_back"?'
    with pytest.raises(CallerError, match='no argument "ordr"') as error:
        trace.why("argument:pay_back.ordr")
    assert error.value.hint == 'did you mean "order"?'


async def test_a_flow_that_is_not_over() -> None:
    """It asks the user something: the call was made, and is open."""
    trace = await told(agent_of(wants("Refund", order="7"), tools=[flow_tool("Refund")]), "money")
    assert trace.why_not("tool:Refund").text() == (
        "Refund was called in turn 1: the flow Refund ran, and that is not over"
    )


async def test_a_call_that_another_agent_carries_out() -> None:
    """In a run of its own, and in an engine."""
    for alone in (True, False):
        helper = agent_as_tool(agent_of("It is late.", name="helper"), description="Helps.")
        agent = agent_of(wants("helper", message="where?"), "Late.", tools=[helper])
        if alone:
            await agent.run("go")
        trace = agent.trace if alone else await told(agent, "go")
        assert trace.why_not("tool:helper").text() == "helper was called in turn 1"
        target = trace.why("argument:helper.message").target
        assert target.sentence.startswith('helper.message = "where?", wanted by the model of desk')


async def test_a_call_that_was_refused() -> None:
    """Arguments that do not fit, a tool that is none: what the model was told of it."""
    for name, arguments, why in (
        ("look", {"id": 5}, "Invalid arguments for 'look': id: Expected string for 'id'"),
        ("lok", {}, "Tool 'lok' not found"),
    ):
        agent = agent_of(wants(name, **arguments), "No.", tools=[look()])
        await agent.run("go")
        answer = agent.trace.why_not(f"tool:{name}")
        assert f"the model wanted {name} in turn 1, but it was not called: {why}" in answer.text()
        assert not any(one.happened for one in answer.considered)
        assert agent.trace.why(f"argument:{name}").target.sentence.endswith("of desk (turn 1)")


async def test_a_call_that_nobody_made() -> None:
    """The run was over before, as it had done its rounds."""
    agent = agent_of(wants("look", id="7"), tools=[look()], max_iterations=0)
    await agent.run("go")
    assert agent.trace.why_not("tool:look").text() == (
        "the model wanted look in turn 1, but it was not called: its run ended before that"
    )


async def test_a_call_that_has_to_be_approved() -> None:
    """It is not called before somebody says so, and not at all where somebody refuses."""
    for word, sentence in (
        (None, "the model wanted look in turn 1, but it was not called: it waits to be approved"),
        ("no", "the model wanted look in turn 1, but it was not called: not approved: no"),
        (True, "look was called in turn 1"),
    ):
        agent = agent_of(wants("look", id="7"), "Well.", tools=[look(approval=True)])
        await agent.run("go")
        if word is not None:
            await agent.resume(word)
        assert agent.trace.why_not("tool:look").text() == sentence
        assert agent.trace.why("argument:look.id").target.value == "7"


async def test_a_call_of_a_step_that_has_to_be_approved() -> None:
    """The same of a flow, with who said so."""
    call = {"type": "CALL-TOOL", "tool": "price", "variable": "cost", "args": {"id": "7"}}
    tool = {
        "id": "price",
        "name": "price",
        "description": "Prices.",
        "approval": True,
        "parameters": ID,
        "implementation": {"type": "local", "function": "price"},
    }
    options: dict[str, Any] = {
        "flows": [flow({"id": "ask", **call}, name="Buy", primary=True)],
        "tools": [tool],
        "functions": {"price": lambda given: 5},
        "store": MemoryStore(),
    }
    async with Engine(**options) as engine:
        await engine.take_turn("c", "Buy")
        trace = await engine.trace("c")
        assert trace.why_not("tool:price").text() == (
            "price was not called: it waits to be approved since turn 1"
        )
        (waits,) = await engine.approvals("c")
        await engine.deny("c", waits["id"], by="eve", reason="too much")
        sentence = (await engine.why_not("c", "tool:price")).text()
        assert sentence.startswith("price was not called: denied by eve at ")
        assert sentence.endswith(': "too much"')


async def test_there_is_always_an_answer() -> None:
    """Also of a turn in which nothing could have called the tool."""
    other = flow(say("Hello."), name="Greet", primary=True)
    agent = agent_of("Yes?", tools=[look()])
    trace = await told(agent, "what", "Greet", flows=[other])
    assert trace.why_not("tool:look", 2).text() == (
        "look was not called in turn 2: no step that calls it ran, and no model was asked"
    )


async def test_of_a_record_that_has_flows_alone() -> None:
    """As a store keeps it: which answer of the model a call comes from is read off the steps."""
    agent = agent_of(wants("Refund", order="7"), "All done.", tools=[flow_tool("Refund"), look()])
    trace = await told(agent, "money", "yes")
    bare = Trace(trace, [one for one in trace.charts if one.kind == "flow"], trace.messages())
    for target in ("argument:Refund.order", "order", "reply:2"):
        whole = [one.sentence for one in trace.why(target).causes]
        assert [one.sentence for one in bare.why(target).causes] == whole
        assert any("the model wanted Refund" in one for one in whole)
    assert (
        bare.why_not("tool:Refund", 1).text() == "Refund was called in turn 1: the flow Refund ran"
    )
