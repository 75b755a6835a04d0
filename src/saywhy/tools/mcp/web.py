"""A connection to an MCP server over HTTP: the same guard, limits and certificates as HTTP tools.

A request that fails is answered to the MCP library as a failed one, and noted with its real cause,
so that one lost answer does not end the connection for other calls.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any, Final

import httpx2

from saywhy.tools.http.client import HttpClient
from saywhy.tools.http.secrets import masked
from saywhy.tools.http.transport import trouble_of
from saywhy.tools.http.trouble import HttpTrouble
from saywhy.tools.mcp.exchange import EXCHANGE
from saywhy.tools.mcp.server import McpServer
from saywhy.tools.mcp.trouble import McpTrouble

CONNECT_SECONDS: Final = 30.0
STREAM: Final = "text/event-stream"
_FAILED: Final = 502
"""The status under which the MCP library learns of what has failed below it."""


@asynccontextmanager
async def web_streams(server: McpServer, http: HttpClient) -> AsyncGenerator[tuple[Any, Any]]:
    """The streams of messages from the server and to it."""
    from mcp.client.streamable_http import streamable_http_client

    address = http.destination(server.url)
    client = httpx2.AsyncClient(
        transport=_Wire(http.own_transport(address), server, http.settings.max_bytes),
        headers={
            "User-Agent": http.settings.user_agent,
            **dict(server.headers),
            "Accept-Encoding": "identity",
        },
        # How long an answer may take is the tool's own matter.
        timeout=httpx2.Timeout(None, connect=CONNECT_SECONDS),
        trust_env=False,
        max_redirects=http.settings.max_redirects,
    )
    async with (
        client,
        streamable_http_client(
            address, http_client=client, max_sse_event_size=http.settings.max_bytes
        ) as streams,
    ):
        yield streams


class _Wire(httpx2.AsyncBaseTransport):
    """Passes requests on, reads what has an end, and notes what goes wrong."""

    def __init__(self, inner: httpx2.AsyncBaseTransport, server: McpServer, limit: int) -> None:
        self._inner = inner
        self._server = server
        self._limit = limit

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """The answer; 502 with nothing in it where there is none."""
        port = request.url.port or (443 if request.url.scheme == "https" else 80)
        spot = f"{request.url.host}:{port}"
        try:
            response = await self._inner.handle_async_request(request)
            return await self._whole(response, request.url.host)
        except HttpTrouble as trouble:
            self._note(trouble)
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError, ValueError) as error:
            self._note(trouble_of(error, spot))
        return httpx2.Response(_FAILED, content=b"")

    async def aclose(self) -> None:
        """Close the connections."""
        await self._inner.aclose()

    async def _whole(self, response: httpx2.Response, host: str) -> httpx2.Response:
        exchange = EXCHANGE.get()
        if exchange is not None:
            exchange.status = response.status_code
        kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        packed = response.headers.get("content-encoding", "identity").strip().lower()
        if packed not in ("", "identity"):
            await response.aclose()
            raise HttpTrouble(
                f"The answer of {host} is packed as {packed}, which was not asked for",
                "AnswerUnreadable",
                answered=True,
            )
        if response.status_code < 300 and kind == STREAM:
            return response
        try:
            body = await self._read(response, host)
        finally:
            await response.aclose()
        if response.status_code in (401, 403):
            self._note(_refused(response, host))
        return httpx2.Response(response.status_code, headers=response.headers, content=body)

    async def _read(self, response: httpx2.Response, host: str) -> bytes:
        body = bytearray()
        async for part in response.stream:  # pyright: ignore[reportGeneralTypeIssues]
            body += part
            if len(body) > self._limit:
                raise HttpTrouble(
                    f"The answer of {host} is larger than {self._limit} bytes",
                    "AnswerTooLarge",
                    "HttpSettings(max_bytes=…) of the engine allows more",
                    answered=True,
                )
        return bytes(body)

    def _note(self, trouble: HttpTrouble) -> None:
        exchange = EXCHANGE.get()
        if exchange is None or exchange.trouble is not None:
            return
        refusal = trouble.status is not None and 400 <= trouble.status < 500
        exchange.trouble = McpTrouble(
            masked(trouble.message, self._server.secrets),
            trouble.name,
            masked(trouble.hint, self._server.secrets),
            passing=trouble.passing,
            doubtful=exchange.progress.sent and not refusal,
            status=trouble.status,
        )


def _refused(response: httpx2.Response, host: str) -> HttpTrouble:
    return HttpTrouble(
        f"HTTP {response.status_code} {response.reason_phrase} of {host}".strip(),
        "HttpError",
        "see `headers` of the tool's server",
        answered=True,
        status=response.status_code,
    )
