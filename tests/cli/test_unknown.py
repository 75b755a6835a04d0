"""Promise: calls nobody knows the end of are listed and settled from a shell."""

from __future__ import annotations

import asyncio
import json
import subprocess
from pathlib import Path
from typing import Any, ClassVar

import pytest

from saywhy.runtime.engine import Engine
from saywhy.stores.sqlite import SqliteStore
from saywhy.testing import StubServer
from tests.flows.conftest import flow, local_tool, say, use

MAIN = flow(use("pay", variable="r", args={"n": 5}), say("paid {{r}}"), primary=True)
TOOL = {**local_tool("pay"), "implementation": {"type": "local", "function": "pay", "timeout": 20}}
STORE = "saywhy.db"


async def too_slow(args: dict[str, Any]) -> None:
    await asyncio.sleep(5)


async def conversation(store: Path, *tools: dict[str, Any], main: dict[str, Any] = MAIN) -> None:
    engine = Engine(
        flows=[main],
        tools=tools,
        functions={"pay": too_slow},
        guidance={"enabled": False},
        validate_on_init=False,
        store=SqliteStore(store),
    )
    async with engine:
        await engine.take_turn("c1", "Main", user_id="ann")


@pytest.fixture
def store(folder: Path) -> Path:
    """A store in which a payment is unknown, in the current folder."""
    asyncio.run(conversation(folder / STORE, TOOL))
    (folder / "pay.json").write_text(json.dumps({"flows": [MAIN], "tools": [TOOL]}))
    return folder / STORE


def test_the_list(store: Path, run: Any) -> None:
    """Whose it is, what was called, under which key, since when, and why nobody knows."""
    done = run("unknown", "list")
    assert done.code == 0
    first, second, third = done.lines
    assert first.startswith('c1 of ann, turn 1: pay({"n": 5}) in Main, unknown since ')
    assert second.startswith("    call ")
    assert ", key c1:1:" in second
    assert third == "    Tool execution timeout after 20ms - pay"
    (one,) = json.loads(run("unknown", "list", "--json").out)
    assert (one["sessionId"], one["args"]) == ("c1", {"n": 5})
    assert run("unknown", "list", "--session", "other").out == "every call is known\n"


def test_settled_at_the_next_turn(store: Path, run: Any) -> None:
    """Without files it is noted, and listed as decided; a second word is refused."""
    done = run("unknown", "settle", "c1", "--done", '"R-1"', "--by", "bob")
    assert done.code == 0
    assert done.err == "noted; the conversation goes on with its next turn\n"
    (one,) = json.loads(run("unknown", "list", "--json").out)
    assert (one["decided"]["how"], one["decided"]["by"]) == ("done", "bob")
    last = run("unknown", "list").lines[-1]
    assert last.startswith("    decided by bob at ")
    assert last.endswith(": done; waits for the next turn")
    done = run("unknown", "settle", "c1", "--call", str(one["seq"]), "--not-done")
    assert done.code == 2
    assert f"{one['id']} was decided before by bob at " in done.err


def test_denied_at_the_next_turn(folder: Path, run: Any) -> None:
    """Likewise what somebody denied, whoever approves it afterwards."""
    asyncio.run(conversation(folder / STORE, {**TOOL, "approval": True}))
    (one,) = json.loads(run("approvals", "list", "--json").out)
    assert "decided" not in one
    run("approvals", "deny", "c1", one["id"], "--by", "eve")
    assert run("approvals", "list").lines[-1].endswith(": denied; waits for the next turn")
    done = run("approvals", "approve", "c1", one["id"], "--by", "bob")
    assert (done.code, f"{one['id']} was decided before by eve at " in done.err) == (2, True)


def test_settled_at_once(store: Path, run: Any) -> None:
    """With files the flow goes on, and its words are shown."""
    done = run("unknown", "settle", "c1", "pay.json", "--done", '"R-1"')
    assert done.out == "paid R-1\n"
    assert run("unknown", "list").out == "every call is known\n"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "give one of --done JSON, --failed TEXT, --not-done"),
        (["--done", "1", "--not-done"], "a call is settled in one way"),
        (["--done", "{"], "--done { is no JSON"),
        (["--done", "[" * 5000], "saywhy: --done is nested too deep"),
        (["--done", "1", "--call", "99"], 'c1 has no call of unknown outcome "99" to decide'),
        (["--done", "1", "--functions", "m"], "--functions goes with FILES"),
        (["--done", "1", "--expressions", "isolated"], "--expressions goes with FILES"),
        (["--done", "1", "--allow-private", "h"], "--allow-private goes with FILES"),
    ],
)
def test_words_that_make_no_sense(store: Path, run: Any, options: list[str], message: str) -> None:
    """Exit code 2, and what to do instead."""
    done = run("unknown", "settle", "c1", *options)
    assert done.code == 2
    assert message in done.err


def test_another_conversation(store: Path, run: Any) -> None:
    """There is none of that name."""
    done = run("unknown", "settle", "c9", "--not-done")
    assert done.code == 2
    assert 'there is no conversation "c9" in this store' in done.err


def test_approvals(folder: Path, run: Any) -> None:
    """Listed with id and digest, denied with a reason, and then nothing waits."""
    tool = {**TOOL, "approval": {"by": "treasury"}}
    asyncio.run(conversation(folder / STORE, tool))
    (folder / "pay.json").write_text(json.dumps({"flows": [MAIN], "tools": [tool]}))
    (one,) = json.loads(run("approvals", "list", "--json").out)
    first, second, third = run("approvals", "list").lines
    assert first == 'c1 of ann, turn 1: pay({"n": 5}) in Main, to be approved by treasury'
    assert second == f"    approval {one['id']}, digest {one['digest']}"
    assert third.startswith("    asked ")
    done = run("approvals", "approve", "c1", one["id"], "--digest", "00")
    assert (done.code, "is for other arguments than were shown" in done.err) == (2, True)
    done = run("approvals", "deny", "c1", one["id"], "pay.json", "--reason", "no")
    assert done.out == "pay did not work: not approved: no\n"
    assert run("approvals", "list").out == "nothing waits to be approved\n"


def web_files(folder: Path, base: str) -> str:
    """A flow that books over HTTP once somebody approves, and then asks for the fee."""
    steps = [use("book"), use("fee", variable="fee"), say("Booked, fee {{fee.fee}}.")]
    tools = [
        {
            "id": name,
            "implementation": {"type": "http", "url": f"{base}/{name}", "method": "GET"},
            "approval": name == "book",
        }
        for name in ("book", "fee")
    ]
    path = folder / "web.json"
    path.write_text(json.dumps({"flows": [flow(*steps, primary=True)], "tools": tools}))
    return str(path)


def test_approved_calls_on_this_machine(folder: Path, run: Any) -> None:
    """What `chat` may call, the steps after an approval may call when the option names it again."""
    local = ("--allow-private", "127.0.0.1")
    pages = [{"path": "/book", "body": {}}, {"path": "/fee", "body": {"fee": 8}}]
    with StubServer(pages) as web:
        file = web_files(folder, web.base)
        run("chat", file, *local, "--session", "c1", stdin="Main\n")
        (one,) = json.loads(run("approvals", "list", "--json").out)
        done = run("approvals", "approve", "c1", one["id"], file, *local)
    assert done.out == "Booked, fee 8.\n"


def test_settled_calls_on_this_machine(folder: Path, run: Any) -> None:
    """Likewise the steps after a call of which somebody says what became."""
    with StubServer([{"path": "/fee", "body": {"fee": 8}}]) as web:
        implementation = {"type": "http", "url": f"{web.base}/fee", "method": "GET"}
        tools = [TOOL, {"id": "fee", "implementation": implementation}]
        steps = [use("pay"), use("fee", variable="fee"), say("Fee {{fee.fee}}.")]
        main = flow(*steps, primary=True)
        (folder / "pay.json").write_text(json.dumps({"flows": [main], "tools": tools}))
        asyncio.run(conversation(folder / STORE, *tools, main=main))
        options = ("--done", "1", "--allow-private", "127.0.0.1")
        done = run("unknown", "settle", "c1", "pay.json", *options)
    assert done.out == "Fee 8.\n"


class Started(subprocess.Popen[bytes]):
    """A process like any other; which there were is remembered."""

    seen: ClassVar[list[Started]] = []

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.seen.append(self)


@pytest.mark.parametrize("where", ["in-process", "isolated"])
def test_expressions_after_a_decision(
    folder: Path, run: Any, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    """They are evaluated where it is asked for: isolated ones in processes of their own."""
    monkeypatch.setattr(Started, "seen", [])
    monkeypatch.setattr("subprocess.Popen", Started)
    tool = {**TOOL, "approval": True}
    main = flow(use("pay", onFail={"id": "f", **say("{{1 + 1}} denied")}), primary=True)
    (folder / "pay.json").write_text(json.dumps({"flows": [main], "tools": [tool]}))
    asyncio.run(conversation(folder / STORE, tool, main=main))
    (one,) = json.loads(run("approvals", "list", "--json").out)
    assert not Started.seen
    done = run("approvals", "deny", "c1", one["id"], "pay.json", "--expressions", where)
    assert done.out == "2 denied\n"
    assert bool(Started.seen) == (where == "isolated")
