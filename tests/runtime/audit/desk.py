"""A help desk to be audited: a flow that asks, an agent that looks up and starts a flow, a PIN."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from saywhy import Agent, Engine, ScriptedModel, define_tool, flow_tool
from saywhy.runtime.audit.export import bundle
from saywhy.stores.store import Store

FLOWS: list[dict[str, Any]] = [
    {
        "id": "help",
        "name": "Help",
        "version": "1.0",
        "primary": True,
        "interruptable": True,
        "prompt": "Help with an order",
        "description": "Finds out what is wrong with an order",
        "steps": [
            {"id": "which", "type": "SAY-GET", "variable": "order", "value": "Which order?"},
            {"id": "pin", "type": "SAY-GET", "variable": "pin", "pii": True, "value": "Your PIN?"},
            {"id": "desk", "type": "AGENT", "agent": "desk", "value": "The order is {{order}}."},
            {
                "id": "long",
                "type": "CASE",
                "branches": {
                    "condition: order.length > 3": {
                        "id": "is_long",
                        "type": "SAY",
                        "value": "A long number.",
                    },
                    "default": {
                        "id": "settled",
                        "type": "SAY",
                        "value": "Order {{order}} is settled.",
                    },
                },
            },
        ],
    },
    {
        "id": "refund",
        "name": "Refund",
        "version": "1.0",
        "interruptable": True,
        "description": "Gives the money for an order back",
        "parameters": [{"name": "order", "type": "string", "description": "the order's number"}],
        "steps": [
            {
                "id": "why",
                "type": "SAY-GET",
                "variable": "why",
                "value": "Why do you send {{order}} back?",
            },
            {"id": "amount", "type": "SET", "variable": "amount", "value": "9"},
        ],
    },
]
SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {"order": {"type": "string"}},
    "required": ["order"],
}
WORDS = ("help", "7", "1234-5678", "it never came", "thanks")
PIN = "1234-5678"
SECRET = "it never came"
"""Words of the user's, to be searched for where they must not be."""


def look_up(arguments: dict[str, Any]) -> dict[str, Any]:
    return {"order": arguments["order"], "state": "lost – verlören"}


def desk() -> Agent:
    model = ScriptedModel(
        [
            {"tool_calls": [{"name": "look_up", "arguments": {"order": "7"}}]},
            {"tool_calls": [{"name": "refund", "arguments": {"order": "7"}}]},
            {"reply": "It was lost, so you get 9 back."},
        ]
        * 5
    )
    tools = [
        define_tool("look_up", "Looks an order up", dict(SCHEMA), look_up, effect="reads"),
        flow_tool("refund", returns=["amount"]),
    ]
    return Agent(model, name="desk", system="You help with orders.", tools=tools)


def engine_on(store: Store) -> Engine:
    return Engine(flows=FLOWS, agents=[desk()], store=store, guidance={"enabled": False})


async def talk(
    engine: Engine, session_id: str = "s1", user_id: str = "ann", words: tuple[str, ...] = WORDS
) -> list[str | None]:
    """A conversation; gives the replies."""
    replies: list[str | None] = []
    for number, said in enumerate(words):
        reply = await engine.take_turn(session_id, said, message_id=f"m{number}", user_id=user_id)
        replies.append(reply.response)
    return replies


async def lines_of(store: Store, **of: Any) -> list[bytes]:
    return [line async for line in bundle(store, **of)]
