"""A server on this machine that says what it is told, piece by piece, and sees who hangs up.

It speaks just enough HTTP for the vendors' packages: one request a connection, an answer in chunks.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from types import TracebackType
from typing import Any, Literal, Self

Then = Literal["end", "hang", "drop"]
"""After the last piece: the answer is over, nothing more comes, or the connection is cut."""


class Line:
    """`async with Line([b"data: …"], then="hang") as line:` listens at `line.base`."""

    def __init__(
        self,
        pieces: Sequence[bytes],
        *,
        then: Then = "end",
        status: int = 200,
        headers: Mapping[str, str] | None = None,
        kind: str = "text/event-stream",
    ) -> None:
        self.pieces = pieces
        self.then = then
        self.status = status
        self.headers = {"content-type": kind, **(headers or {})}
        self.requests: list[Any] = []
        """The bodies that came."""
        self.reached = asyncio.Event()
        """All pieces are out."""
        self.hung_up = asyncio.Event()
        """The other side closed its connection before the answer was over."""
        self._served: set[asyncio.Task[Any]] = set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        port = self._server.sockets[0].getsockname()[1]
        self.base = f"http://127.0.0.1:{port}"
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.close()
        for task in self._served:
            task.cancel()
        await asyncio.gather(*self._served, return_exceptions=True)

    @property
    def tasks(self) -> set[asyncio.Task[Any]]:
        """Its own, one a connection."""
        return self._served

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._served.add(task)
        try:
            with suppress(ConnectionError, asyncio.IncompleteReadError):
                await self._answer(reader, writer)
        finally:
            self._served.discard(task)
            writer.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        length = int(head.partition("content-length: ")[2].partition("\r\n")[0] or 0)
        self.requests.append(json.loads(await reader.readexactly(length) or b"null"))
        lines = [f"HTTP/1.1 {self.status} Told", "transfer-encoding: chunked", "connection: close"]
        lines += [f"{name}: {value}" for name, value in self.headers.items()]
        writer.write("\r\n".join([*lines, "", ""]).encode())
        for piece in self.pieces:
            writer.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            await writer.drain()
        self.reached.set()
        if self.then == "hang":
            if not await reader.read():
                self.hung_up.set()
        elif self.then == "end":
            writer.write(b"0\r\n\r\n")
            await writer.drain()
        else:
            writer.transport.abort()


Sse = Callable[[Sequence[Any]], list[bytes]]


def openai_sse(events: Sequence[Any]) -> list[bytes]:
    """Events as a chat-completions server sends them."""
    return [*(f"data: {json.dumps(one)}\n\n".encode() for one in events), b"data: [DONE]\n\n"]


def anthropic_sse(events: Sequence[Any]) -> list[bytes]:
    """Events as Anthropic's server sends them."""
    return [f"event: {one['type']}\ndata: {json.dumps(one)}\n\n".encode() for one in events]


def google_sse(events: Sequence[Any]) -> list[bytes]:
    """Events as Google's server sends them."""
    return [f"data: {json.dumps(one)}\r\n\r\n".encode() for one in events]
