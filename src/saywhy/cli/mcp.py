"""`saywhy mcp`: flows and tools for MCP clients. What is offered is answered by `server.mcp`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated

import typer

from saywhy.cli.options import (
    ExpressionsOption,
    Files,
    FunctionsOption,
    GlobalsOption,
    PrivateOption,
    StoreOption,
    Where,
    store_path,
)
from saywhy.cli.output import err
from saywhy.errors import CallerError

if TYPE_CHECKING:
    from saywhy.server.mcp.service import McpService

DEFAULT_HOST = "127.0.0.1"


def mcp(
    files: Files,
    functions: FunctionsOption = None,
    globals: GlobalsOption = None,
    store: StoreOption = None,
    http: Annotated[
        str | None,
        typer.Option("--http", metavar="HOST:PORT", help="Serve over HTTP instead of the streams."),
    ] = None,
    user: Annotated[str, typer.Option("--user", metavar="ID", help="Who is talking.")] = "mcp",
    language: Annotated[
        str, typer.Option("--lang", metavar="XX", help="The user's language, like `es`.")
    ] = "en",
    flows_only: Annotated[
        bool, typer.Option("--flows-only", help="Offer no tools, so that all goes through flows.")
    ] = False,
    private: PrivateOption = None,
    expressions: ExpressionsOption = Where.IN_PROCESS,
) -> None:
    """Offer primary flows and tools to MCP clients.

    A program that is an MCP client starts this command and talks with it over its streams. With
    --http it listens for clients instead; beyond this machine only with a secret in the variable
    SAYWHY_MCP_TOKEN, which every request must carry. Conversations are kept in the store.
    """
    import asyncio

    from saywhy.cli.chat import engine_of
    from saywhy.cli.given import Given
    from saywhy.server.mcp.service import McpService

    host, port = address_of(http) if http else ("", 0)
    given = Given.of(functions, globals)
    engine = engine_of(
        files,
        given,
        store_path(store),
        guidance=False,
        expressions=expressions,
        private=private or (),
        tools_alone=not flows_only,
        language=language,
    )
    service = McpService(engine, user_id=user, with_tools=not flows_only)
    if not service.offers:
        raise CallerError(
            "there is nothing to offer: no flow here is primary",
            hint='"primary": true in a flow lets users begin it',
        )
    try:
        asyncio.run(_serve(service, host, port))
    except KeyboardInterrupt:
        err().line("ended; conversations are kept")


async def _serve(service: McpService, host: str, port: int) -> None:
    from saywhy.server.mcp.serve import TOKEN, serve_http, serve_stdio

    async with service.engine:
        if host:
            token = os.environ.get(TOKEN, "")
            await serve_http(service, host, port, token=token, on_ready=_announce)
        else:
            await serve_stdio(service)


def _announce(address: str) -> None:
    err().line(f"listening at {address}")


def address_of(given: str) -> tuple[str, int]:
    """Host and port of `HOST:PORT`, `:PORT` or `PORT`. Raises `CallerError`."""
    host, _, port = given.rpartition(":")
    host = host.strip("[]") or DEFAULT_HOST
    if not port.isdecimal() or int(port) > 65535:
        raise CallerError(f"--http takes HOST:PORT, not {given}", hint="127.0.0.1:8000")
    return host, int(port)
