"""Promise: servers over HTTP are reached under the rules of HTTP tools; lost answers are told."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from saywhy.testing import StubServer
from saywhy.testing.stub_server import StubRequest
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


async def test_a_life(tmp_path: Path) -> None:
    """Values, keys, time limits and sizes as with a program; a server that began anew is found."""
    ledger, port = tmp_path / "ledger.jsonl", free_port()
    client = HttpClient(LOCAL)
    bank = Bank(client, ledger, {"url": f"http://127.0.0.1:{port}/mcp", "headers": {"X-A": "b"}})
    with bank_over_http(ledger, port):
        answer = await bank("balance", {"account": "a"})
        assert raw(answer.value) == {"amount": 80.5, "currency": "EUR"}
        assert raw((await bank("charge", {"account": "a", "amount": 2})).value)["charged"] == 2
        assert bank.asked_for("charge")[0]["key"] == KEY
        late = await bank("hang", {"seconds": 30}, timeout=200)
        assert (late.fault_name, late.may_have_happened) == ("TimeoutError", True)
        flooded = await bank("flood", {"size": 200_000})
        assert flooded.fault_name == "AnswerTooLarge"
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
    with bank_over_http(ledger, port):
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


def older_server(request: StubRequest, text: str) -> dict[str, Any]:
    """What a server of an older protocol answers, the call of a tool as a stream of events."""
    asked = request.data
    results: dict[str, Any] = {
        "initialize": {
            "protocolVersion": "2025-06-18",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "old", "version": "1"},
        },
        "tools/list": {"tools": [{"name": "tell", "inputSchema": {"type": "object"}}]},
        "tools/call": {"content": [{"type": "text", "text": text}]},
    }
    if asked.get("id") is None:
        return {"status": 202}
    if asked["method"] not in results:
        return {"status": 404, "body": "unknown"}
    answer = {"jsonrpc": "2.0", "id": asked["id"], "result": results[asked["method"]]}
    if asked["method"] != "tools/call":
        return {"body": answer}
    event = f"event: message\ndata: {json.dumps(answer)}\n\n"
    return {"body": event, "headers": {"Content-Type": "text/event-stream"}}


@pytest.mark.parametrize(
    ("text", "value", "fault"), [("hello", "hello", None), ("x" * 200_000, None, "unreadable")]
)
async def test_streams(web: StubServer, text: str, value: Any, fault: str | None) -> None:
    """An answer in a stream of events is read; one event has the limit of a whole answer."""
    web.on("POST", "/mcp", answer=lambda request: older_server(request, text))
    client = HttpClient(LOCAL)
    answer = await call(client, mcp_tool("tell", {"url": web.base + "/mcp"}))
    assert answer.value == value
    if fault is not None:
        assert answer.fault_name == "AnswerUnreadable"
        assert answer.fault_message is not None
        assert answer.fault_message.startswith(f"The answer of {web.base}/mcp cannot be read: ")
        assert answer.may_have_happened
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
