"""Agents as parts of an engine: what fits together is told at once, and costs others nothing."""

from __future__ import annotations

from typing import Any

import pytest

from saywhy.agent.tools import define_tool
from saywhy.errors import CallerError, DefinitionError
from saywhy.flows.model import Library
from saywhy.runtime.agents.flow_tool import flow_tool
from saywhy.runtime.agents.hosted import hosted_agents
from tests.flows.agents.conftest import agent_of, ask_agent
from tests.flows.conftest import ask, engine_of, flow, say, talk

NONE = Library((), ())


def test_no_agents() -> None:
    """Nothing is made where there are none."""
    hosted = hosted_agents(None, None, NONE)
    assert (hosted.charts, hosted.tools, hosted.stages, hosted.fallback) == ((), (), None, "")
    assert hosted_agents([], None, NONE).stages is None


@pytest.mark.parametrize(
    ("agents", "message", "hint"),
    [
        (["desk"], "agents holds 'desk', which is no agent", 'Agent(model, name="support")'),
        ({"desk": None}, "agents holds None, which is no agent", 'Agent(model, name="support")'),
    ],
)
def test_what_is_no_agent(agents: Any, message: str, hint: str) -> None:
    """It is refused when the engine is made, with what to write."""
    with pytest.raises(CallerError, match=message) as refused:
        engine_of(flow(say("x")), agents=agents)
    assert refused.value.hint == hint


def test_two_of_one_name() -> None:
    """Flows could not tell them apart; under names of a mapping they can."""
    one, other = agent_of("x"), agent_of("y")
    with pytest.raises(CallerError, match='two agents have the name "desk"') as refused:
        engine_of(flow(say("x")), agents=[one, other])
    assert refused.value.hint == 'give one another: Agent(…, name="…")'
    engine_of(flow(say("x")), agents={"one": one, "other": other})


def test_everything_wrong_at_once() -> None:
    """All that does not fit is told together."""
    pay = define_tool("pay", "Pays", {}, str)
    agents = [
        agent_of("x", tools=[pay, flow_tool("gone")]),
        agent_of("y", name="clerk", tools=[define_tool("pay", "Pays", {}, repr)]),
    ]
    with pytest.raises(DefinitionError) as refused:
        engine_of(flow(say("x")), agents=agents)
    told = str(refused.value)
    assert 'the tool gone of agent desk runs the flow "gone", which is not there' in told
    assert 'two agents have different tools with the id "pay"' in told


def test_tools_of_agents_are_the_engines() -> None:
    """They stand in its registry, each once."""
    pay = define_tool("pay", "Pays", {}, str)
    engine = engine_of(
        flow(say("x")), agents=[agent_of("x", tools=[pay]), agent_of("y", name="b", tools=[pay])]
    )
    assert [tool.id for tool in engine.tools] == ["pay"]


def signing(**keys: Any) -> Any:
    """A tool that has to be approved, made anew."""
    return define_tool("sign", "Signs", {}, str, approval=True, **keys)


async def test_a_tool_that_is_made_for_each_agent_anew() -> None:
    """The engine makes the calls of the second as well, and asks who approves them."""
    wants = {"reply": "", "tool_calls": [{"name": "sign", "arguments": {}}]}
    agents = [agent_of("x", tools=[signing()]), agent_of(wants, name="clerk", tools=[signing()])]
    session = await talk(engine_of(flow(ask_agent("clerk")), agents=agents), "Main")
    assert session.pending_approval is not None
    assert session.pending_approval["tool"] == "sign"


def test_tools_of_one_id_and_function_that_are_defined_differently() -> None:
    """What counts, for whoever calls it, would be a matter of order."""
    agents = [
        agent_of("x", tools=[signing()]),
        agent_of("y", name="clerk", tools=[signing(effect="reads")]),
    ]
    with pytest.raises(DefinitionError, match='two agents have different tools with the id "sign"'):
        engine_of(flow(say("x")), agents=agents)


async def test_one_agent_alone_and_in_an_engine() -> None:
    """The same value may be talked to by itself; its conversations there are others."""
    desk = agent_of("In the flow.", "Alone.")
    session = await talk(engine_of(flow(ask_agent()), agents=desk), "Main")
    assert session.response == "In the flow."
    alone = await desk.run("hi")
    assert alone.content == "Alone."
    assert len(alone.messages) == 2


@pytest.mark.parametrize("name", ["Desk", "desk"])
async def test_a_flow_of_the_same_name(name: str) -> None:
    """A flow may be called like the agent that it calls: its name starts the flow."""
    engine = engine_of(flow(ask("order", "Which?"), ask_agent(), name=name), agents=agent_of("Hi."))
    session = await talk(engine, "desk")
    assert session.response == "Which?"
    session = await talk(engine, "7", session=session)
    assert session.response == "Hi."


async def test_an_engine_without_agents_is_unchanged() -> None:
    """The record of a conversation without agents is the same with and without agents beside."""
    main = flow(say("Hi."), {"type": "SET", "variable": "x", "value": "1"})
    plain = await talk(engine_of(main), "Main")
    beside = await talk(engine_of(main, agents=agent_of("x")), "Main")
    told = [
        [(one.flow, one.node, one.phase, one.ops) for one in each.trace] for each in (plain, beside)
    ]
    assert len(told[0]) == len(told[1])
    assert [one[:3] for one in told[0]] == [one[:3] for one in told[1]]
    assert set(plain.state.scopes) == set(beside.state.scopes)


async def test_a_session_from_before_there_were_agents() -> None:
    """A conversation that an engine without agents began goes on in one that has some."""
    main = flow({"type": "SAY-GET", "variable": "x", "value": "X?"}, ask_agent(), say("End."))
    old = engine_of(flow({"type": "SAY-GET", "variable": "x", "value": "X?"}, say("End.")))
    data = (await talk(old, "Main")).to_json()
    engine = engine_of(main, agents=agent_of("Hello."), fallback_agent="desk")
    for chart in old.charts:
        engine.charts.add_version(chart)
    session = await talk(engine, "5", session=engine.load_session(data))
    assert session.response == "End."
    assert (await talk(engine, "anything", session=session)).response == "Hello."
