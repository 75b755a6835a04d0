"""An action that an agent offered and that was taken up, as the effect of the rule behind it."""

from __future__ import annotations

from typing import Any

from saywhy import Trace
from tests.faults.playing import had

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


async def test_of_an_agent_alone() -> None:
    """The rule stands in the chain, though its result is only remembered."""
    offered(await traced(alone="desk", turns=["lamp", "yes please"]))


async def test_of_an_agent_in_a_flow() -> None:
    """The same in a conversation, where the rule has fired in an earlier turn."""
    steps = [
        {"id": "first", "type": "AGENT", "agent": "desk", "value": "lamp", "variable": "told"},
        {"id": "ask", "type": "SAY-GET", "variable": "wish", "value": "{{told}}"},
        {"id": "next", "type": "AGENT", "agent": "desk", "value": "{{wish}}", "variable": "told"},
        {"id": "tell", "type": "SAY", "value": "{{told}}"},
    ]
    offered(await traced(flows={"Ask": {"steps": steps}}, turns=["Ask", "yes please"]))
