"""The MCP tools' way out: one connection for each server, kept, and made anew when it was lost.

Each event loop has connections of its own, because they live in tasks of it. A server that cannot
be reached is tried a few times for a call, never for ever.
"""

from __future__ import annotations

import asyncio
from typing import Final
from weakref import WeakKeyDictionary

from saywhy.clock import Clock
from saywhy.tools.http.client import HttpClient
from saywhy.tools.http.request import HttpRequest
from saywhy.tools.mcp.connection import Connection
from saywhy.tools.mcp.server import McpServer
from saywhy.tools.mcp.trouble import McpTrouble

TRIES: Final = 3
PAUSE_SECONDS: Final = 0.2
MAX_CONNECTIONS: Final = 32
"""Servers that are kept connected. The one that was idle for longest makes room."""


class McpClient:
    """The connections of one engine. Over HTTP they go out as those of HTTP tools do."""

    def __init__(self, http: HttpClient, *, max_connections: int = MAX_CONNECTIONS) -> None:
        self.http = http
        self._max_connections = max_connections
        self._loops: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[McpServer, Connection]] = (
            WeakKeyDictionary()
        )
        self._leaving: set[asyncio.Task[None]] = set()

    def refusal(self, server: McpServer) -> McpTrouble | None:
        """Why a server may not even be tried, as far as its address tells."""
        if server.command:
            return (
                None
                if self.http.starts_programs
                else McpTrouble(
                    f"flow tests start no programs, and {server.label} is one",
                    hint="make the tool a mock while testing the flow",
                )
            )
        trouble = self.http.refusal(HttpRequest("POST", server.url, ()))
        return McpTrouble(trouble.message, trouble.name, trouble.hint) if trouble else None

    async def connection(self, server: McpServer, clock: Clock) -> Connection:
        """A connection that is ready for calls. Raises `McpTrouble` after a few tries."""
        known = self._loops.setdefault(asyncio.get_running_loop(), {})
        for number in range(TRIES):
            found = known.pop(server, None)
            if found is None or found.is_over:
                if found is not None:
                    self._leave(found)
                found = Connection(server, self.http)
                found.start()
            known[server] = found  # the newest last
            self._make_room(known)
            try:
                await found.ready()
                return found
            except McpTrouble as trouble:
                if not trouble.passing or number == TRIES - 1:
                    raise
            await clock.sleep(PAUSE_SECONDS * 2**number)
        raise AssertionError("the last try returns or raises")

    async def close(self) -> None:
        """End the connections of the running loop. The client can be used again."""
        known = self._loops.pop(asyncio.get_running_loop(), {})
        await asyncio.gather(*(one.close() for one in known.values()), *self._leaving)

    def _make_room(self, known: dict[McpServer, Connection]) -> None:
        idle = [server for server, one in known.items() if not one.calls]
        for server in idle[: max(0, len(known) - self._max_connections)]:
            if server != next(reversed(known)):
                self._leave(known.pop(server))

    def _leave(self, connection: Connection) -> None:
        task = asyncio.ensure_future(connection.close())
        self._leaving.add(task)
        task.add_done_callback(self._leaving.discard)
