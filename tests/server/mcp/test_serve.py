"""Promise: the official client finds the offers, calls them, and is kept out without the token."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import pytest
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client

from saywhy.errors import CallerError, OutsideError
from saywhy.server.mcp.serve import mcp_server, serve_http
from saywhy.server.mcp.service import McpService
from tests.server.mcp.conftest import Shop


@asynccontextmanager
async def listening(service: McpService, token: str = "") -> AsyncIterator[str]:
    """The address of a server that runs meanwhile."""
    told: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    task = asyncio.create_task(
        serve_http(service, "127.0.0.1", 0, token=token, on_ready=told.set_result)
    )
    try:
        yield await asyncio.wait_for(told, 10)
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_in_process(shop: Shop, mode: Any) -> None:
    """Both generations of the protocol: list, begin, reply, call, and an unknown name."""
    async with Client(mcp_server(McpService(shop.engine)), mode=mode) as client:
        listed = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert list(listed)[:3] == ["pay", "reply", "Charge"]
        assert listed["Look"].annotations is not None
        assert listed["Look"].annotations.read_only_hint is True
        assert listed["pay"].title == "pay somebody"
        begun = await client.call_tool("pay", {"amount": "80"})
        assert begun.structured_content["reply"] == "Who gets 80?"
        words = {"conversation": begun.structured_content["conversation"], "text": "Bob"}
        meta: Any = {"saywhy/idempotencyKey": "k-1"}
        replies = [await client.call_tool("reply", words, meta=meta) for _ in range(2)]
        assert {one.structured_content["reply"] for one in replies} == {"Your PIN?"}
        assert len(shop.calls) == 1
        refused = await client.call_tool("Wire", {})
        assert refused.is_error
        with pytest.raises(MCPError, match="there is no tool Nothing"):
            await client.call_tool("Nothing", {})


async def test_over_http(shop: Shop) -> None:
    """Two clients over HTTP, one conversation."""
    async with listening(McpService(shop.engine)) as address:
        async with Client(address) as client:
            begun = await client.call_tool("pay", {"amount": "80"})
        async with Client(address) as client:
            words = {"conversation": begun.structured_content["conversation"], "text": "Bob"}
            reply = await client.call_tool("reply", words)
            assert reply.structured_content["question"] == "Your PIN?"


async def test_token(shop: Shop) -> None:
    """With a token every request needs it."""
    async with listening(McpService(shop.engine), "s3cret") as address:
        async with httpx2.AsyncClient() as http:
            for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": "s3cret"}):
                answer = await http.post(address, json={}, headers=headers)
                assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")
        async with httpx2.AsyncClient(headers={"Authorization": "Bearer s3cret"}) as http:
            transport = streamable_http_client(address, http_client=http)
            async with Client(transport) as client:
                assert (await client.call_tool("Look", {})).content[0].text == "seen"


async def test_other_hosts(shop: Shop) -> None:
    """A host that others can reach is refused without a token."""
    with pytest.raises(CallerError, match=r"whoever reaches 0\.0\.0\.0 could use every") as refusal:
        await serve_http(McpService(shop.engine), "0.0.0.0", 0)
    assert refusal.value.hint == (
        "set SAYWHY_MCP_TOKEN to a secret that clients must send, or listen on 127.0.0.1"
    )


async def test_foreign_pages(shop: Shop) -> None:
    """A page of a browser that got hold of a local name reaches nothing."""
    async with listening(McpService(shop.engine)) as address, httpx2.AsyncClient() as http:
        head = {"Host": "evil.example", "Content-Type": "application/json"}
        assert (await http.post(address, json={}, headers=head)).status_code == 421


async def test_port_in_use(shop: Shop) -> None:
    """A port that somebody has is named."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(OutsideError, match=f"cannot listen on 127.0.0.1:{port}: ") as refusal:
            await serve_http(McpService(shop.engine), "127.0.0.1", port)
    assert refusal.value.hint == "--http takes HOST:PORT"
