"""A chat-completions server that says again what it was told, in a thread with a loop of its own.

Streams come in chunks with time between them, so that they can be cut off; a tool that is offered
is called; the key `bad` is refused.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

HEAD: Final = b"HTTP/1.1 %d X\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%s"
STREAM: Final = (
    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
)
REFUSED: Final = {"error": {"message": "no such key", "type": "invalid_request_error"}}
USAGE: Final = {"prompt_tokens": 9, "completion_tokens": 4, "total_tokens": 13}
CALL: Final = {
    "id": "call_1",
    "type": "function",
    "function": {"name": "look_up", "arguments": '{"article": "A7"}'},
}


class EchoServer:
    """Its address, and how many requests it is answering."""

    def __init__(self) -> None:
        self.base = ""
        self.busy = 0

    async def serve(self, ready: threading.Event, stop: asyncio.Event) -> None:
        server = await asyncio.start_server(self._connection, "127.0.0.1", 0)
        self.base = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        ready.set()
        await stop.wait()
        server.close()

    async def _connection(self, reader: asyncio.StreamReader, out: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).lower()
                size = head.split(b"content-length:")[1].split(b"\r\n")[0]
                body = json.loads(await reader.readexactly(int(size)))
                self.busy += 1
                try:
                    await self._answer(out, b"bearer bad" in head, body)
                finally:
                    self.busy -= 1
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            pass  # the client has let go, or the server ends
        finally:
            out.close()

    async def _answer(self, out: asyncio.StreamWriter, is_bad: bool, body: dict[str, Any]) -> None:
        last = body["messages"][-1]
        wants_tool = bool(body.get("tools")) and last["role"] == "user"
        reason = "tool_calls" if wants_tool else "stop"
        base = {"id": "x", "created": 1, "model": "echo-1"}
        if is_bad:
            _whole(out, 401, REFUSED)
        elif body.get("stream"):
            out.write(STREAM)
            for delta in _deltas(last["content"], wants_tool):
                _chunk(out, {**base, "choices": [{"index": 0, "delta": delta}]})
                await out.drain()
                await asyncio.sleep(0.001)
            _chunk(out, {**base, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
            _chunk(out, {**base, "choices": [], "usage": USAGE})
            _chunk(out, None)
            out.write(b"0\r\n\r\n")
        else:
            message: dict[str, Any] = {"role": "assistant", "content": last["content"]}
            if wants_tool:
                message |= {"content": None, "tool_calls": [CALL]}
            choice = {"index": 0, "message": message, "finish_reason": reason}
            _whole(out, 200, {**base, "choices": [choice], "usage": USAGE})
        await out.drain()


def _deltas(text: str, wants_tool: bool) -> list[dict[str, Any]]:
    if wants_tool:
        return [{"role": "assistant", "tool_calls": [{"index": 0, **CALL}]}]
    return [{"content": text[at : at + 9]} for at in range(0, len(text), 9)]


def _whole(out: asyncio.StreamWriter, status: int, body: dict[str, Any]) -> None:
    data = json.dumps(body).encode()
    out.write(HEAD % (status, len(data), data))


def _chunk(out: asyncio.StreamWriter, event: dict[str, Any] | None) -> None:
    data = b"data: %s\n\n" % (b"[DONE]" if event is None else json.dumps(event).encode())
    out.write(b"%x\r\n%s\r\n" % (len(data), data))


@contextmanager
def echo_server() -> Iterator[EchoServer]:
    """One that is there until the block ends."""
    server, ready, stop = EchoServer(), threading.Event(), asyncio.Event()
    loop = asyncio.new_event_loop()

    def run() -> None:
        with asyncio.Runner(loop_factory=lambda: loop) as runner:
            runner.run(server.serve(ready, stop))

    thread = threading.Thread(target=run)
    thread.start()
    assert ready.wait(10)
    try:
        yield server
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(10)
