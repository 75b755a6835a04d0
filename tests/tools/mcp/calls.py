"""MCP tools for tests: the bank server as a program or over HTTP, and one way to call it."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from saywhy.clock import Clock, SystemClock
from saywhy.tools.answer import ToolAnswer
from saywhy.tools.call import CallContext, call_tool
from saywhy.tools.http.client import HttpClient
from saywhy.tools.http.settings import HttpSettings
from saywhy.tools.limit import MemoryLimiter
from saywhy.tools.registry import Registry
from saywhy.tools.tool import Tool, tool_from_definition

BANK = Path(__file__).parent.parent.parent / "cases" / "mcp" / "bank.py"
LOCAL = HttpSettings(allow_private=("127.0.0.1",), max_bytes=100_000)
KEY = "s-1:4:2"


def mcp_tool(
    name: str, server: Mapping[str, Any], keys: Mapping[str, Any] | None = None, **more: Any
) -> Tool:
    """A tool of a server; `keys` are of the definition itself, `more` of its implementation."""
    implementation = {"type": "mcp", "server": server, "tool": name, **more}
    parameters = {"type": "object"}
    definition = {"id": name, "parameters": parameters, "implementation": implementation}
    return tool_from_definition(definition | dict(keys or {}))


async def call(
    client: HttpClient,
    tool: Tool,
    args: Mapping[str, Any] | None = None,
    *,
    clock: Clock | None = None,
    filled: Mapping[str, str] | None = None,
    key: str = KEY,
) -> ToolAnswer:
    """One call, through the one path that all calls take."""
    clock = clock or SystemClock()
    return await call_tool(
        Registry([tool]),
        tool.id,
        args or {},
        CallContext(session_id="s-1", user_id="u-1", key=key),
        functions={},
        limiter=MemoryLimiter(clock),
        clock=clock,
        http=client,
        filled=filled,
    )


def program(ledger: Path, **more: Any) -> dict[str, Any]:
    """The bank as a program."""
    return {"command": [sys.executable, str(BANK), str(ledger)], **more}


def ledger_of(path: Path) -> list[dict[str, Any]]:
    """Every call that the bank was asked to carry out."""
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def free_port() -> int:
    """A port that nobody listens on just now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def bank_over_http(ledger: Path, port: int, *options: str) -> Iterator[subprocess.Popen[bytes]]:
    """The bank as a server of its own, listening."""
    command = [sys.executable, str(BANK), str(ledger), "--http", str(port), *options]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for_port(port, process)
        yield process
    finally:
        process.kill()
        process.wait()


def wait_for_port(port: int, process: subprocess.Popen[bytes]) -> None:
    """Come back when somebody listens."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and process.poll() is None:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise AssertionError(f"nothing listens on port {port}")
