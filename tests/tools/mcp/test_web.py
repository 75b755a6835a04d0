"""Promise: servers over HTTP are reached under the rules of HTTP tools; lost answers are told."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from saywhy.testing import StubServer
from saywhy.tools.http.client import HttpClient
from saywhy.tools.http.settings import HttpSettings
from saywhy.values import raw
from tests.tools.mcp.calls import (
    KEY,
    LOCAL,
    bank_over_http,
    call,
    free_port,
    ledger_of,
    mcp_tool,
)
from tests.tools.mcp.conftest import Bank


@pytest.fixture
def web() -> Iterator[StubServer]:
    """A server that is no MCP server."""
    with StubServer() as server:
        yield server


@pytest.mark.parametrize("options", [(), ("--json",)])
async def test_a_life(tmp_path: Path, options: tuple[str, ...]) -> None:
    """Values, keys, time limits and sizes as with a program; a server that began anew is found."""
    ledger, port = tmp_path / "ledger.jsonl", free_port()
    client = HttpClient(LOCAL)
    bank = Bank(client, ledger, {"url": f"http://127.0.0.1:{port}/mcp", "headers": {"X-A": "b"}})
    with bank_over_http(ledger, port, *options):
        answer = await bank("balance", {"account": "a"})
        assert raw(answer.value) == {"amount": 80.5, "currency": "EUR"}
        assert raw((await bank("charge", {"account": "a", "amount": 2})).value)["charged"] == 2
        assert bank.asked_for("charge")[0]["key"] == KEY
        late = await bank("hang", {"seconds": 30}, timeout=200)
        assert (late.fault_name, late.may_have_happened) == ("TimeoutError", True)
        flooded = await bank("flood", {"size": 200_000})
        wanted = "AnswerTooLarge" if options else "AnswerUnreadable"  # an event of a stream
        assert flooded.fault_name == wanted
        assert flooded.may_have_happened
        many = await asyncio.gather(*(bank("balance", {"account": str(n)}) for n in range(10)))
        assert [one.fault_message for one in many] == [None] * 10
        died = await bank("die", {"code": 3})
        assert died.fault_message is not None
        assert died.fault_message.startswith("fetch failed: ")
        assert died.may_have_happened
    gone = await bank("charge", {"account": "a", "amount": 5})
    assert (
        gone.fault_message
        == f"fetch failed: 127.0.0.1:{port} refused the connection (ECONNREFUSED)"
    )
    assert not gone.may_have_happened
    with bank_over_http(ledger, port, *options):
        assert raw((await bank("charge", {"account": "b", "amount": 7})).value)["charged"] == 7
    await client.close()
    assert [one["args"]["amount"] for one in ledger_of(ledger) if one["tool"] == "charge"] == [2, 7]


async def test_private_addresses() -> None:
    """A server on one's own network is refused unless the host allows it."""
    client = HttpClient()
    answer = await call(client, mcp_tool("t", {"url": "http://127.0.0.1:9/mcp"}))
    assert answer.refused
    assert answer.fault_message == "Address refused: 127.0.0.1 is a loopback address"
    named = HttpClient(HttpSettings(allow_hosts=("api.example.com",)))
    answer = await call(named, mcp_tool("t", {"url": "https://other.example.com/mcp"}))
    assert answer.fault_message == (
        "Address refused: other.example.com is not among the hosts that tools may call"
    )


async def test_credentials_refused(web: StubServer) -> None:
    """A server that does not let us in is told from one that is no MCP server."""
    web.on("POST", "/mcp", status=401, body="who are you?")
    client = HttpClient(LOCAL)
    headers = {"Authorization": "Bearer s3cretly"}
    tool = mcp_tool("t", {"url": web.base + "/mcp", "headers": headers})
    answer = await call(client, tool)
    assert answer.fault_message == "HTTP 401 Unauthorized of 127.0.0.1"
    assert answer.fault_hint == "see `headers` of the tool's server"
    assert answer.http_status == 401
    assert web.requests[0].headers["authorization"] == "Bearer s3cretly"
    await client.close()


async def test_no_mcp_server(web: StubServer) -> None:
    """An address where something else answers is named as such, with its status."""
    web.on("POST", "/mcp", status=404, body="nothing here")
    client = HttpClient(LOCAL)
    answer = await call(client, mcp_tool("t", {"url": web.base + "/mcp"}))
    assert answer.fault_message == (
        f"{web.base}/mcp does not answer as an MCP server does: HTTP 404, Not Found"
    )
    assert answer.fault_hint == "is it one?"
    assert not answer.may_have_happened
    await client.close()


async def test_redirects(web: StubServer) -> None:
    """A redirect to another host is not followed: it would get our credentials."""
    with StubServer() as other:
        other.on("POST", "/mcp", body={})
        web.on("POST", "/mcp", status=307, headers={"Location": other.base + "/mcp"})
        client = HttpClient(LOCAL)
        answer = await call(client, mcp_tool("t", {"url": web.base + "/mcp"}))
        assert answer.fault_message is not None
        assert "not followed" in answer.fault_message
        assert not other.requests
        await client.close()
