"""Carries out a call of an MCP tool: connection, attempts, answer.

The idempotency key travels in the `_meta` of the request; all attempts carry the same one.
`retries` of the definition repeats what may pass by itself: a lost connection, a server that ended,
a time-out. What the tool itself reports as an error is an answer.
"""

from __future__ import annotations

import json
from typing import Any, Final

from saywhy.errors import CallerError, did_you_mean
from saywhy.tools.http.address import Unfit
from saywhy.tools.http.pause import pause_seconds
from saywhy.tools.http.secrets import masked
from saywhy.tools.http.templates import filled_or_unfit
from saywhy.tools.http.texts import json_text
from saywhy.tools.invocation import DOUBT, Invocation, Outcome, refused
from saywhy.tools.mcp.answer import read_answer
from saywhy.tools.mcp.client import McpClient
from saywhy.tools.mcp.connection import Connection, require_sdk
from saywhy.tools.mcp.exchange import Exchange
from saywhy.tools.mcp.server import McpServer, server_of
from saywhy.tools.mcp.trouble import McpTrouble

KEY: Final = "saywhy/idempotencyKey"
"""Where in `_meta` the idempotency key stands, unless `idempotencyKey` of the tool renames it."""


async def invoke(invocation: Invocation) -> Outcome:
    """The answer of the server as a value, or what went wrong, without any secret in it."""
    if invocation.http is None:
        return refused("MCP tools need a client to call with", "hand in http=HttpClient()")
    client = invocation.http.mcp
    try:
        require_sdk()
        definition = filled_or_unfit(invocation.tool, invocation.filled or {})
    except (Unfit, CallerError) as unfit:
        return refused(unfit.message, unfit.hint)
    server = server_of(definition["implementation"]["server"])
    refusal = client.refusal(server)
    if refusal is not None:
        return refused(masked(refusal.message, server.secrets), refusal.hint)
    return await _attempts(invocation, client, server)


async def _attempts(invocation: Invocation, client: McpClient, server: McpServer) -> Outcome:
    delay = invocation.tool.implementation.raw.get("retryDelay")
    number = 0
    while True:
        outcome, passing = await _Attempt(invocation, client, server).outcome()
        if not passing or number >= invocation.tool.implementation.retries:
            return outcome
        await invocation.clock.sleep(pause_seconds(number, delay, "", invocation.clock.now()))
        number += 1


class _Attempt:
    """One attempt, which may have to connect first."""

    def __init__(self, invocation: Invocation, client: McpClient, server: McpServer) -> None:
        self.invocation = invocation
        self.client = client
        self.server = server
        self.exchange = Exchange()
        self.is_noted = False

    async def outcome(self) -> tuple[Outcome, bool]:
        """How it went, and whether another attempt may fare better."""
        limit_ms = self.invocation.tool.implementation.timeout_ms
        try:
            result = await self.invocation.clock.wait_for(self._made(), limit_ms / 1000)
        except TimeoutError:
            text = f"Request timeout after {limit_ms:g}ms"
            if not self.exchange.progress.sent:
                text += f": {self.server.label} was not ready"
            sent = self.exchange.progress.sent
            trouble = McpTrouble(text, "TimeoutError", passing=True, doubtful=sent)
            return self._failed(trouble), True
        except McpTrouble as trouble:
            return self._failed(trouble), trouble.passing
        answered = read_answer(result)
        if answered.fault is not None:
            text = masked(answered.fault, self.server.secrets)
            return Outcome(fault=text, fault_name="ToolError"), False
        return Outcome(value=answered.value, is_data=answered.is_data), False

    async def _made(self) -> dict[str, Any]:
        """The server's answer. A server that began anew has done nothing yet: it is asked again."""
        try:
            return await self._sent(await self._connected())
        except McpTrouble as trouble:
            if not trouble.stale:
                raise
        self.exchange = Exchange()
        return await self._sent(await self._connected())

    async def _connected(self) -> Connection:
        connection = await self.client.connection(self.server, self.invocation.clock)
        name = self._name
        if name not in connection.tools:
            known = tuple(connection.tools)
            raise McpTrouble(
                f"{self.server.label} has no tool {name}",
                "UnknownTool",
                did_you_mean(name, known) or "import its tools again: saywhy tools import mcp",
                refused=True,
            )
        return connection

    async def _sent(self, connection: Connection) -> dict[str, Any]:
        if not self.is_noted:
            self.is_noted = True
            self.invocation.record()
        arguments = json.loads(json_text(self.invocation.arguments))
        try:
            return await connection.call(self._name, arguments, self._meta(), self.exchange)
        except McpTrouble as trouble:
            if trouble.stale:
                connection.retire()
            raise

    @property
    def _name(self) -> str:
        raw = self.invocation.tool.implementation.raw
        return str(raw.get("tool") or self.invocation.tool.id)

    def _meta(self) -> dict[str, Any]:
        name = self.invocation.tool.implementation.raw.get("idempotencyKey", KEY)
        key = self.invocation.context.key
        if not key or not name or self.invocation.tool.effect == "reads":
            return {}
        return {str(name): key}

    def _failed(self, trouble: McpTrouble) -> Outcome:
        unknown = trouble.doubtful and self.invocation.tool.effect != "reads"
        hint = trouble.hint
        if unknown and not hint:
            hint = DOUBT
        return Outcome(
            fault=masked(trouble.message, self.server.secrets),
            fault_name=trouble.name,
            hint=masked(hint, self.server.secrets),
            refused=trouble.refused,
            may_have_happened=unknown,
            http_status=trouble.status,
        )


__all__ = ["invoke"]
