"""The path of a conversation, drawn: flows, agents, what was taken and how often."""

from __future__ import annotations

import asyncio

import pytest

from saywhy import Engine
from saywhy.errors import CallerError
from saywhy.runtime.picture import path_in, picture_of
from saywhy.stores.memory import MemoryStore
from saywhy.trace.trace import Trace
from tests.runtime.audit.desk import engine_on, talk


@pytest.fixture(scope="module")
def trace() -> Trace:
    async def scene() -> Trace:
        async with engine_on(MemoryStore()) as engine:
            await talk(engine)
            return await engine.trace("s1")

    return asyncio.run(scene())


def test_draws_flows_and_agents_with_the_path(trace: Trace) -> None:
    """Boxes for the flow, its agent and the flow that the agent started; loops are counted."""
    lines = picture_of(trace).splitlines()
    boxes = [line.split('"')[1] for line in lines if "subgraph" in line]
    assert boxes == ["Help", "desk", "Refund"]
    assert '    f1_3[/"CallLLM<br/>Ask the model (×3)"/]' in lines
    assert '    f1_4 -->|"tool-calls ×2"| f1_5' in lines
    assert "    class f0_4 missed" in lines
    assert "    class f0_5 visited" in lines
    assert "  f0_2 -.-> f1" in lines
    assert "  f1_5 -.-> f2" in lines
    assert lines[-1].startswith("  linkStyle 0,1,2,4,6,7,")
    assert lines[-1].endswith(" stroke:#2e7d32,stroke-width:3px")


def test_draws_one_turn(trace: Trace) -> None:
    """Of the second turn there is one step on, from the order to the PIN."""
    lines = picture_of(trace, 2).splitlines()
    assert [line for line in lines if line.endswith(" visited")] == ["    class f0_1 visited"]
    assert lines[-1] == "  linkStyle 0 stroke:#2e7d32,stroke-width:3px"


def test_names_by_id_fit_newer_flows(trace: Trace) -> None:
    """By their ids, charts fit flows that were changed since."""
    path = path_in(trace, by_id=True)
    assert path.charts == ["help", "agent/desk", "refund"]
    assert path.nodes["agent/desk", "call-llm"] == 3
    assert path.calls["agent/desk", "tool-calls", "refund"] == 1


def test_no_path_is_said() -> None:
    """A conversation that entered no flow has no picture."""

    async def scene() -> Trace:
        engine = Engine(flows=[])
        session = await engine.update_activity("hello", engine.init_session("ann"))
        return session.trace

    trace = asyncio.run(scene())
    with pytest.raises(CallerError, match="no flow and no agent was entered in turn 1"):
        picture_of(trace, 1)


def test_agents_whose_charts_are_not_at_hand(trace: Trace) -> None:
    """Of what a store does not keep the steps that ran are drawn, with the ways they took."""
    flows = [chart for chart in trace.charts if chart.kind == "flow"]
    bare = Trace(trace, flows, trace.messages())
    lines = picture_of(bare).splitlines()
    boxes = [line.split('"')[1] for line in lines if "subgraph" in line]
    assert boxes == ["Help", "desk", "Refund"]
    assert '    f1_3[/"call-llm (×3)"/]' in lines
    assert '    f1_4 -->|"×2"| f1_5' in lines
    assert not [line for line in lines if line.startswith("    class f1_") and "missed" in line]
    assert "  f1_5 -.-> f2" in lines
    assert path_in(bare, by_id=True).charts == ["help", "refund"]
