"""A desk where a flow calls an agent, and the agent a flow that asks the user; all needs occur.

Started as a program it takes one message of the conversation, and prints the reply as JSON.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from saywhy import Agent, Engine, SqliteStore, ask_human, define_tool, flow_tool
from saywhy.models.provider import Ask, ModelReply, ToolCallPiece
from saywhy.stores.store import Store
from saywhy.testing import Ledger

SESSION = "desk"
WORDS = ("Help", "order 7", "it broke", "yes", "no")
REPLIES = (
    "Which order?",
    "Order 7 is on its way.\n\nWhy do you want your money back?",
    "Noted: it broke.\n\nShall I send a voucher, too?",
    "Refunded 9 for: it broke. Voucher: yes.\n\nAnything else?",
    "Goodbye, no.",
)

FLOWS: list[dict[str, Any]] = [
    {
        "id": "help",
        "name": "Help",
        "version": "1.0",
        "primary": True,
        "interruptable": True,
        "prompt": "help",
        "description": "Help with an order",
        "steps": [
            {"id": "which", "type": "SAY-GET", "variable": "order", "value": "Which order?"},
            {"id": "desk", "type": "AGENT", "agent": "desk", "value": "Help with {{order}}"},
            {"id": "more", "type": "SAY-GET", "variable": "more", "value": "Anything else?"},
            {"id": "bye", "type": "SAY", "value": "Goodbye, {{more}}."},
        ],
    },
    {
        "id": "refund",
        "name": "Refund",
        "version": "1.0",
        "interruptable": True,
        "description": "Give money back",
        "parameters": [{"name": "orderId", "type": "string", "description": "which order"}],
        "steps": [
            {"id": "way", "type": "SAY", "value": "Order {{orderId}} is on its way."},
            {
                "id": "why",
                "type": "SAY-GET",
                "variable": "why",
                "value": "Why do you want your money back?",
            },
            {
                "id": "pay",
                "type": "CALL-TOOL",
                "tool": "pay_back",
                "args": {"order": "{{orderId}}"},
                "variable": "paid",
            },
            {"id": "sum", "type": "SET", "variable": "amount", "value": "paid.amount"},
            {"id": "noted", "type": "SAY", "value": "Noted: {{why}}."},
        ],
    },
]

PAY_BACK: dict[str, Any] = {
    "id": "pay_back",
    "name": "pay_back",
    "description": "Pays money back",
    "effect": "repeatable",
    "parameters": {
        "type": "object",
        "properties": {"order": {"type": "string"}},
        "required": ["order"],
    },
    "implementation": {"type": "local", "function": "pay_back"},
}


class DeskModel:
    """Answers by what it is handed; each question is a line in the ledger."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger

    async def ask(self, ask: Ask) -> ModelReply:
        results = [one["content"] for one in ask.messages if one["role"] == "tool"]
        self.ledger.note("asked", str(len(results)))
        if len(results) < 3:
            return ModelReply("", tool_calls=(_next_call(results),), stop="tool_calls")
        paid: Mapping[str, Any] = json.loads(results[1])["variables"]
        return ModelReply(f"Refunded {paid['amount']} for: {paid['why']}. Voucher: {results[2]}.")


def _next_call(results: Sequence[str]) -> ToolCallPiece:
    calls: list[tuple[str, dict[str, Any]]] = [
        ("look_up", {"order": "7"}),
        ("refund", {"orderId": "7"}),
        ("ask_human", {"question": "Shall I send a voucher, too?"}),
    ]
    name, arguments = calls[len(results)]
    return ToolCallPiece(f"c{len(results)}", name, arguments)


def engine_at(folder: Path, store: Store | None = None) -> Engine:
    """A fresh engine, with flows, agent and tools of its own, over what stands in a folder."""
    ledger = Ledger(folder / "ledger")

    def look_up(arguments: Mapping[str, Any], context: Any) -> dict[str, Any]:
        ledger.note("look_up", context.key)
        return {"order": arguments["order"], "state": "late"}

    def pay_back(arguments: Mapping[str, Any], context: Any) -> dict[str, Any]:
        if not ledger.count("paid", context.key):
            ledger.note("paid", context.key)
        return {"amount": 9}

    schema = {"type": "object", "properties": {"order": {"type": "string"}}}
    desk = Agent(
        DeskModel(ledger),
        name="desk",
        system="You help with orders.",
        tools=[
            define_tool("look_up", "Looks an order up", schema, look_up, effect="reads"),
            flow_tool("refund", returns=["amount", "why"]),
            ask_human(),
        ],
    )
    return Engine(
        flows=FLOWS,
        tools=[PAY_BACK],
        functions={"pay_back": pay_back},
        agents=desk,
        guidance={"enabled": False},
        store=store or SqliteStore(folder / "desk.db"),
        lease_seconds=1,
    )


async def main(folder: Path, number: int) -> None:
    async with engine_at(folder) as engine:
        reply = await engine.take_turn(SESSION, WORDS[number], message_id=f"m{number}")
        print(json.dumps(reply.response))


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2])))
