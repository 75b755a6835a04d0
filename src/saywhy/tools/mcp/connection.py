"""One connection to one MCP server, kept open by a task of its own until it ends or is closed.

The task holds what belongs to the connection, the program or the HTTP session, so that a call that
is cancelled or runs out of time takes nothing down with it. Which connection serves a call, and
when a new one is made, is for `client`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, NoReturn, cast

from saywhy.errors import CallerError
from saywhy.quiet import keep_quiet
from saywhy.tools.http.client import HttpClient
from saywhy.tools.http.secrets import masked
from saywhy.tools.mcp.exchange import Exchange, watch
from saywhy.tools.mcp.server import McpServer
from saywhy.tools.mcp.stdio import Ending, stdio_streams
from saywhy.tools.mcp.trouble import McpTrouble

if TYPE_CHECKING:
    from mcp import Client, MCPError

START_SECONDS: Final = 30.0
"""How long a server may take until it has said which tools it has."""
MAX_PAGES: Final = 100
CLOSE_SECONDS: Final = 8.0

NOT_DONE: Final = frozenset({-32700, -32600, -32601, -32602, -32020, -32022})
"""Errors of the protocol by which a server says that it did not even begin."""
CLOSED: Final = -32000
REQUEST: Final = -32600
_INSTALL: Final = "pip install 'saywhy[mcp]'"


def require_sdk() -> None:
    """Raise `CallerError` that says what to install, where the MCP library is missing."""
    try:
        import mcp  # noqa: F401  # pyright: ignore[reportUnusedImport]
    except ImportError as error:
        raise CallerError(
            f"MCP needs a package that is not installed: {error.name}", hint=_INSTALL
        ) from None
    keep_quiet("mcp", "sse_starlette")


class Connection:
    """Begin with `start`; `ready` waits until calls can be made."""

    def __init__(self, server: McpServer, http: HttpClient) -> None:
        self.server = server
        self.tools: dict[str, Any] = {}
        """Name → tool, as the server listed them."""
        self.calls = 0
        """How many are being made just now."""
        self._http = http
        self._ending = Ending()
        self._exchange = Exchange()
        self._client: Client | None = None
        self._ready = asyncio.Event()
        self._closing = asyncio.Event()
        self._trouble: McpTrouble | None = None
        self._task: asyncio.Task[None] | None = None
        self._stale = False

    @property
    def is_over(self) -> bool:
        """Whether nothing more comes of it."""
        return self._stale or self._ending.closed.is_set() or self._trouble is not None

    def start(self) -> None:
        """Connect in the background."""
        self._task = asyncio.create_task(self._keep())
        alarm = asyncio.get_running_loop().call_later(START_SECONDS, self._give_up)
        self._task.add_done_callback(lambda _: alarm.cancel())

    async def ready(self) -> None:
        """Come back when calls can be made. Raises `McpTrouble` when that will not be."""
        await self._ready.wait()
        if self._trouble is not None:
            raise self._trouble

    def described(self) -> list[dict[str, Any]]:
        """The tools as the server listed them, as JSON."""
        tools = self.tools.values()
        return [one.model_dump(by_alias=True, mode="json", exclude_none=True) for one in tools]

    def retire(self) -> None:
        """Make no more calls through it; the server has forgotten it."""
        self._stale = True
        self._closing.set()

    async def close(self) -> None:
        """End it, and the program with it."""
        self._closing.set()
        if self._task is not None:
            if not self._ready.is_set():
                self._task.cancel()
            done, _ = await asyncio.wait({self._task}, timeout=CLOSE_SECONDS)
            if not done:
                self._task.cancel()
                await asyncio.wait({self._task}, timeout=CLOSE_SECONDS)

    # ------------------------------------------------------------ a call

    async def call(
        self, name: str, arguments: Mapping[str, Any], meta: Mapping[str, Any], exchange: Exchange
    ) -> dict[str, Any]:
        """The answer to a call, a `CallToolResult` as JSON. Raises `McpTrouble`.

        Whoever cancels it has the server told. `exchange` knows how far it got.
        """
        from mcp import MCPError
        from mcp_types import CallToolRequest, CallToolRequestParams
        from pydantic import ValidationError

        assert self._client is not None, "ready() came back"
        params = CallToolRequestParams(
            name=name, arguments=dict(arguments), _meta=cast("Any", dict(meta))
        )
        if self.server.command:
            exchange.progress.sent = True
        self.calls += 1
        try:
            with watch(exchange):
                result = await self._client.session.send_request(
                    CallToolRequest(params=params), _results()
                )
        except MCPError as error:
            await self._raise(error, exchange)
        except (ValidationError, ValueError, RuntimeError) as error:
            first = str(error).partition("\n")[0]
            raise McpTrouble(
                f"{self.server.label} answered what is no result of a tool: {first}",
                "AnswerUnreadable",
                "ask whoever runs the server",
                doubtful=True,
            ) from None
        finally:
            self.calls -= 1
        if result.result_type == "input_required":
            raise McpTrouble(
                f"{self.server.label} asks for something that nobody here can give",
                "InputRequired",
                "the tool wants to question its user; ask in the flow and hand over an argument",
            )
        return result.model_dump(by_alias=True, mode="json", exclude_unset=True)

    async def _raise(self, error: MCPError, exchange: Exchange) -> NoReturn:
        """An error of the protocol as what it means for the call."""
        if exchange.trouble is not None:
            raise exchange.trouble
        if self.server.command and error.code == CLOSED:
            raise await self._lost()
        if self.server.url and error.code == REQUEST and "Session terminated" in error.message:
            raise McpTrouble(f"fetch failed: {self.server.label} began anew", stale=True)
        lost, status = error.code == CLOSED, exchange.status
        text = self._masked(" ".join(error.message.split())[:500])
        if lost and text.startswith("SSE stream failed"):
            raise McpTrouble(
                f"The answer of {self.server.label} cannot be read: {text}",
                "AnswerUnreadable",
                "HttpSettings(max_bytes=…) of the engine allows larger ones",
                doubtful=True,
            )
        if status is not None and status >= 400:
            message = f"HTTP {status} of {self.server.label}: {text}"
        else:
            message = f"fetch failed: {self.server.label}: {text}" if lost else text
        refusal = status is not None and 400 <= status < 500
        raise McpTrouble(
            message or f"{self.server.label} answered with error {error.code}",
            "FetchFailed" if lost else "McpError",
            passing=lost or (status or 0) >= 500,
            doubtful=error.code not in NOT_DONE and not refusal,
            status=status if status != 200 else None,
        )

    async def _lost(self) -> McpTrouble:
        """The program ended while it was being waited for."""
        if self._task is not None:
            await asyncio.wait({self._task}, timeout=CLOSE_SECONDS)
        label, limit = self.server.label, self._http.settings.max_bytes
        if self._ending.is_flooded:
            return McpTrouble(
                f"The answer of {label} is larger than {limit} bytes",
                "AnswerTooLarge",
                "HttpSettings(max_bytes=…) of the engine allows more",
                doubtful=True,
            )
        return McpTrouble(
            f"fetch failed: the MCP server {label} {self._ending.describe()} before it answered",
            "FetchFailed",
            self._masked(self._ending.hint()),
            passing=True,
            doubtful=True,
        )

    def _masked(self, text: str) -> str:
        return masked(text, self.server.secrets)

    # ------------------------------------------------------------ keeping it

    def _give_up(self) -> None:
        if not self._ready.is_set() and self._task is not None:
            self._trouble = McpTrouble(
                f"the MCP server {self.server.label} was not ready after {START_SECONDS:g} seconds",
                "McpStart",
                self._masked(self._ending.hint()),
            )
            self._task.cancel()

    async def _keep(self) -> None:
        """Hold the connection open until it ends or is closed."""
        from mcp import Client

        try:
            with watch(self._exchange):
                async with Client(
                    self._transport(), cache=None, client_info=_ourselves()
                ) as client:
                    self.tools = await _tools_of(client)
                    self._client = client
                    self._ready.set()
                    await _first(self._closing, self._ending.closed)
        except asyncio.CancelledError:
            self._fail(McpTrouble("the connection was closed"))
            raise
        except BaseException as error:
            self._fail(self._start_trouble(error))
            if not isinstance(error, Exception):
                raise
        finally:
            self._ending.closed.set()
            self._ready.set()

    def _fail(self, trouble: McpTrouble) -> None:
        if self._trouble is None and self._client is None:
            self._trouble = trouble

    def _transport(self) -> Any:
        limit = self._http.settings.max_bytes
        if self.server.command:
            return stdio_streams(self.server, limit, self._ending)
        from saywhy.tools.mcp.web import web_streams

        return web_streams(self.server, self._http)

    def _start_trouble(self, error: BaseException) -> McpTrouble:
        """Why no connection came to be."""
        for inner in _inside(error):
            if isinstance(inner, McpTrouble):
                return inner
        if self._exchange.trouble is not None:
            return self._exchange.trouble
        label = self.server.label
        if self.server.command and (self._ending.code is not None or self._ending.is_flooded):
            message = f"the MCP server {label} {self._ending.describe()} before it was ready"
            return McpTrouble(message, "McpStart", self._masked(self._ending.hint()))
        inner = next(iter(_inside(error)), error)
        text = self._masked(" ".join(str(inner).split())[:300]) or type(inner).__name__
        if (self._exchange.status or 200) >= 400:
            text = f"HTTP {self._exchange.status}, {text}"
        return McpTrouble(
            f"{label} does not answer as an MCP server does: {text}",
            "McpStart",
            self._masked(self._ending.hint()) or "is it one?",
        )


async def _tools_of(client: Client) -> dict[str, Any]:
    """Every tool of a server, by name."""
    from mcp_types import PaginatedRequestParams

    found: dict[str, Any] = {}
    cursor: str | None = None
    for _ in range(MAX_PAGES):
        params = PaginatedRequestParams(cursor=cursor) if cursor else None
        page = await client.session.list_tools(params=params)
        found |= {tool.name: tool for tool in page.tools}
        cursor = page.next_cursor
        if not cursor:
            break
    return found


def _results() -> Any:
    """What may come of a call; made once."""
    if not _ADAPTER:
        from mcp_types import CallToolResult, InputRequiredResult
        from pydantic import TypeAdapter

        _ADAPTER.append(TypeAdapter(CallToolResult | InputRequiredResult))
    return _ADAPTER[0]


_ADAPTER: Final[list[Any]] = []


def _ourselves() -> Any:
    from importlib.metadata import version

    from mcp_types import Implementation

    return Implementation(name="saywhy", version=version("saywhy"))


async def _first(*events: asyncio.Event) -> None:
    """Come back when one of the events is set."""
    waiting = [asyncio.ensure_future(event.wait()) for event in events]
    try:
        await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for one in waiting:
            one.cancel()
        with suppress(asyncio.CancelledError):
            await asyncio.gather(*waiting, return_exceptions=True)


def _inside(error: BaseException) -> list[BaseException]:
    """The errors in a group of errors, however deep."""
    if not isinstance(error, BaseExceptionGroup):
        return [error]
    return [one for inner in error.exceptions for one in _inside(inner)]
