"""A connection to an MCP server that is a program: started, spoken with over its streams, ended.

The program gets the environment that was declared for it and no more, a line of its answers has a
limit, and it is gone when the connection is: asked first, then told, with all it started.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any, Final

from saywhy.tools.mcp.server import McpServer
from saywhy.tools.mcp.trouble import McpTrouble

if TYPE_CHECKING:
    from asyncio.subprocess import Process

GRACE_SECONDS: Final = 2.0
"""How long a program may take to end after its input was closed, and again after it was told."""
LAST_WORDS: Final = 2000
"""Characters kept of what a program writes to its error stream."""
_SHOWN: Final = 300
_WINDOWS_NEEDS: Final = ("SYSTEMROOT", "PATHEXT", "TEMP")


class Ending:
    """What is known of the end of a program, for whoever waits for its answer."""

    def __init__(self) -> None:
        self.closed = asyncio.Event()
        """Set when nothing more can come from it."""
        self.is_flooded = False
        """Whether a line of it was too long, so that we ended it."""
        self.code: int | None = None
        self.words = ""
        """The end of what it wrote to its error stream."""

    def describe(self) -> str:
        """In words: `ended with exit code 3`."""
        if self.is_flooded:
            return "wrote too much at once"
        if self.code is None:
            return "closed its output"
        if self.code < 0:
            return f"was ended by signal {-self.code}"
        return f"ended with exit code {self.code}"

    def hint(self) -> str:
        """Its own last line, which mostly says what is wrong."""
        lines = [line.strip() for line in self.words.splitlines() if line.strip()]
        return f"it wrote: {lines[-1][:_SHOWN]}" if lines else ""


@asynccontextmanager
async def stdio_streams(
    server: McpServer, max_bytes: int, ending: Ending
) -> AsyncGenerator[tuple[Any, Any]]:
    """Start the program; gives the streams of messages from it and to it, and ends it after."""
    import anyio
    from mcp.shared.message import SessionMessage

    process = await _start(server, max_bytes)
    to_us, from_server = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    to_server, from_us = anyio.create_memory_object_stream[SessionMessage](0)
    try:
        async with anyio.create_task_group() as group:
            group.start_soon(_read, process, to_us, ending)
            group.start_soon(_write, process, from_us, to_us, ending)
            group.start_soon(_listen, process, ending)
            try:
                yield from_server, to_server
            finally:
                with anyio.CancelScope(shield=True):
                    ending.code = await _end(process)
                group.cancel_scope.cancel()
    finally:
        for stream in (to_us, from_server, to_server, from_us):
            stream.close()
        if process.returncode is None:  # even the ending was cut short
            _kill(process)
        _release(process)


async def _start(server: McpServer, max_bytes: int) -> Process:
    names = _WINDOWS_NEEDS if sys.platform == "win32" else ()
    extra = {name: os.environ[name] for name in names if name in os.environ}
    program = server.command[0]
    try:
        return await asyncio.create_subprocess_exec(
            *server.command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=extra | server.environment(os.environ),
            cwd=server.cwd or None,
            limit=max_bytes,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        reason = (getattr(error, "strerror", None) or str(error)).lower()
        hint = "check `command` and `cwd` of the tool's server"
        if isinstance(error, FileNotFoundError) and error.filename == program:
            hint = f"is {program} installed, and in the PATH?"
        raise McpTrouble(
            f"the MCP server {server.label} cannot be started: {reason}", "McpStart", hint
        ) from None


async def _read(process: Process, to_us: Any, ending: Ending) -> None:
    """Hand on what the program says, line by line, until it says no more."""
    import anyio
    from mcp.shared.message import SessionMessage
    from mcp_types import jsonrpc_message_adapter

    assert process.stdout is not None
    try:
        while line := await process.stdout.readline():
            with suppress(ValueError):  # programs write all kinds of things to their output
                message = jsonrpc_message_adapter.validate_json(line, by_name=False)
                await to_us.send(SessionMessage(message))
    except ValueError:
        ending.is_flooded = True
    except (anyio.BrokenResourceError, anyio.ClosedResourceError):
        pass  # nobody listens any more
    finally:
        ending.closed.set()
        to_us.close()


async def _write(process: Process, from_us: Any, to_us: Any, ending: Ending) -> None:
    assert process.stdin is not None
    try:
        async for message in from_us:
            text = message.message.model_dump_json(by_alias=True, exclude_unset=True)
            process.stdin.write(text.encode("utf-8", "replace") + b"\n")
            await process.stdin.drain()
    except (OSError, RuntimeError):  # it no longer reads: whoever waits must not wait for ever
        ending.closed.set()
        to_us.close()


async def _listen(process: Process, ending: Ending) -> None:
    """Keep the end of what the program writes to its error stream."""
    assert process.stderr is not None
    while part := await process.stderr.read(4096):
        ending.words = (ending.words + part.decode("utf-8", "replace"))[-LAST_WORDS:]


async def _end(process: Process) -> int | None:
    """End the program: close its input, then ask, then force; each step only when needed.

    Gives its exit code where it ended by itself.
    """
    assert process.stdin is not None
    with suppress(OSError, RuntimeError):
        process.stdin.close()
    for step in (None, signal.SIGTERM, getattr(signal, "SIGKILL", signal.SIGTERM)):
        if step is not None:
            _kill(process, step)
        with suppress(TimeoutError):
            async with asyncio.timeout(GRACE_SECONDS):
                await _gone(process)
                _kill(process)  # what it started and left behind
                return process.returncode if step is None else None
    return None


async def _gone(process: Process) -> None:
    # Not `process.wait()`: that waits for its streams as well, which a grandchild may hold open.
    while process.returncode is None:  # noqa: ASYNC110 - nothing else tells
        await asyncio.sleep(0.01)


def _kill(process: Process, how: int | None = None) -> None:
    """Send a signal to the program and all that it started."""
    with suppress(ProcessLookupError, PermissionError):
        if sys.platform == "win32":
            process.kill()
        else:
            os.killpg(process.pid, signal.SIGKILL if how is None else how)


def _release(process: Process) -> None:
    """Close the pipes, which a grandchild may still hold."""
    transport = getattr(process, "_transport", None)
    if transport is not None:
        with suppress(PermissionError, ProcessLookupError):
            transport.close()


__all__ = ["Ending", "stdio_streams"]
