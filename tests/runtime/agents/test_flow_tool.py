"""A flow as a tool: what the model is shown of it, and what it reads of how it went."""

from __future__ import annotations

from typing import Any

import pytest

from saywhy.errors import CallerError
from saywhy.flows.load import load_definitions
from saywhy.runtime.agents.flow_tool import answer_reply, described_by, flow_tool, reply_of
from saywhy.values import freeze
from tests.flows.agents.conftest import agent_of, last, wants
from tests.flows.conftest import flow, say

REFUND = flow(
    say("x"),
    name="Refund",
    description="Give money back",
    parameters=[
        {"name": "orderId", "type": "string", "description": "the order"},
        {"name": "how", "type": "string", "enum": ["all", "half"]},
        {"name": "odd", "type": "money"},
    ],
)


def described(tool: Any, *flows: dict[str, Any]) -> Any:
    library = load_definitions(list(flows or (REFUND,)))
    return described_by(tool, library.flows[0]).describe()


def test_the_flow_describes_itself() -> None:
    """Description and parameters are the flow's where none were given."""
    shown = described(flow_tool("refund"))
    assert (shown.name, shown.description) == ("refund", "Give money back")
    assert shown.input_schema == {
        "type": "object",
        "properties": {
            "orderId": {"type": "string", "description": "the order"},
            "how": {"type": "string", "enum": ["all", "half"]},
            "odd": {},
        },
    }


def test_what_is_given_counts() -> None:
    """Name, description and parameters may be said otherwise for the model."""
    schema = {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]}
    shown = described(flow_tool("refund", "Pay back", name="pay_back", parameters=schema))
    assert (shown.name, shown.description, shown.input_schema) == ("pay_back", "Pay back", schema)


@pytest.mark.parametrize(
    ("keys", "message", "hint"),
    [
        ({"flow": ""}, "flow_tool needs the id or name of a flow", 'flow_tool("refund")'),
        (
            {"flow": "refund", "returns": "status"},
            "returns is a list of variables, not text",
            '["status"]',
        ),
    ],
)
def test_refused(keys: dict[str, Any], message: str, hint: str) -> None:
    """What makes no sense is refused where it is written."""
    with pytest.raises(CallerError, match=message) as refused:
        flow_tool(**keys)
    assert refused.value.hint == hint


async def test_alone() -> None:
    """An agent that no engine holds has no flows: the model reads what is missing."""
    agent = agent_of(wants("refund"), "Sorry.", tools=[flow_tool("refund")])
    assert (await agent.run("x")).content == "Sorry."
    assert "has to be part of an engine" in last(agent)["content"]


@pytest.mark.parametrize(
    ("value", "content"),
    [
        ({"value": {"status": "completed"}}, '{"status":"completed"}'),
        ({"value": "text"}, "text"),
        ({"value": None}, "null"),
        ({"error": "no money"}, '{"error":true,"message":"no money"}'),
        (
            {"error": "no money", "code": "POOR"},
            '{"error":true,"message":"no money"}',
        ),
        ({"value": {"content": "fine"}, "isResult": True}, "fine"),
    ],
)
def test_what_the_model_reads(value: dict[str, Any], content: str) -> None:
    """The value as JSON, an error as one, a handler's result with all it says."""
    reply = reply_of(freeze(value))
    assert reply.content == content
    assert (reply.error is not None) == ("error" in value)


def test_what_the_model_reads_of_an_answer() -> None:
    """The person's words alone."""
    assert answer_reply(freeze({"value": {"variables": {"answer": "yes"}}})).content == "yes"
    assert answer_reply(freeze({"value": {"status": "completed"}})).content == ""
    assert answer_reply(freeze({"error": "gone"})).error is not None
