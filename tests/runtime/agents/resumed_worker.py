"""Another process that resumes a conversation: checkpoint on stdin, result as JSON on stdout."""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

from saywhy.agent.tools import ask_human, define_tool
from saywhy.models.provider import Ask, ModelReply, ToolCallPiece
from saywhy.runtime.agents.agent import Agent


def pay(arguments: dict[str, Any]) -> str:
    print(f"paid {arguments['amount']}", file=sys.stderr)
    return "paid"


class Cashier:
    """Pays and asks in one reply, then asks once more, then tells what it heard."""

    async def ask(self, ask: Ask) -> ModelReply:
        heard = [one["content"] for one in ask.messages if one["role"] == "tool"]
        wanted: list[ToolCallPiece] = []
        if not heard:
            wanted = [question("h1", "Sure?"), ToolCallPiece("p1", "pay", {"amount": 5})]
        elif len(heard) == 2:
            wanted = [question("h2", "Really?")]
        return ModelReply(f"heard {heard}" if not wanted else "", tool_calls=tuple(wanted))


def question(id: str, text: str) -> ToolCallPiece:
    return ToolCallPiece(id, "ask_human", {"question": text})


def cashier() -> Agent:
    tools = [ask_human(), define_tool("pay", "Pays.", {}, pay)]
    return Agent(Cashier(), name="cashier", tools=tools)


async def main(answer: str) -> None:
    agent = cashier()
    agent.restore(sys.stdin.buffer.read())
    result = await agent.resume(answer)
    told = {
        "content": result.content,
        "paused": result.paused,
        "question": (result.pause_data or {}).get("question"),
        "run_id": result.run_id,
        "calls": result.usage.calls,
        "first": agent.trace.first,
        "checkpoint": agent.checkpoint().decode(),
    }
    print(json.dumps(told))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
