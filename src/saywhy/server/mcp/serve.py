"""Listens to MCP clients, on the program's own streams or over HTTP, with the official library."""

from __future__ import annotations

import asyncio
import hmac
import socket
import sys
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import redirect_stdout
from typing import TYPE_CHECKING, Any, Final

from saywhy.errors import CallerError, OutsideError
from saywhy.server.mcp.offers import Offer
from saywhy.server.mcp.service import McpService, UnknownOffer
from saywhy.tools.mcp.connection import require_sdk
from saywhy.tools.mcp.invoke import KEY

if TYPE_CHECKING:
    import uvicorn
    from mcp.server import Server

PATH: Final = "/mcp"
LOOPBACK: Final = ("127.0.0.1", "localhost", "::1")
TOKEN: Final = "SAYWHY_MCP_TOKEN"
INVALID_PARAMS: Final = -32602
GRACE_SECONDS: Final = 2
"""How long streams that clients hold open may go on when the server is to end."""
_INSTRUCTIONS: Final = (
    "Each flow is a tool that begins a conversation and answers with its id and with what is said. "
    "Show the user `reply`. While `waiting` is true, call `reply` with the conversation and the "
    "user's own words; do not make up answers. The user may say cancel, help or status."
)

Message = MutableMapping[str, Any]
Application = Callable[
    [Message, Callable[[], Awaitable[Message]], Callable[[Message], Awaitable[None]]],
    Awaitable[None],
]


def mcp_server(service: McpService) -> Server[Any]:
    """The service as a server of the official library. Raises `CallerError` without it."""
    require_sdk()
    from importlib.metadata import version

    from mcp import MCPError
    from mcp.server import Server
    from mcp_types import CallToolResult, ListToolsResult, TextContent

    async def list_tools(context: Any, params: Any) -> ListToolsResult:
        return ListToolsResult(tools=[_as_tool(offer) for offer in service.offers.values()])

    async def call_tool(context: Any, params: Any) -> CallToolResult:
        key = str((context.meta or {}).get(KEY) or "")
        try:
            served = await service.call(params.name, params.arguments or {}, key)
        except UnknownOffer as unknown:
            raise MCPError(INVALID_PARAMS, str(unknown)) from None
        content = TextContent(text=served.text)
        data = dict(served.data) if served.data is not None else None
        if data is None:
            return CallToolResult(content=[content], is_error=served.is_error)
        return CallToolResult(content=[content], structured_content=data, is_error=served.is_error)

    return Server(
        "saywhy",
        version=version("saywhy"),
        instructions=_INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def _as_tool(offer: Offer) -> Any:
    from mcp_types import Tool, ToolAnnotations

    return Tool.model_validate(
        {
            "name": offer.name,
            "title": offer.title,
            "description": offer.description,
            "inputSchema": offer.input_schema,
            "outputSchema": offer.output_schema,
            "annotations": ToolAnnotations.model_validate(dict(offer.hints)),
        }
    )


async def serve_stdio(service: McpService) -> None:
    """Serve one client over standard input and output, until it has no more to say.

    What functions print meanwhile goes to standard error.
    """
    server = mcp_server(service)
    from mcp.server.stdio import stdio_server

    # What is printed is buffered by Python and would be written when the wire is back in its place.
    async with stdio_server() as (read, write):
        with redirect_stdout(sys.stderr):
            await server.run(read, write, server.create_initialization_options())


async def serve_http(
    service: McpService,
    host: str,
    port: int,
    *,
    token: str = "",
    on_ready: Callable[[str], None] = lambda address: None,
) -> None:
    """Serve any number of clients at `http://HOST:PORT/mcp`, until the program is ended.

    Port 0 takes a free one; `on_ready` is told the address. With a `token` every request must carry
    it as `Authorization: Bearer …`; a host that others can reach is refused without one.
    """
    if host not in LOOPBACK and not token:
        raise CallerError(
            f"whoever reaches {host} could use every flow and tool",
            hint=f"set {TOKEN} to a secret that clients must send, or listen on 127.0.0.1",
        )
    server = mcp_server(service)
    import uvicorn

    app: Any = server.streamable_http_app(host=host, streamable_http_path=PATH)
    shown = f"[{host}]" if ":" in host else host
    config = uvicorn.Config(
        guarded(app, token) if token else app,
        log_level="warning",
        access_log=False,
        lifespan="on",
        timeout_graceful_shutdown=GRACE_SECONDS,
    )
    with _listening(host, port) as listening:
        on_ready(f"http://{shown}:{listening.getsockname()[1]}{PATH}")
        await _until_ended(uvicorn.Server(config), listening)


async def _until_ended(server: uvicorn.Server, listening: socket.socket) -> None:
    """Run the server; whoever cancels it has it end in order."""
    serving = asyncio.ensure_future(server.serve(sockets=[listening]))
    try:
        await asyncio.shield(serving)
    except asyncio.CancelledError:
        server.should_exit = True
        await serving
        raise


def _listening(host: str, port: int) -> socket.socket:
    """A socket that takes connections from now on, before the server is quite ready."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, port), family=family, backlog=128)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise OutsideError(
            f"cannot listen on {host}:{port}: {reason}", hint="--http takes HOST:PORT"
        ) from error


def guarded(app: Application, token: str) -> Application:
    """The application for those who know the token."""
    wanted = f"Bearer {token}".encode()

    async def guard(scope: Message, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            headers = dict(scope.get("headers") or ())
            if not hmac.compare_digest(headers.get(b"authorization", b""), wanted):
                head = [(b"www-authenticate", b"Bearer"), (b"content-length", b"0")]
                await send({"type": "http.response.start", "status": 401, "headers": head})
                await send({"type": "http.response.body", "body": b""})
                return
        await app(scope, receive, send)

    return guard
