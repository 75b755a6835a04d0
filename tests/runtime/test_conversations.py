"""Conversations in a store."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
import pytest

from saywhy.errors import (
    ActiveFlowEmptyResponse,
    CallerError,
    DamagedSession,
    FlowExecutionError,
    SessionBusy,
    UnknownFlow,
    UnknownSession,
)
from saywhy.flows import turn as routing
from saywhy.messages import Message
from saywhy.runtime.engine import Engine
from saywhy.stores.memory import MemoryStore
from saywhy.testing import FakeClock
from saywhy.values import loads_raw
from tests.flows.conftest import NOW, ask, engine_of, flow, local_tool, put, run, say, use


async def texts(engine: Engine, *entries: Any, session: str = "c1") -> list[str | None]:
    """The replies to some messages."""
    return [(await engine.take_turn(session, entry, user_id="ann")).response for entry in entries]


async def stored_messages(store: MemoryStore) -> list[Message]:
    return [msgspec.convert(loads_raw(row.doc), Message) for row in await store.messages("c1")]


async def test_a_turn_gives_what_a_host_must_know() -> None:
    """Reply, calls, outcome and dispatch, the same when the message comes again."""
    store = MemoryStore()
    engine = engine_of(
        flow(ask("x"), use("t"), {"type": "DISPATCH", "outcome": "moved", "reason": "{{x}}"}),
        tools=[local_tool("t")],
        functions={"t": lambda args: 1},
        store=store,
    )
    await engine.take_turn("c1", "Main")
    first = await engine.take_turn("c1", "elsewhere", message_id="m2")
    again = await engine.take_turn("c1", "elsewhere", message_id="m2")
    assert again == msgspec.structs.replace(first, repeated=True)
    assert (first.session_id, first.turn_no, first.response) == ("c1", 2, None)
    assert [call["tool"] for call in first.last_turn_tool_calls] == ["t"]
    assert first.last_turn_dispatch == {"fromFlow": "Main", "matchedFlow": None}
    assert first.last_flow_outcome is not None
    assert first.last_flow_outcome["reason"] == "elsewhere"


async def test_no_reply_and_an_empty_one_stay_apart() -> None:
    """Also when they are told again, after more turns."""
    engine = engine_of(flow({"type": "RETURN"}), store=MemoryStore())
    assert (await engine.take_turn("c1", "hello", message_id="a")).response is None
    assert (await engine.take_turn("c1", "Main", message_id="b")).response == ""
    assert (await engine.take_turn("c1", "hello", message_id="c")).response is None
    for name, response in (("a", None), ("b", ""), ("c", None)):
        again = await engine.take_turn("c1", "whatever", message_id=name)
        assert (again.response, again.repeated) == (response, True)


async def test_an_older_reply_is_told_again() -> None:
    """The text stands in its message."""
    engine = engine_of(
        flow(ask("x", "first?"), ask("y", "second?"), say("end")), store=MemoryStore()
    )
    for number, text in enumerate(("Main", "1", "2")):
        await engine.take_turn("c1", text, message_id=f"m{number}")
    again = [await engine.take_turn("c1", "x", message_id=f"m{number}") for number in range(3)]
    assert [reply.response for reply in again] == ["first?", "second?", "end"]
    assert [reply.turn_no for reply in again] == [1, 2, 3]


async def test_a_stored_conversation_is_the_same_as_one_in_the_hosts_hands() -> None:
    """Turn by turn: replies, variables, cargo, commits."""
    flows = [
        flow(say("a"), ask("x", "q"), put("y", "cargo.n = x"), run("Sub"), ask("z", "r {{v}}")),
        flow(put("v", "cargo.n + '!'"), name="Sub"),
    ]
    engine = engine_of(*flows, store=MemoryStore())
    other = engine_of(*flows)
    session = other.init_session("ann", "c1")
    for entry in ("hello", "Main", "help", "5", "end"):
        reply = await engine.take_turn("c1", entry, user_id="ann")
        session = await other.update_activity(entry, other.load_session(session.to_json()))
        stored = await engine.session("c1")
        assert stored is not None
        assert reply.response == session.response == stored.response
        assert stored.cargo == session.cargo
        assert stored.flow_stacks == session.flow_stacks
        assert stored.version == session.version
    assert list((await engine.trace("c1")).steps_of()) == list(session.trace.steps_of())


async def test_cargo_and_language_come_with_a_message() -> None:
    """Merged before the turn, seen by it, and kept."""
    engine = engine_of(
        flow(ask("x", "{{cargo.a}} {{cargo.b}}", value_es="es {{cargo.a}}")), store=MemoryStore()
    )
    reply = await engine.take_turn("c1", "Main", cargo={"a": 1, "b": 2}, language="es")
    assert reply.response == "es 1"
    await engine.take_turn("c1", "done", cargo={"b": 3})
    session = await engine.session("c1")
    assert session is not None
    assert (session.cargo, session.language) == ({"a": 1, "b": 3}, "es")


async def test_what_the_host_said_is_stored() -> None:
    """As a turn without a reply."""
    store = MemoryStore()
    engine = engine_of(flow(ask("x", "q"), say("{{x}}")), store=store)
    await texts(engine, "Main")
    reply = await engine.take_turn(
        "c1", {"role": "assistant", "content": "by the way"}, user_id="ann"
    )
    assert reply.response is None
    assert await texts(engine, "1") == ["1"]
    told = [(one.role, one.text) for one in await stored_messages(store)]
    assert told[2:4] == [("assistant", "by the way"), ("user", "1")]


async def test_a_conversation_finishes_on_the_flows_it_began_with() -> None:
    """A new version of its flow is for conversations that begin later, and for flows it calls."""
    store = MemoryStore()
    old = engine_of(
        flow(ask("x", "old?"), run("Sub"), say("old end")),
        flow(say("old sub"), name="Sub"),
        store=store,
    )
    await texts(old, "Main")
    new = engine_of(
        flow(ask("x", "new?"), say("new end")), flow(say("new sub"), name="Sub"), store=store
    )
    assert await texts(new, "1") == ["new sub\n\nold end"]
    assert await texts(new, "Main") == ["new?"]
    assert "old?" in (await new.trace("c1")).narrative()


async def test_an_error_is_told_again_by_its_name() -> None:
    """The turn is over; the same message gives the same error, the next one goes on."""
    engine = engine_of(flow(ask("x", "")), flow(say("fine"), name="Other"), store=MemoryStore())
    with pytest.raises(ActiveFlowEmptyResponse):
        await engine.take_turn("c1", "Main", message_id="m1")
    with pytest.raises(FlowExecutionError, match="waits for an answer") as caught:
        await engine.take_turn("c1", "Main", message_id="m1")
    assert caught.value.name == "JSFEActiveFlowEmptyResponse"
    assert await texts(engine, "Other", session="c2") == ["fine"]


async def test_a_failed_turn_keeps_what_it_had_recorded() -> None:
    """The words, the steps up to the error, and the repaired conversation."""
    store = MemoryStore()
    engine = engine_of(
        flow(ask("x"), run("Bad"), say("on {{x}}")),
        flow(put("y", "cargo.n = 1"), {"type": "SET"}, name="Bad"),
        store=store,
    )
    await texts(engine, "Main")
    with pytest.raises(FlowExecutionError) as caught:
        await engine.take_turn("c1", "5", user_id="ann")
    assert caught.value.session.flow_stacks == [["Main"]]
    assert [one.text for one in await stored_messages(store)] == ["Main", "?", "5"]
    errors = [one.error for one in (await engine.trace("c1")).steps_of() if one.error]
    assert errors == ["SET step requires both 'variable' and 'value'"]
    assert await texts(engine, "go on") == ["on 5"]


async def test_a_host_that_starts_an_unknown_flow_is_told_before_anything_is_stored() -> None:
    """There is no turn of it."""
    store = MemoryStore()
    engine = engine_of(flow(say("x")), store=store)
    with pytest.raises(UnknownFlow):
        await engine.take_turn("c1", {"content": "", "start": {"flow": "Mian"}})
    assert await store.session("c1") is None


async def test_a_conversation_belongs_to_its_user() -> None:
    """Another one's id is refused."""
    engine = engine_of(flow(ask("x"), say("x")), store=MemoryStore())
    await texts(engine, "Main")
    with pytest.raises(CallerError, match="c1"):
        await engine.take_turn("c1", "1", user_id="bob")


async def test_a_conversation_that_is_held_elsewhere_is_busy() -> None:
    """The message was accepted; whoever lets go of the conversation finds it."""
    clock = FakeClock(NOW, auto=False)
    store = MemoryStore()
    engine = engine_of(flow(say("hi")), store=store, clock=clock)
    await store.accept("c1", "m0", b'{"text":"Main"}', user_id="ann")
    held = await store.claim("other", 3600, "c1")
    assert held is not None
    turn = asyncio.create_task(
        engine.take_turn("c1", "Main", message_id="m1", user_id="ann", wait_seconds=5)
    )
    await asyncio.sleep(0.01)
    clock.advance(6)
    with pytest.raises(SessionBusy, match="another turn of c1 has been running for 5 seconds"):
        await turn
    await store.fail(held, "cancelled", "let go")
    assert await engine.recover() == 1
    again = await engine.take_turn("c1", "Main", message_id="m1", user_id="ann")
    assert (again.response, again.repeated) == ("hi", True)


async def test_recovering_runs_what_was_accepted() -> None:
    """Of all conversations or of one; a turn that fails does not stop the others."""
    store = MemoryStore()
    engine = engine_of(flow({"type": "SET"}, name="Bad"), flow(say("hi")), store=store)
    for name, text in (("c1", b"Bad"), ("c2", b"Main"), ("c3", b"Main")):
        await store.accept(name, "m1", b'{"text":"' + text + b'"}', user_id="ann")
    assert await engine.recover("c3") == 1
    assert await engine.recover() == 2
    assert await engine.recover() == 0
    assert (await engine.take_turn("c2", "x", message_id="m1", user_id="ann")).response == "hi"
    with pytest.raises(FlowExecutionError, match="SET step requires"):
        await engine.take_turn("c1", "x", message_id="m1", user_id="ann")


async def test_conversations_of_one_store_know_nothing_of_each_other() -> None:
    """Side by side, turn by turn."""
    engine = engine_of(
        flow(ask("n"), put("y", "cargo.n = n"), ask("m"), say("{{n}} {{m}} {{cargo.n}}")),
        store=MemoryStore(),
    )

    async def one(number: int) -> list[str | None]:
        return await texts(engine, "Main", f"a{number}", f"b{number}", session=f"c{number}")

    replies = await asyncio.gather(*(one(number) for number in range(20)))
    assert [reply[-1] for reply in replies] == [f"a{n} b{n} a{n}" for n in range(20)]


async def test_a_document_that_is_none_is_reported() -> None:
    """By name, and the message is answered with it."""
    store = MemoryStore()
    engine = engine_of(flow(say("x")), store=store)
    await store.save("c1", "ann", b'{"format": 99}', 0)
    with pytest.raises(DamagedSession, match="format 99"):
        await engine.take_turn("c1", "Main", message_id="m1", user_id="ann")
    with pytest.raises(DamagedSession):
        await engine.session("c1")


async def test_a_turn_goes_on_in_the_routing_it_began_in(monkeypatch: pytest.MonkeyPatch) -> None:
    """A newer version of this library may route otherwise; a turn under way is not lost by that."""
    store, at_work, hold = MemoryStore(), asyncio.Event(), [True]

    async def t(args: dict[str, Any]) -> str:
        at_work.set()
        if hold:
            await asyncio.sleep(60)
        return "done"

    tool = {**local_tool("t"), "effect": "reads"}
    flows, options = [flow(use("t"), say("{{x}}"))], {"tools": [tool], "functions": {"t": t}}
    flows[0]["steps"][0]["variable"] = "x"
    old = Engine(flows=flows, **options, validate_on_init=False, store=store)
    turn = asyncio.create_task(old.take_turn("c1", "Main", message_id="m1"))
    await at_work.wait()
    turn.cancel()
    await asyncio.wait({turn})
    hold.clear()
    nodes = (*routing.NODES, ("later", "what a later version does as well"))
    monkeypatch.setattr(routing, "NODES", nodes)
    new = Engine(flows=flows, **options, validate_on_init=False, store=store)
    assert (await new.take_turn("c1", "Main", message_id="m1")).response == "done"


async def test_a_message_nobody_waits_for_is_processed_all_the_same() -> None:
    """Its sender was told to ask again; it does not stay behind until somebody does."""
    store, go_on = MemoryStore(), asyncio.Event()

    async def t(args: dict[str, Any]) -> str:
        await go_on.wait()
        return "done"

    options: dict[str, Any] = {"tools": [local_tool("t")], "functions": {"t": t}}
    flows = [flow(use("t"), ask("x"), say("then {{x}}"))]
    options |= {"guidance": {"enabled": False}, "validate_on_init": False}
    async with Engine(flows=flows, **options, store=store) as engine:
        first = asyncio.create_task(engine.take_turn("c1", "Main", message_id="m1"))
        await asyncio.sleep(0)
        for _ in range(2):
            with pytest.raises(SessionBusy, match=r"another turn of c1 has been running for 0.01"):
                await engine.take_turn("c1", "5", message_id="m2", wait_seconds=0.01)
        go_on.set()
        assert (await first).response == "?"
        async with asyncio.timeout(5):
            while [turn.status for turn in await store.turns("c1")] != ["done", "done"]:
                await asyncio.sleep(0.01)
        assert (await engine.take_turn("c1", "5", message_id="m2")).response == "then 5"


async def test_closing_leaves_what_waits_to_the_next(caplog: pytest.LogCaptureFixture) -> None:
    """No task goes on without a store; the message is there when it is opened again."""
    store, at_work, hold = MemoryStore(), asyncio.Event(), [True]

    async def t(args: dict[str, Any]) -> str:
        at_work.set()
        while hold:
            await asyncio.sleep(0.01)
        return "done"

    options: dict[str, Any] = {"tools": [local_tool("t")], "functions": {"t": t}}
    engine = Engine(flows=[flow(use("t"), ask("x"))], **options, store=store)
    async with engine:
        first = asyncio.create_task(engine.take_turn("c1", "Main", message_id="m1"))
        await at_work.wait()
        with pytest.raises(SessionBusy):
            await engine.take_turn("c1", "5", message_id="m2", wait_seconds=0)
    assert len(asyncio.all_tasks()) == 2, "the turn itself is its caller's"
    hold.clear()
    await asyncio.wait({first})
    async with engine:
        assert await engine.recover() >= 1
        assert [turn.status for turn in await store.turns("c1")] == ["done", "done"]
    assert "never retrieved" not in caplog.text


async def test_the_trace_of_a_conversation_that_never_began() -> None:
    """Is no empty trace: the id is named, and no other one is told."""
    engine = engine_of(flow(ask("x")), store=MemoryStore())
    await texts(engine, "Main")
    assert len(list(await engine.trace("c1"))) > 0
    with pytest.raises(UnknownSession) as refusal:
        await engine.trace("c2")
    assert refusal.value.message == 'there is no conversation "c2" in this store'
    assert refusal.value.hint == "a conversation begins with its first take_turn"
    assert refusal.value.session_id == "c2"
