"""Where in a stack agents are, and for whom a flow is carried out."""

from __future__ import annotations

from saywhy.flows.agents.places import KIND, carrier_of, flows_among, is_agents
from saywhy.runtime.agents.flow_tool import flow_tool
from tests.flows.agents.conftest import agent_of, ask_agent, names, wants
from tests.flows.conftest import ask, engine_of, flow, put, scope_at, talk, world_of


async def test_the_frames_of_a_stack() -> None:
    """Flows are told from what belongs to agents; those between are no flows."""
    desk = agent_of(wants("inner"), tools=[flow_tool("inner")])
    engine = engine_of(flow(ask_agent()), flow(ask("x", "X?"), name="Inner"), agents=desk)
    session = await talk(engine, "Main")
    frames = session.cursor.frames
    assert [one.name for one in flows_among(engine.charts, frames)] == ["Main", "Inner"]
    agents = [one.name for one in frames if is_agents(engine.charts, one)]
    assert agents == names(session)[1:-1]
    assert agents[0] == "desk"
    assert engine.charts[frames[-2].chart].kind == KIND


def test_a_flow_that_no_agent_has_run() -> None:
    """It is carried out for nobody."""
    assert carrier_of(scope_at(world_of(flow(put("x", "1"))))) == 0
