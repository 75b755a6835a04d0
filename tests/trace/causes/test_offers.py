"""An action that an agent offered and that was taken up, as the effect of the rule behind it."""

from __future__ import annotations

from typing import Any

import pytest

from saywhy import Engine, LLMInstruction, MemoryStore, Trace, define_tool, flow_tool, follow
from tests.faults.playing import had
from tests.flows.agents.conftest import agent_of, wants
from tests.flows.conftest import flow, say

OFFER: dict[str, Any] = {
    "id": "offer-shipping",
    "text": "offer to ship it",
    "follow_up": {
        "tool": "ship",
        "params": {"item": "content.state"},
        "strict": True,
        "condition": "if they want it, say yes",
        "description": "ship it",
    },
}
TOOLS: dict[str, Any] = {
    "look": {"takes": {"item": "string"}, "gives": {"state": "ready"}, "rules": [OFFER]},
    "ship": {"takes": {"item": "string"}, "gives": {"done": "shipped"}},
}
DESK: dict[str, Any] = {
    "system": "You help.",
    "tools": ["look", "ship"],
    "script": [
        {"when": {"last": "shipped"}, "reply": "It is shipped."},
        {"when": {"last": "ready"}, "reply": "Ready. Shall I ship it?"},
        {"when": {"user": "lamp"}, "tool_calls": [{"name": "look", "arguments": {"item": "lamp"}}]},
    ],
}


async def traced(**application: Any) -> Trace:
    """The record of somebody who says yes to the offer."""
    played = await had({"tools": TOOLS, "agents": {"desk": DESK}, **application})
    await played.close()
    assert played.replies[-1] == "It is shipped."
    return played.trace


def offered(trace: Trace) -> None:
    """That the call leads to the rule, and why it was taken up."""
    cause = next(one for one in trace.why().ranked if one.ref == "instruction:offer-shipping")
    assert cause.sentence.startswith('instruction "offer-shipping" had offered ship for "if they')
    assert "and it was taken up, decided by their word" in cause.sentence
    assert cause.ranked_for == ("it offered the call, and the words were taken for a yes",)
    assert any('tool ship({"item": "ready"}) gave' in one.sentence for one in trace.why().causes)
    argument = trace.why("argument:ship.item")
    assert argument.target.value == "ready"
    assert trace.why_not("tool:ship").considered[0].happened


async def test_of_an_agent_alone() -> None:
    """The rule stands in the chain, though its result is only remembered."""
    trace = await traced(alone="desk", turns=["lamp", "yes please"])
    offered(trace)
    assert trace.why("argument:ship.item").find("instruction:offer-shipping")


async def test_of_an_agent_in_a_flow() -> None:
    """The same in a conversation, where the rule has fired in an earlier turn."""
    steps = [
        {"id": "first", "type": "AGENT", "agent": "desk", "value": "lamp", "variable": "told"},
        {"id": "ask", "type": "SAY-GET", "variable": "wish", "value": "{{told}}"},
        {"id": "next", "type": "AGENT", "agent": "desk", "value": "{{wish}}", "variable": "told"},
        {"id": "tell", "type": "SAY", "value": "{{told}}"},
    ]
    offered(await traced(flows={"Ask": {"steps": steps}}, turns=["Ask", "yes please"]))


@pytest.mark.parametrize(
    ("takes", "told"),
    [
        ({"type": "string"}, "refund was called in turn 2: the flow Refund ran"),
        (
            {"type": "number"},
            "refund was to be carried out in turn 2, but it was not called: Invalid arguments for "
            "'refund': order: Expected number for 'order', got string.",
        ),
    ],
)
async def test_of_a_flow(takes: dict[str, Any], told: str) -> None:
    """An offer that a flow carries out, and one whose arguments do not fit it."""
    back = follow(
        "refund", lambda ctx: {"order": "7"}, "Pay back", strict=True, condition="refund the parcel"
    )
    rule = LLMInstruction("late", when=lambda ctx: True, follow_up=back)
    look = define_tool("look", "Looks.", {}, lambda _: "late", instructions=[rule])
    schema = {"type": "object", "properties": {"order": takes}}
    pay = flow_tool("refund", parameters=schema)
    agent = agent_of(wants("look"), "Late. Money back?", "Done.", tools=[look, pay])
    refund = flow(say("Paid."), name="Refund", parameters=[{"name": "order", "description": "id"}])
    options: dict[str, Any] = {"fallback_agent": "desk", "store": MemoryStore()}
    async with Engine(flows=[refund], agents=[agent], **options) as engine:
        await engine.take_turn("c", "where is it?")
        await engine.take_turn("c", "yes, refund the parcel")
        trace = await engine.trace("c")
    assert trace.why_not("tool:refund", 2).text() == told
    assert trace.why("argument:refund.order").find("instruction:late")
