"""HTTP tools for tests: one made short, and one way to call it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from saywhy.clock import Clock, SystemClock
from saywhy.tools.answer import ToolAnswer
from saywhy.tools.call import CallContext, call_tool
from saywhy.tools.http.client import HttpClient
from saywhy.tools.http.settings import HttpSettings
from saywhy.tools.limit import MemoryLimiter
from saywhy.tools.registry import Registry
from saywhy.tools.tool import Tool, tool_from_definition

LOCAL = HttpSettings(allow_private=("127.0.0.1",))
KEY = "s-1:4:2"


def http_tool(
    url: str, method: str = "GET", keys: Mapping[str, Any] | None = None, **more: Any
) -> Tool:
    """The tool Bird; `keys` are of the definition itself, `more` of its implementation."""
    implementation = {"type": "http", "url": url, "method": method, **more}
    definition = {"id": "Bird", "name": "Bird", "implementation": implementation}
    return tool_from_definition(definition | dict(keys or {}))


async def call_with(
    client: HttpClient,
    tool: Tool,
    args: Mapping[str, Any] | None = None,
    *,
    clock: Clock | None = None,
    filled: Mapping[str, str] | None = None,
    key: str = KEY,
) -> ToolAnswer:
    """One call, through the one path that all calls take."""
    clock = clock or SystemClock()
    return await call_tool(
        Registry([tool]),
        "Bird",
        args or {},
        CallContext(session_id="s-1", user_id="u-1", key=key),
        functions={},
        limiter=MemoryLimiter(clock),
        clock=clock,
        http=client,
        filled=filled,
    )


def call_once(
    tool: Tool,
    args: Mapping[str, Any] | None = None,
    *,
    settings: HttpSettings = LOCAL,
    **options: Any,
) -> ToolAnswer:
    """One call on a fresh event loop and a client of its own, closed afterwards."""

    async def main() -> ToolAnswer:
        client = HttpClient(settings)
        try:
            return await call_with(client, tool, args, **options)
        finally:
            await client.close()

    return asyncio.run(main())
