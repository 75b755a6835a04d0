"""Whole conversations over MCP: as a client of a real server, and as a server of a real client."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from mcp import Client

from saywhy.cli.main import main
from saywhy.runtime.engine import Engine
from saywhy.server.mcp.serve import serve_http
from saywhy.server.mcp.service import McpService
from saywhy.stores.sqlite import SqliteStore
from saywhy.tools.http.settings import HttpSettings

BANK = Path(__file__).parent.parent / "cases" / "mcp" / "bank.py"
CODE = "import sys; from saywhy.cli.main import main; sys.exit(main(sys.argv[1:]))"


def ledger_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def pay_flow(**keys: Any) -> dict[str, Any]:
    charge = {
        "id": "charge",
        "type": "CALL-TOOL",
        "tool": "charge",
        "args": {"account": "{{account}}", "amount": "{{sum}}"},
        "variable": "receipt",
    }
    return {
        "id": "pay",
        "name": "Pay",
        "version": "1.0",
        "primary": True,
        "prompt": "pay",
        "description": "Charges an account",
        "steps": [
            {"id": "who", "type": "SAY-GET", "variable": "account", "value": "Which account?"},
            {"id": "much", "type": "SAY-GET", "variable": "amount", "value": "How much?"},
            {"id": "sum", "type": "SET", "variable": "sum", "value": "Number(amount)"},
            {
                "id": "look",
                "type": "CALL-TOOL",
                "tool": "balance",
                "args": {"account": "{{account}}"},
                "variable": "balance",
            },
            {
                "id": "enough",
                "type": "CASE",
                "branches": {
                    "condition: balance.amount >= sum": charge | keys,
                    "default": {"id": "no", "type": "SAY", "value": "Only {{balance.amount}}."},
                },
            },
            {"id": "done", "type": "SAY", "value": "Charged {{receipt.charged}}."},
        ],
    }


async def test_tools_of_a_server_in_a_flow(tmp_path: Path, capsys: Any) -> None:
    """Import the tools, check, pay: each call is made once, with the key of its step."""
    ledger = tmp_path / "ledger.jsonl"
    tools = tmp_path / "bank.json"
    bank = [sys.executable, str(BANK), str(ledger)]
    command = ["tools", "import", "mcp", "--out", str(tools), *bank]
    assert await asyncio.to_thread(main, command) == 0
    flows = tmp_path / "pay.json"
    flows.write_text(json.dumps([pay_flow()]), encoding="utf-8")
    assert await asyncio.to_thread(main, ["check", str(flows), str(tools)]) == 0
    store = SqliteStore(tmp_path / "pay.db")
    engine = Engine(
        flows=str(flows),
        tools=str(tools),
        store=store,
        guidance={"enabled": False},
        http=HttpSettings(),
    )
    async with engine:
        assert (await engine.take_turn("s", "Pay")).response == "Which account?"
        await engine.take_turn("s", "A-1")
        paid = await engine.take_turn("s", "80", message_id="m-3")
        assert paid.response == "Charged 80."
        assert [one["tool"] for one in paid.last_turn_tool_calls] == ["balance", "charge"]
        assert (await engine.take_turn("s", "80", message_id="m-3")).repeated
        for words in ("Pay", "A-2", "81"):
            refused = await engine.take_turn("s", words)
        assert refused.response is not None
        assert refused.response.startswith("Only 80.5.")
        story = (await engine.trace("s")).narrative()
        assert "charge" in story
    calls = ledger_of(ledger)
    assert [one["tool"] for one in calls] == ["balance", "charge", "balance"]
    assert calls[1]["args"] == {"account": "A-1", "amount": 80.0}
    assert str(calls[1]["key"]).startswith("s:3:")


async def test_a_server_that_dies_leaves_doubt(tmp_path: Path) -> None:
    """The bank dies while it charges: `onUnknown` of the flow handles it, nothing is repeated."""
    ledger = tmp_path / "ledger.jsonl"
    server = {"command": [sys.executable, str(BANK), str(ledger)]}
    tool = {
        "id": "die",
        "name": "die",
        "parameters": {"type": "object"},
        "implementation": {"type": "mcp", "server": server, "tool": "die"},
    }
    steps = [
        {
            "id": "charge",
            "type": "CALL-TOOL",
            "tool": "die",
            "args": {"code": 3},
            "variable": "r",
            "onUnknown": {"id": "ask", "type": "SAY", "value": "The bank will call you."},
        }
    ]
    flow = {"id": "pay", "name": "Pay", "version": "1.0", "primary": True, "steps": steps}
    engine = Engine(
        flows=[flow], tools=[tool], store=SqliteStore(tmp_path / "d.db"), validate_on_init=False
    )
    async with engine:
        reply = await engine.take_turn("s", "Pay")
    assert reply.response is not None
    assert "The bank will call you." in reply.response
    assert [one["tool"] for one in ledger_of(ledger)] == ["die"]


async def test_flows_for_a_client_whose_server_is_killed(tmp_path: Path) -> None:
    """A client begins a payment, its server is killed, another goes on with the conversation."""
    ledger = tmp_path / "ledger.jsonl"
    server = {"command": [sys.executable, str(BANK), str(ledger)]}
    tools = [
        {
            "id": name,
            "name": name,
            "parameters": {"type": "object"},
            "implementation": {"type": "mcp", "server": server, "tool": name},
        }
        for name in ("balance", "charge")
    ]
    files = tmp_path / "all.json"
    files.write_text(json.dumps({"flows": [pay_flow()], "tools": tools}), encoding="utf-8")
    arguments = ["mcp", str(files), "--store", str(tmp_path / "c.db"), "--http", "127.0.0.1:0"]
    first, address = started(arguments)
    try:
        async with Client(address) as client:
            begun = (await client.call_tool("pay", {})).structured_content
            conversation = begun["conversation"]
            words = {"conversation": conversation, "text": "A-1"}
            assert (await client.call_tool("reply", words)).structured_content["waiting"]
            os.kill(first.pid, signal.SIGKILL)
    except BaseExceptionGroup:
        pass  # how the library tells that the server is gone
    finally:
        finish(first)
    second, address = started(arguments)
    try:
        async with Client(address) as client:
            words = {"conversation": conversation, "text": "80"}
            meta: Any = {"saywhy/idempotencyKey": "pay-80"}
            for _ in range(2):
                ended = await client.call_tool("reply", words, meta=meta)
                assert ended.structured_content["reply"] == "Charged 80."
    finally:
        finish(second)
    assert [one["tool"] for one in ledger_of(ledger)] == ["balance", "charge"]


def started(arguments: list[str]) -> tuple[subprocess.Popen[str], str]:
    """A `saywhy mcp` of its own, and its address."""
    process = subprocess.Popen(
        [sys.executable, "-c", CODE, *arguments], stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    for line in process.stderr:
        if line.startswith("listening at "):
            return process, line.removeprefix("listening at ").strip()
    raise AssertionError("the server did not begin to listen")


def finish(process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(10)
    finally:
        process.kill()
        process.communicate()


async def test_saywhy_on_both_ends(tmp_path: Path) -> None:
    """A flow calls a tool of another saywhy over HTTP; the key goes through to the function."""
    keys: list[str] = []

    def charge(args: dict[str, Any], context: Any) -> dict[str, Any]:
        keys.append(context.key)
        return {"charged": args["amount"]}

    schema = {"type": "object", "properties": {"amount": {"type": "number"}}}
    far = Engine(
        tools=[
            {
                "id": "charge",
                "name": "charge",
                "parameters": schema,
                "implementation": {"type": "local", "function": "charge"},
            }
        ],
        functions={"charge": charge},
        validate_on_init=False,
    )
    told: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    serving = asyncio.create_task(
        serve_http(McpService(far), "127.0.0.1", 0, on_ready=told.set_result)
    )
    steps = [
        {
            "id": "charge",
            "type": "CALL-TOOL",
            "tool": "charge",
            "args": {"amount": 80},
            "variable": "r",
        },
        {"id": "done", "type": "SAY", "value": "Charged {{r.charged}}."},
    ]
    tool = {
        "id": "charge",
        "name": "charge",
        "parameters": schema,
        "implementation": {"type": "mcp", "server": {"url": await told}, "tool": "charge"},
    }
    near = Engine(
        flows=[{"id": "pay", "name": "Pay", "version": "1.0", "primary": True, "steps": steps}],
        tools=[tool],
        store=SqliteStore(tmp_path / "n.db"),
        http=HttpSettings(allow_private=True),
        validate_on_init=False,
    )
    async with near:
        assert (await near.take_turn("s", "Pay")).response == "Charged 80."
        assert "Charged 80." in (await near.trace("s")).narrative()
    serving.cancel()
    await asyncio.gather(serving, return_exceptions=True)
    await far.close()
    assert len(keys) == 1
    assert keys[0].startswith("s:1:")
