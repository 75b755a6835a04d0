"""An HTTP tool against the same request made with the HTTP library alone.

The tool goes the whole path of every call (schema, request, guard, answer read and frozen); the
library posts the same JSON with a client that keeps its connection, and reads the JSON it gets. The
server is a process of its own that answers without looking. Blocks of both take turns, so that a
busy machine strikes both; `ratio` is the time of a block of ours over that of its neighbour.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager

from bench.figures import Figure, figure
from saywhy.clock import SystemClock
from saywhy.tools.call import CallContext, call_tool
from saywhy.tools.http.client import HttpClient
from saywhy.tools.http.settings import HttpSettings
from saywhy.tools.limit import MemoryLimiter
from saywhy.tools.registry import Registry
from saywhy.tools.tool import tool_from_definition

BLOCKS = 60
CALLS = 50
ARGUMENTS = {"amount": 80, "to": "Ann", "note": "rent", "lines": [{"n": 1, "sku": "a"}] * 5}
SERVER = """
import asyncio

BODY = b'{"id": 7, "status": "ok", "items": [{"n": 1, "name": "x"}, {"n": 2, "name": "y"}]}'
HEAD = b"HTTP/1.1 200 OK\\r\\ncontent-type: application/json\\r\\ncontent-length: %d\\r\\n\\r\\n"
ANSWER = HEAD % len(BODY) + BODY


class Server(asyncio.Protocol):
    def connection_made(self, transport):
        self.transport, self.data = transport, b""

    def data_received(self, data):
        self.data += data
        head, end, body = self.data.partition(b"\\r\\n\\r\\n")
        length = head.lower().partition(b"content-length:")[2].split(b"\\r\\n")[0]
        if end and len(body) >= int(length or 0):
            self.data = b""
            self.transport.write(ANSWER)


async def main():
    loop = asyncio.get_running_loop()
    server = await loop.create_server(Server, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


asyncio.run(main())
"""

Ask = Callable[[], Awaitable[object]]


def run() -> list[Figure]:
    """A call of a tool, the bare request, and the ratio of the two."""
    with server() as base:
        return asyncio.run(compared(base))


@contextmanager
def server() -> Iterator[str]:
    """The address of a server in a process of its own."""
    process = subprocess.Popen([sys.executable, "-c", SERVER], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield f"http://127.0.0.1:{process.stdout.readline().strip()}/pay"
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


async def compared(url: str) -> list[Figure]:
    import httpx2

    client = HttpClient(HttpSettings(allow_private=True))
    async with httpx2.AsyncClient() as library:

        async def bare() -> object:
            return (await library.post(url, json=ARGUMENTS)).json()

        tool = tool_asker(client, url)
        assert await tool() == await bare()
        ours: list[float] = []
        theirs: list[float] = []
        for number in range(BLOCKS):
            first, second = ((ours, tool), (theirs, bare))[:: 1 if number % 2 else -1]
            for times, ask in (first, second):
                times.append(await block(ask))
    await client.close()
    pairs = zip(ours, theirs, strict=True)
    return [
        figure("http: a tool, post and read JSON", ours, "us"),
        figure("http: the library alone", theirs, "us"),
        figure("http: ratio tool to library", [mine / theirs_ for mine, theirs_ in pairs], "x"),
    ]


def tool_asker(client: HttpClient, url: str) -> Ask:
    """What makes one call and gives its value as plain data."""
    clock = SystemClock()
    limiter = MemoryLimiter(clock)
    schema = {"type": "object", "properties": {"amount": {"type": "number"}}, "required": ["to"]}
    implementation = {"type": "http", "url": url, "method": "POST"}
    definition = {"id": "Pay", "parameters": schema, "implementation": implementation}
    registry = Registry([tool_from_definition(definition)])
    context = CallContext(session_id="s", user_id="u", key="s:1:1")

    async def ask() -> object:
        answer = await call_tool(
            registry,
            "Pay",
            ARGUMENTS,
            context,
            functions={},
            limiter=limiter,
            clock=clock,
            http=client,
        )
        return answer.value

    return ask


async def block(ask: Ask) -> float:
    """Microseconds for one of `CALLS` calls."""
    start = time.perf_counter()
    for _ in range(CALLS):
        await ask()
    return (time.perf_counter() - start) / CALLS * 1e6
