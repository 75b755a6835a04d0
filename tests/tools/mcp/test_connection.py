"""Promise: a connection outlives calls and turns, and is made anew, within bounds, when lost."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from saywhy.tools.http.client import HttpClient
from saywhy.tools.http.settings import HttpSettings
from saywhy.tools.mcp import connection as connections
from saywhy.values import raw
from tests.tools.mcp.calls import call, mcp_tool, program
from tests.tools.mcp.conftest import Bank

Make = Callable[..., Bank]


def is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


async def test_a_life(fresh: Make) -> None:
    """A server that dies in mid-call leaves doubt and is started again; closing ends it."""
    bank = fresh()
    first = raw((await bank("environment")).value)["pid"]
    died = await bank("die", {"code": 3})
    assert died.fault_message is not None
    assert died.fault_message.startswith("fetch failed: the MCP server ")
    assert died.fault_message.endswith(" ended with exit code 3 before it answered")
    assert died.fault_name == "FetchFailed"
    assert died.fault_hint == "it wrote: the vault is open"
    assert died.may_have_happened
    second = raw((await bank("environment")).value)["pid"]
    assert second != first
    flooded = await bank("flood", {"size": 200_000})
    assert flooded.fault_message is not None
    assert flooded.fault_message.endswith(" is larger than 100000 bytes")
    assert flooded.fault_name == "AnswerTooLarge"
    third = raw((await bank("environment")).value)["pid"]
    os.kill(third, 9)
    while is_alive_and_no_zombie(third):
        await asyncio.sleep(0.01)
    # The end of a server is noticed a moment later; a call sent in that moment is lost with it.
    for _ in range(50):
        answer = await bank("contents", {"kind": "text"})
        if answer.fault_message is None:
            break
        await asyncio.sleep(0.05)
    assert answer.value == "three"
    last = raw((await bank("environment")).value)["pid"]
    await bank.client.close()
    assert not any(is_alive(one) for one in (first, second, third, last))
    assert len(bank.asked_for("die")) == 1, "what died in mid-call is not sent again on its own"


def is_alive_and_no_zombie(process: int) -> bool:
    status = Path(f"/proc/{process}/stat")
    if not status.exists():
        return is_alive(process) if sys.platform != "linux" else False
    return status.read_text().rpartition(")")[2].split()[0] != "Z"


async def test_a_loop_that_ends_takes_the_program_along(fresh: Make) -> None:
    """When the task that keeps a connection is cancelled, as by the end of a loop, it ends too."""
    bank = fresh()
    process = raw((await bank("environment")).value)["pid"]
    for task in asyncio.all_tasks() - {asyncio.current_task()}:
        task.cancel()
    async with asyncio.timeout(10):
        while is_alive(process):
            await asyncio.sleep(0.02)
    await bank.client.close()


@pytest.mark.parametrize(
    ("server", "message", "hint"),
    [
        (
            {"command": ["no-such-program-here"]},
            "the MCP server no-such-program-here cannot be started: no such file or directory",
            "is no-such-program-here installed, and in the PATH?",
        ),
        (
            {"command": [sys.executable, "-c", "pass"], "cwd": "no-such-folder"},
            f"the MCP server {sys.executable} -c pass cannot be started: no such file or directory",
            "check `command` and `cwd` of the tool's server",
        ),
        (
            {"command": [sys.executable, "-c", "raise SystemExit('no license')"]},
            f"the MCP server {sys.executable} -c raise SystemExit('no license')",
            "it wrote: no license",
        ),
    ],
)
async def test_no_start(server: dict[str, Any], message: str, hint: str) -> None:
    """A server that does not start is named with what it said; no doubt is left."""
    client = HttpClient()
    answer = await call(client, mcp_tool("t", server, retries=3))
    await client.close()
    assert answer.fault_message is not None
    assert answer.fault_message.startswith(message)
    assert answer.fault_hint == hint
    assert answer.attempts == ()
    assert not answer.may_have_happened


async def test_not_ready_in_time() -> None:
    """A server that never gets ready uses up the time limit of the call, and no doubt is left."""
    client = HttpClient()
    server = {"command": [sys.executable, "-c", "import time; time.sleep(60)"]}
    answer = await call(client, mcp_tool("t", server, timeout=300))
    assert answer.fault_message is not None
    assert answer.fault_message.startswith("Request timeout after 300ms: ")
    assert answer.fault_message.endswith(" was not ready")
    assert not answer.may_have_happened
    await client.close()


async def test_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor does it wait for ever when the call has time enough."""
    monkeypatch.setattr(connections, "START_SECONDS", 0.3)
    client = HttpClient()
    server = {"command": [sys.executable, "-c", "import time; time.sleep(60)"]}
    answer = await call(client, mcp_tool("t", server))
    assert answer.fault_message is not None
    assert answer.fault_message.endswith(" was not ready after 0.3 seconds")
    await client.close()


async def test_no_mcp_server() -> None:
    """A program that speaks something else is named as such."""
    client = HttpClient()
    code = "import sys\nfor line in sys.stdin: print('hello', flush=True)"
    answer = await call(
        client, mcp_tool("t", {"command": [sys.executable, "-c", code]}, timeout=500)
    )
    assert answer.fault_message is not None
    assert "was not ready" in answer.fault_message
    await client.close()


async def test_secrets_stay_secret(tmp_path: Path) -> None:
    """What a server writes before it ends is told without the secrets it was given."""
    client = HttpClient()
    code = "import os, sys; sys.exit('bad token ' + os.environ['API_TOKEN'])"
    env = {"API_TOKEN": "t0psecret"}
    answer = await call(
        client, mcp_tool("t", {"command": [sys.executable, "-c", code], "env": env})
    )
    assert answer.fault_hint == "it wrote: bad token [REDACTED]"
    await client.close()


async def test_room(tmp_path: Path) -> None:
    """Only so many servers are kept; the one that was idle for longest makes room."""
    client = HttpClient(HttpSettings())
    client.mcp._max_connections = 1  # pyright: ignore[reportPrivateUsage]
    pids: list[int] = []
    for name in ("a", "b"):
        bank = Bank(client, tmp_path / name, {})
        bank.server = program(tmp_path / name)
        pids.append(raw((await bank("environment")).value)["pid"])
    async with asyncio.timeout(10):
        while is_alive(pids[0]):
            await asyncio.sleep(0.02)
    assert is_alive(pids[1])
    await client.close()
    assert not is_alive(pids[1])
