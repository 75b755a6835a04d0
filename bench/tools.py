"""What the path of a tool call costs: a local function, checks and journal included.

The budget of a call is 30 µs, that of the schema check 2 µs.
"""

from __future__ import annotations

import asyncio
import time
from typing import Any

from bench.figures import Figure, figure
from saywhy import quick
from saywhy.clock import SystemClock
from saywhy.runtime.calls import answer_of
from saywhy.stores.memory import MemoryStore
from saywhy.stores.store import Call
from saywhy.tools.answer import ToolAnswer
from saywhy.tools.arguments import errors_in
from saywhy.tools.call import CallContext, call_tool
from saywhy.tools.guards import Guards
from saywhy.tools.limit import MemoryLimiter
from saywhy.tools.registry import Registry
from saywhy.tools.tool import Tool, tool_from_definition
from saywhy.values import dumps

CALLS = 2_000
ROUNDS = 9
ARGUMENTS: dict[str, Any] = {"account": "CH-1234", "amount": 80.5, "note": "rent", "urgent": False}


def run() -> list[Figure]:
    """All figures."""
    tool = charge()
    bare = asyncio.run(calls(tool, journal=False))
    journaled = asyncio.run(calls(tool, journal=True))
    return [
        figure("tools: schema check of four arguments", check(tool), "us"),
        figure("tools: a local call, no journal", bare, "us"),
        figure("tools: a local call, journal in memory", journaled, "us"),
    ]


def charge() -> Tool:
    """A tool with a schema of the usual size."""
    properties = {
        "account": {"type": "string", "minLength": 3},
        "amount": {"type": "number", "minimum": 0},
        "note": {"type": "string"},
        "urgent": {"type": "boolean"},
    }
    return tool_from_definition(
        {
            "id": "charge",
            "parameters": {
                "type": "object",
                "properties": properties,
                "required": ["account", "amount"],
            },
            "implementation": {"type": "local", "function": "charge"},
        }
    )


@quick
def take(args: dict[str, Any]) -> dict[str, Any]:
    """The function behind it, which does nothing."""
    return {"id": "R-1", "amount": args["amount"]}


def check(tool: Tool) -> list[float]:
    """Processor time per check in microseconds, one figure a round."""
    found: list[float] = []
    for _ in range(ROUNDS):
        began = time.process_time()
        for _ in range(CALLS):
            errors_in(tool, ARGUMENTS)
        found.append((time.process_time() - began) / CALLS * 1e6)
    return found


async def calls(tool: Tool, *, journal: bool) -> list[float]:
    """Processor time per call in microseconds, one figure a round: the machine may be shared."""
    clock = SystemClock()
    registry, limiter, guards = Registry([tool]), MemoryLimiter(clock), Guards()
    context = CallContext(session_id="s", user_id="u", key="s:1:1", tool="charge")
    found: list[float] = []
    for _ in range(ROUNDS):
        ledger = Ledger(await begun()) if journal else None
        began = time.process_time()
        for _ in range(CALLS):
            answer_of(
                await call_tool(
                    registry,
                    "charge",
                    ARGUMENTS,
                    context,
                    functions={"charge": take},
                    limiter=limiter,
                    clock=clock,
                    guards=guards,
                    around=ledger.around if ledger else None,
                )
            )
        found.append((time.process_time() - began) / CALLS * 1e6)
    return found


async def begun() -> Any:
    """A store in memory with a turn that runs, and its claim."""
    store = MemoryStore()
    _, claim = await store.accept_and_claim("s", "m", b"", user_id="u", worker="w")
    return store, claim


class Ledger:
    """Notes each call before and after it, as a turn's journal does."""

    def __init__(self, held: Any) -> None:
        self.store, self.claim = held
        self.seq = 0
        self.previous: tuple[int, bytes] | None = None

    async def around(self, call: Any) -> ToolAnswer:
        """Intent with the result before, call, result."""
        self.seq += 1
        wanted = Call("tool", "charge", "once", dumps(ARGUMENTS), "s:1:1")
        await self.store.intent(
            self.claim, self.seq, wanted, b"{}", (), previous_result=self.previous
        )
        answer = await call()
        self.previous = (self.seq, dumps(answer))
        return answer
