"""Promise: with the client for tests, HTTP tools reach the stub server and nobody else."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from saywhy.testing import StubClient, StubServer
from saywhy.tools.answer import ToolAnswer
from tests.tools.http.calls import call_with, http_tool


def call(client: StubClient, url: str, **more: Any) -> ToolAnswer:
    async def main() -> ToolAnswer:
        answer = await call_with(client, http_tool(url, **more), {"q": 1})
        await client.close()
        return answer

    return asyncio.run(main())


@pytest.mark.parametrize(
    ("url", "path", "query"),
    [
        ("https://api.example.com/v1/birds", "/v1/birds", "q=1"),
        ("http://10.0.0.1:8080/birds?x=2", "/birds", "x=2&q=1"),
        ("https://api.example.com", "/", "q=1"),
    ],
)
def test_every_host_is_the_stub(url: str, path: str, query: str) -> None:
    """Path and query stay, the host and the scheme are the stub server's."""
    with StubServer().on("GET", path, body={"n": 1}) as web:
        assert call(StubClient(web.base), url).value == {"n": 1}
        assert (web.requests[0].path, web.requests[0].query) == (path, query)


def test_without_a_stub() -> None:
    """Nobody is called at all."""
    assert call(StubClient(""), "https://api.example.com/x").fault_message == (
        "Address refused: api.example.com is not among the hosts that tools may call"
    )
