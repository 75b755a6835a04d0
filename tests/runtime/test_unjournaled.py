"""Conversations without a journal: turns are accepted and ended as ever; a crash is not known."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from saywhy.errors import AlreadyDecided, PersistenceMismatch
from saywhy.stores.memory import MemoryStore
from saywhy.testing import FakeClock
from tests.flows.conftest import ask, engine_of, flow, local_tool, put, say, use
from tests.runtime.interrupted import Till, engine_on, interrupted

SESSION_ONLY = {"action_persistence": "session-only"}


async def test_no_rows_of_calls() -> None:
    """The turn, its reply and its record are stored; that it was about to call is not."""
    store, till = MemoryStore(), Till()
    engine = engine_on(store, till, **SESSION_ONLY)
    await engine.take_turn("c1", "Main", message_id="m1", user_id="ann")
    reply = await engine.take_turn("c1", "5", message_id="m2", user_id="ann")
    assert reply.response == "paid 5\n\nmore?"
    assert [call["tool"] for call in reply.last_turn_tool_calls] == ["pay"]
    assert await store.journal("c1", 2) == ()
    assert [one.status for one in await store.turns("c1")] == ["done", "done"]
    durable = MemoryStore()
    other = engine_on(durable, Till())
    await other.take_turn("c1", "Main", message_id="m1", user_id="ann")
    await other.take_turn("c1", "5", message_id="m2", user_id="ann")
    kinds = [(await engine.trace("c1")).narrative(), (await other.trace("c1")).narrative()]
    assert kinds[0] == kinds[1]
    again = await engine.take_turn("c1", "5", message_id="m2", user_id="ann")
    assert (again.response, again.repeated, len(till.keys)) == (reply.response, True, 1)


async def test_what_was_done_is_not_done_again() -> None:
    """The stored session knows which step was answered: the same words again are for the next."""
    store, till = MemoryStore(), Till()
    for word in ("Main", "5", "5"):
        await engine_on(store, till, **SESSION_ONLY).take_turn("c1", word, user_id="ann")
    assert len(till.keys) == 1


async def test_a_crash_in_a_call_is_not_known() -> None:
    """The turn runs again from its message, and what it did is done again under the same key."""
    store, till = await interrupted(**SESSION_ONLY)
    assert await store.journal("c1", 2) == ()
    claim = await store.claim("looker", 0.0, "c1")
    assert claim is not None
    assert claim.turn_doc is None
    engine = engine_on(store, till, **SESSION_ONLY)
    assert await engine.recover() == 1
    reply = await engine.take_turn("c1", "5", message_id="m2", user_id="ann")
    assert reply.response == "paid 5\n\nmore?"
    assert len(till.keys) == 2
    assert len(set(till.keys)) == 1


async def test_a_crash_with_once_tools_too() -> None:
    """That a tool is `once` does not help where nothing says that it was called."""
    once = {"tools": [local_tool("pay")]}
    store, till = await interrupted(**SESSION_ONLY, **once)
    assert await engine_on(store, till, **SESSION_ONLY, **once).recover() == 1
    assert len(till.keys) == 2


async def test_approval_is_kept_by_the_session() -> None:
    """A call that needs a person's word is not made before it is there, and once then."""
    store, till = MemoryStore(), Till()
    options: dict[str, Any] = {"tools": [{**local_tool("pay"), "approval": True}], **SESSION_ONLY}
    engine = engine_on(store, till, **options)
    await engine.take_turn("c1", "Main", user_id="ann")
    for word in ("5", "go on", "now"):
        reply = await engine_on(store, till, **options).take_turn("c1", word, user_id="ann")
        assert reply.response
    assert till.keys == []
    (waiting,) = await engine.approvals("c1")
    approved = await engine_on(store, till, **options).approve("c1", waiting["id"], by="bob")
    assert approved is not None
    assert approved.response == "paid 5\n\nmore?"
    with pytest.raises(AlreadyDecided):
        await engine.approve("c1", waiting["id"], by="eve")
    assert len(till.keys) == 1


async def test_decided_by_a_program_of_another_mode() -> None:
    """Its word is taken in; the call is made by a program of the conversation's own mode."""
    store, till = MemoryStore(), Till()
    tools = [{**local_tool("pay"), "approval": True}]
    engine = engine_on(store, till, tools=tools, **SESSION_ONLY)
    for word in ("Main", "5"):
        await engine.take_turn("c1", word, user_id="ann")
    other = engine_on(store, till, tools=tools)
    (waiting,) = await other.approvals("c1")
    with pytest.raises(PersistenceMismatch):
        await other.approve("c1", waiting["id"], by="bob")
    assert await other.approve("c1", waiting["id"], by="bob", run=False) is None
    assert await other.recover() == 0
    assert await engine.recover() == 1
    assert len(till.keys) == 1


class Slow:
    """A tool that takes its time, and says when it was reached and when it ended."""

    def __init__(self) -> None:
        self.begun, self.go_on = asyncio.Event(), asyncio.Event()
        self.calls = 0

    async def pay(self, args: dict[str, Any]) -> str:
        """Pay, when told so."""
        self.calls += 1
        self.begun.set()
        await self.go_on.wait()
        return "paid"


async def test_a_turn_that_acts_is_seen_through() -> None:
    """Whoever waited for it has left; its end is stored, and nothing is done again."""
    store, slow = MemoryStore(), Slow()
    main = flow(use("pay"), put("x", "1"), use("pay"), say("paid twice"), ask("more"))

    def engine() -> Any:
        return engine_of(
            main,
            tools=[local_tool("pay")],
            functions={"pay": slow.pay},
            store=store,
            clock=FakeClock(auto=False),
            **SESSION_ONLY,
        )

    turn = asyncio.create_task(engine().take_turn("c1", "Main", message_id="m1", user_id="ann"))
    await asyncio.wait_for(slow.begun.wait(), 20)
    turn.cancel()
    await asyncio.sleep(0.01)
    turn.cancel()
    await asyncio.sleep(0.01)
    assert not turn.done(), "the session knows nothing of the call yet"
    slow.go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await turn
    assert [one.status for one in await store.turns("c1")] == ["done"]
    again = await engine().take_turn("c1", "Main", message_id="m1", user_id="ann")
    assert (again.response, again.repeated, slow.calls) == ("paid twice\n\n?", True, 2)


async def test_a_turn_that_did_nothing_yet_stops_at_once() -> None:
    """There is nothing to be seen through; the message is processed when somebody comes."""
    begun = asyncio.Event()
    store = MemoryStore(FakeClock())

    async def dawdle() -> str:
        begun.set()
        await asyncio.sleep(3600)
        return "late"

    main = flow(put("x", "dawdle()"), say("{{x}}"), ask("more"))
    options: dict[str, Any] = {"store": store, "function_timeout": 0, **SESSION_ONLY}
    engine = engine_of(main, functions={"dawdle": dawdle}, **options)
    turn = asyncio.create_task(engine.take_turn("c1", "Main", message_id="m1", user_id="ann"))
    await asyncio.wait_for(begun.wait(), 20)
    turn.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(turn, 5)
    assert [one.status for one in await store.turns("c1")] == ["running"]

    async def at_once() -> str:
        return "soon"

    other = engine_of(main, functions={"dawdle": at_once}, **options)
    reply = await other.take_turn("c1", "Main", message_id="m1", user_id="ann")
    assert reply.response == "soon\n\n?"


async def test_an_error_of_a_turn_is_stored_and_told_as_ever() -> None:
    """Also when it comes after a call."""
    store, till = MemoryStore(), Till()
    main = flow(use("pay", args={"n": 1}), ask("x", ""))
    engine = engine_on(store, till, flows=[main], **SESSION_ONLY)
    for _ in range(2):
        with pytest.raises(Exception, match="waits for an answer, but said nothing"):
            await engine.take_turn("c1", "Main", message_id="m1", user_id="ann")
    assert len(till.keys) == 1
