"""Planned faults: each happens where and when it was planned, and nowhere else."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from saywhy.errors import CallerError, OutsideError
from saywhy.runtime.engine import Engine
from saywhy.stores.memory import MemoryStore
from saywhy.stores.sqlite import SqliteStore
from saywhy.testing.check_store import check_store
from saywhy.testing.faults import BOUNDARIES, Fault, Faults
from saywhy.testing.store_parts import begin

KILLED = """
import asyncio, sys
from saywhy.stores.sqlite import SqliteStore
from saywhy.testing.faults import Fault, Faults

async def main():
    plan = [Fault(action="kill", at="accept", side=sys.argv[2], number=2)]
    async with Faults(plan).store(SqliteStore(sys.argv[1])) as store:
        for number in range(3):
            await store.accept("s", f"m{number}", b"hi", user_id="")

asyncio.run(main())
"""


def adding() -> tuple[list[int], Callable[[int], int]]:
    """What a tool was called with, and the tool."""
    calls: list[int] = []

    def add(number: int) -> int:
        calls.append(number)
        return len(calls)

    return calls, add


@pytest.mark.parametrize(("side", "stored"), [("before", ["m0"]), ("after", ["m0", "m1"])])
def test_killed_on_one_side_of_a_commit(tmp_path: Path, side: str, stored: list[str]) -> None:
    """The process is gone, without what it had not committed, or with it."""
    path = tmp_path / "s.db"
    child = subprocess.run([sys.executable, "-c", KILLED, str(path), side], check=False)
    assert child.returncode == -signal.SIGKILL

    async def look() -> list[str]:
        async with SqliteStore(path) as store:
            return [turn.message_id for turn in await store.turns("s")]

    assert asyncio.run(look()) == stored


async def test_a_store_that_fails_did_nothing() -> None:
    """It raises as a real one does, once, and the next time it works."""
    faults = Faults([Fault(action="fail", at="accept", number=2)])
    async with faults.store(MemoryStore()) as store:
        await store.accept("s", "m1", b"", user_id="")
        with pytest.raises(OutsideError, match="the store failed before accept, as planned"):
            await store.accept("s", "m2", b"", user_id="")
        assert len(await store.turns("s")) == 1
        assert (await store.accept("s", "m2", b"", user_id="")).status == "new"
    assert faults.passed == ["accept"] * 3


async def test_an_answer_that_is_lost_was_given() -> None:
    """What was written stands, though the writer was told of a failure."""
    faults = Faults([Fault(action="drop", at="accept")])
    async with faults.store(MemoryStore()) as store:
        with pytest.raises(OutsideError, match="the answer to accept was lost, as planned"):
            await store.accept("s", "m1", b"", user_id="")
        assert (await store.accept("s", "m1", b"", user_id="")).status == "running"


async def test_a_store_that_is_late() -> None:
    """It answers after a while."""
    faults = Faults([Fault(action="time_out", at="accept_and_claim", seconds=0.05)])
    async with faults.store(MemoryStore()) as store:
        started = time.monotonic()
        await begin(store)
        assert time.monotonic() - started >= 0.05


async def test_without_faults_it_is_a_store_like_any_other() -> None:
    """It keeps every promise of a store."""
    await check_store(lambda: Faults().store(MemoryStore()))


@pytest.mark.parametrize(
    ("action", "made", "given"), [("duplicate", [5, 5], 2), ("drop", [5], 1), ("time_out", [5], 1)]
)
async def test_a_tool_that_goes_wrong(action: Any, made: list[int], given: int) -> None:
    """It is called twice, or answers late; functions that are awaited as well."""
    for is_async in (False, True):
        calls, add = adding()

        async def later(number: int, add: Callable[[int], int] = add) -> int:
            return add(number)

        faults = Faults([Fault(action=action, at="call", number=2, seconds=0.02)])
        tool = faults.tool(later if is_async else add)
        for number in (4, 5, 6):
            answer = tool(number)
            answer = await answer if is_async else answer
            if number == 5:
                assert answer == given + 1
        assert calls == [4, *made, 6]


def test_a_tool_that_fails() -> None:
    """It is not called, and what is raised looks like a network that is down."""
    calls, add = adding()
    tool = Faults([Fault(action="fail", at="pay")]).tool(add, "pay")
    with pytest.raises(ConnectionError, match=r"network error before the call, as planned"):
        tool(1)
    assert calls == []
    assert tool(2) == 1


def test_messages_as_they_arrive() -> None:
    """Twice, late, never; the rest as they are."""
    plan = [
        Fault(action="duplicate", at="message", number=1),
        Fault(action="reorder", at="message", number=2),
        Fault(action="drop", at="message", number=4),
        Fault(action="reorder", at="message", number=5),
    ]
    assert Faults(plan).deliveries("abcde") == ["a", "a", "c", "b", "e"]
    assert Faults().deliveries("abc") == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        ({"action": "reorder", "at": "intent"}, "intent cannot reorder"),
        ({"action": "duplicate", "at": "finish"}, "finish cannot duplicate"),
        ({"action": "kill", "at": "message"}, "message cannot kill"),
        ({"action": "kil", "at": "call"}, "call cannot kil"),
        ({"action": "kill", "at": "call", "number": 0}, "the number of a fault begins at 1, not 0"),
    ],
)
def test_plans_that_make_no_sense(fault: dict[str, Any], told: str) -> None:
    """They are refused when they are made, with what could be planned instead."""
    with pytest.raises(CallerError, match=told) as refusal:
        Faults([Fault(**fault)])
    if "number" not in fault:
        assert refusal.value.hint


def test_a_fault_says_what_it_is() -> None:
    """In words that stand in reports."""
    assert str(Fault(action="kill", at="intent", side="after", number=3)) == "kill after intent 3"
    assert str(Fault(action="drop", at="finish")) == "drop at finish 1"


# ------------------------------------------------------------------ an engine on a faulty store


def places(payment: dict[str, Any]) -> list[str]:
    """What the store of an undisturbed payment is asked for."""
    faults = Faults()

    async def play() -> None:
        async with Engine(**payment, store=faults.store(MemoryStore())) as engine:
            for text in ("Pay", "Ann", "80"):
                await engine.take_turn("s", text)

    asyncio.run(play())
    return faults.passed


PAYMENT: dict[str, Any] = {
    "flows": [
        {
            "id": "pay", "name": "Pay", "version": "1.0", "primary": True, "prompt": "pay",
            "description": "Pays",
            "steps": [
                {"id": "who", "type": "SAY-GET", "variable": "who", "value": "Whom?"},
                {"id": "much", "type": "SAY-GET", "variable": "much", "value": "How much?"},
                {"id": "pay", "type": "CALL-TOOL", "tool": "charge", "variable": "got",
                 "args": {"who": "{{who}}"}},
                {"id": "done", "type": "SAY", "value": "Paid {{who}}: {{got}}."},
            ],
        }
    ],
    "tools": [
        {
            "id": "charge", "name": "Charge", "description": "Takes money",
            "parameters": {"type": "object", "properties": {"who": {"type": "string"}}},
            "implementation": {"type": "local", "function": "charge"},
        }
    ],
    "guidance": {"enabled": False},
}  # fmt: skip


@pytest.mark.parametrize("action", ["fail", "drop"])
def test_a_commit_that_fails_or_whose_answer_is_lost(action: Any) -> None:
    """At each commit of a conversation: whoever sends the message again gets the reply, and the
    payment is made once, or not at all where that is not known."""
    calls: list[Any] = []

    def charge(args: Any) -> int:
        calls.append(args)
        return 7

    engine_options = {**PAYMENT, "functions": {"charge": charge}}
    passed = places(engine_options)
    assert set(passed) <= set(BOUNDARIES)
    assert passed.count("finish") == 3
    for index, at in enumerate(passed):
        calls.clear()
        fault = Fault(action=action, at=at, number=passed[: index + 1].count(at))
        replies = asyncio.run(insist(engine_options, Faults([fault])))
        assert replies[:2] == ["Whom?", "How much?"], fault
        if (action, at) == ("drop", "intent"):  # whether the call was made is not on record
            assert "it is not known yet whether it happened" in str(replies[2])
            assert calls == []
        else:
            assert replies[2] == "Paid Ann: 7.", fault
            assert len(calls) == 1, fault


async def insist(options: dict[str, Any], faults: Faults) -> list[str | None]:
    """Send each message until it is answered."""
    replies: list[str | None] = []
    async with Engine(**options, store=faults.store(MemoryStore())) as engine:
        for number, text in enumerate(("Pay", "Ann", "80")):
            for _ in range(3):
                try:
                    reply = await engine.take_turn("s", text, message_id=f"m{number}")
                except OutsideError:
                    continue
                replies.append(reply.response)
                break
    return replies


def test_a_commit_that_fails_after_a_call_was_found_not_done() -> None:
    """What `reconcile` found out is no result: the call is still to be made, and is, once."""
    calls: list[Any] = []

    def charge(args: Any) -> int:
        calls.append(args)
        return 7

    tool = {**PAYMENT["tools"][0], "reconcile": "look_up"}
    functions = {"charge": charge, "look_up": lambda args, context: {"status": "not_done"}}
    plan = [Fault(action="drop", at="intent"), Fault(action="fail", at="intent", number=3)]
    options = {**PAYMENT, "tools": [tool], "functions": functions}
    assert asyncio.run(insist(options, Faults(plan))) == ["Whom?", "How much?", "Paid Ann: 7."]
    assert calls == [{"who": "Ann"}]
