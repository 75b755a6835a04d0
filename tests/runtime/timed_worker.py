"""A program whose conversation waits for an answer, and which is killed at a given moment.

It asks, says `asked`, and then, with `--run`, takes what falls due; the tool of the step for
silence says `called` on standard output and never comes back.
"""

from __future__ import annotations

import asyncio
import sys
import time
from typing import Any

from saywhy.runtime.engine import Engine
from saywhy.stores.sqlite import SqliteStore

FLOW: dict[str, Any] = {
    "id": "order",
    "name": "Order",
    "version": "1",
    "steps": [
        {
            "id": "size",
            "type": "SAY-GET",
            "value": "Which size?",
            "variable": "size",
            "timeout": {
                "after": 50,
                "value": "M",
                "then": {"id": "note", "type": "CALL-TOOL", "tool": "note", "variable": "noted"},
            },
        },
        {"id": "more", "type": "SAY-GET", "value": "{{size}}, {{noted}}. More?", "variable": "m"},
    ],
}
TOOL: dict[str, Any] = {
    "id": "note",
    "name": "note",
    "description": "Notes that nobody answered",
    "effect": "repeatable",
    "parameters": {"type": "object", "properties": {}},
    "implementation": {"type": "local", "function": "note"},
}


def engine_on(path: str, note: Any) -> Engine:
    """The engine that the program and its successor run on."""
    return Engine(
        flows=[FLOW],
        tools=[TOOL],
        functions={"note": note},
        guidance={"enabled": False},
        validate_on_init=False,
        store=SqliteStore(path),
        lease_seconds=0.2,
    )


def note(args: Any, *, context: Any) -> str:
    """Say under which key it was called, and hang."""
    print(f"called {context.key}", flush=True)
    time.sleep(60)
    return "never"


async def main() -> None:
    """Ask, and perhaps take what falls due."""
    async with engine_on(sys.argv[1], note) as engine:
        await engine.take_turn("c1", "order", message_id="m1", user_id="ann")
        print("asked", flush=True)
        if "--run" in sys.argv:
            while not await engine.run_due():
                await asyncio.sleep(0.01)
        await asyncio.sleep(60)


if __name__ == "__main__":
    asyncio.run(main())
