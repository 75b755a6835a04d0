"""Promise: every primary flow and every tool is offered under a name of its own, as what it is."""

from __future__ import annotations

from typing import Any

from saywhy.flows.load import load_definitions
from saywhy.server.mcp.offers import TURN_SCHEMA, Offer, offers_of
from saywhy.tools.registry import Registry
from saywhy.tools.schema import compile_schema
from saywhy.tools.tool import tool_from_definition
from tests.server.mcp.conftest import CHARGE_SCHEMA, INNER, PAY, TOOLS, local


def offered(flows: list[Any], tools: list[Any], **options: Any) -> dict[str, Offer]:
    registry = Registry(tool_from_definition(one) for one in tools)
    return {one.name: one for one in offers_of(load_definitions(flows, tools), registry, **options)}


def test_all() -> None:
    """Primary flows, `reply`, and the tools; a flow that is not primary is no entrance."""
    offers = offered([PAY, INNER], TOOLS)
    assert list(offers) == ["pay", "reply", "Charge", "Look", "Rename", "Wire", "Fail", "Often"]
    assert list(offered([PAY], TOOLS, with_tools=False)) == ["pay", "reply"]
    assert list(offered([INNER], TOOLS[:1])) == ["Charge"]


def test_flow() -> None:
    """A flow takes its parameters, except those that are its own business."""
    pay = offered([PAY], [])["pay"]
    assert (pay.title, pay.kind, pay.target) == ("pay somebody", "flow", "pay")
    assert pay.description == (
        "Pays an amount\n\nBegins a conversation and answers with what is said. "
        "While it is waiting, hand on the user's own words with `reply`."
    )
    assert pay.input_schema == {
        "type": "object",
        "properties": {"amount": {"type": "string", "description": "how much"}},
        "additionalProperties": False,
    }
    assert pay.output_schema == TURN_SCHEMA
    assert pay.hints == {"readOnlyHint": False}


def test_tools() -> None:
    """A tool has its schema; its effect becomes hints."""
    offers = offered([], TOOLS)
    assert offers["Charge"].input_schema == CHARGE_SCHEMA
    assert offers["Charge"].description == "Charges somebody"
    assert {name: dict(offer.hints) for name, offer in offers.items()} == {
        "Charge": {"readOnlyHint": False, "idempotentHint": False},
        "Look": {"readOnlyHint": True},
        "Rename": {"readOnlyHint": False, "idempotentHint": True},
        "Wire": {"readOnlyHint": False, "idempotentHint": False},
        "Fail": {"readOnlyHint": False, "idempotentHint": False},
        "Often": {"readOnlyHint": False, "idempotentHint": False},
    }
    assert offers["Wire"].description == (
        "Wire\n\nA person has to approve it, which cannot be asked here: use a flow."
    )


def test_names() -> None:
    """Names that clash, or that clients do not take, are changed; what is behind them stays."""
    flows = [PAY, {**PAY, "id": "é!", "name": "Odd"}, {**PAY, "id": "x" * 99, "name": "Long"}]
    tools = [local("pay"), local("reply"), local("pay now"), local("pay_now")]
    offers = offered(flows, [tool | {"parameters": {"type": "object"}} for tool in tools])
    assert {name: one.target for name, one in offers.items() if one.kind != "reply"} == {
        "pay": "pay",
        "flow": "é!",
        "x" * 64: "x" * 99,
        "pay_tool": "pay",
        "reply_tool": "reply",
        "pay_now": "pay now",
        "pay_now_tool": "pay_now",
    }


def test_schemas_compile() -> None:
    """What is offered can be checked."""
    for offer in offered([PAY], TOOLS).values():
        compile_schema(offer.input_schema)
        if offer.output_schema:
            compile_schema(offer.output_schema)
