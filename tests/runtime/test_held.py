"""A turn that cannot go on here is held: nothing of it runs until it can, or a person decides."""

from __future__ import annotations

from typing import Any

import pytest

from saywhy.errors import CallerError, SaywhyError, TurnHeld
from saywhy.runtime import identity
from saywhy.stores.encoding import encode
from saywhy.stores.memory import MemoryStore
from saywhy.values import dumps, loads_raw
from tests.flows.conftest import Lines, flow, local_tool, say
from tests.runtime.interrupted import MAIN, Till, engine_on, interrupted

NO_IDENTITY = "it does not say which runtime began it"
OTHER = flow(say("something else"), name="Other")
NO_TOOLS: dict[str, Any] = {"tools": [], "functions": {}}


async def snapshot(store: MemoryStore) -> Any:
    """Everything on record of the conversation that a held turn must leave as it is."""
    turns = [(one.turn_no, one.message_id, one.input, one.reply) for one in await store.turns("c1")]
    session = await store.session("c1")
    assert session is not None
    journal = await store.journal("c1", 2)
    commits, messages = await store.commits("c1"), await store.messages("c1")
    return turns, session.doc, session.version, journal, commits, messages


async def change_document(store: MemoryStore, **changes: Any) -> None:
    """Another cursor, as somebody else might have stored it. None takes a field away."""

    def changed(document: bytes) -> bytes:
        tree = loads_raw(document)
        if "identity" not in tree:
            return document
        found = {**tree, **changes}
        return dumps({name: value for name, value in found.items() if value is not None})

    assert await store.recode("c1", changed) == 1


async def reasons(store: MemoryStore, **options: Any) -> tuple[str, ...]:
    """Why an engine holds the turn; empty when it does not."""
    engine = engine_on(store, Till(), **options)
    await engine.recover()
    held = await engine.held()
    return held[0].reasons if held else ()


# ------------------------------------------------------------------ what is held, and what not


async def test_the_same_engine_again_goes_on() -> None:
    """Nothing is in the way: the call is repeated under its key, and the turn comes to its end."""
    store, till = await interrupted()
    engine = engine_on(store, till)
    assert (await engine.recover(), await engine.held()) == (1, [])
    assert (await engine.take_turn("c1", "5", message_id="m2", user_id="ann")).response == (
        "paid 5\n\nmore?"
    )
    assert len(till.keys) == 2
    assert len(set(till.keys)) == 1


async def test_other_flows_alone_hold_nothing() -> None:
    """The turn goes on with the flow it names, which the store has."""
    store, _ = await interrupted()
    newer = flow(say("newer"))
    for flows in ([newer], [OTHER], []):
        assert await reasons(store, flows=flows) == ()
    assert (await store.turns("c1"))[1].status == "done"


async def test_a_flow_that_nobody_has() -> None:
    """Neither the engine nor the store: there is nothing to go on with."""
    store, _ = await interrupted()
    charts = store._charts  # pyright: ignore[reportPrivateUsage]
    (missing,) = [name for name, doc in charts.items() if loads_raw(doc)["name"] == "Main"]
    kept = charts.pop(missing)
    reason = f'the version {missing} of the flow "Main" is neither loaded nor in the store'
    assert await reasons(store, flows=[OTHER]) == (reason,)
    for damaged in (b"{", b'{"name": 1}', dumps({**loads_raw(kept), "digest": "other"})):
        charts[missing] = damaged
        assert await reasons(store, flows=[OTHER]) == (reason,)
    del charts[missing]
    assert await reasons(store) == ()


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (NO_TOOLS, 'the tool "pay", whose call was cut off, is not loaded'),
        ({"functions": {}}, 'the approved function "pay" of the tool "pay" is not there'),
        (
            {"tools": [local_tool("pay")]},
            'the tool "pay" was "repeatable" when its call was cut off, and is "once" now',
        ),
        (
            {"tools": [{**local_tool("pay"), "effect": "repeatable", "reconcile": "ask"}]},
            'the approved function "ask" of the tool "pay" is not there',
        ),
    ],
)
async def test_a_tool_that_is_not_the_same(options: dict[str, Any], expected: str) -> None:
    """The call that was cut off is not handed to what only has the same name."""
    store, till = await interrupted()
    assert await reasons(store, **options) == (expected,)
    assert len(till.keys) == 1
    assert await reasons(store) == ()


async def test_a_tool_whose_result_is_on_record_is_not_needed() -> None:
    """Nobody will call it: what it gave is used."""
    store, _ = await interrupted()
    (claim,) = [await store.claim("other", 0.0, "c1")]
    assert claim is not None
    result = dumps({"value": "paid 5"})
    await store.result(claim, claim.journal[-1].seq, result)
    engine = engine_on(store, Till(), **NO_TOOLS)
    assert await engine.recover() == 1
    reply = await engine.take_turn("c1", "5", message_id="m2", user_id="ann")
    assert reply.response == "paid 5\n\nmore?"


async def test_no_identity() -> None:
    """A cursor from before they were stored could mean anything."""
    store, _ = await interrupted()
    await change_document(store, identity=None)
    assert await reasons(store) == (NO_IDENTITY,)


async def test_another_runtime() -> None:
    """A cursor of another format is not guessed at, whatever the version of the package."""
    store, _ = await interrupted()
    (held,) = [loads_raw(store._sessions["c1"].turns[2].doc or b"")]  # pyright: ignore[reportPrivateUsage]
    of_a_later_one = {**held["identity"], "runtime": "2", "version": "9.0"}
    await change_document(store, identity=of_a_later_one)
    (reason,) = await reasons(store)
    assert reason == (
        f'saywhy 9.0 began it with runtime format "2"; this is saywhy {identity.package_version()} '
        'with "1"'
    )
    await change_document(store, identity={**held["identity"], "version": "9.0"})
    assert await reasons(store) == (), "the version alone says nothing"


async def test_other_charts_than_it_says() -> None:
    """A cursor whose flows are not those of its identity was put together by somebody."""
    store, _ = await interrupted()
    (held,) = [loads_raw(store._sessions["c1"].turns[2].doc or b"")]  # pyright: ignore[reportPrivateUsage]
    await change_document(store, identity={**held["identity"], "charts": ["feed"]})
    assert await reasons(store) == ("its flows are not the ones it was begun with",)


async def test_another_format() -> None:
    """Nobody can decide to read what cannot be read."""
    store, _ = await interrupted()
    await change_document(store, format=2)
    assert await reasons(store) == ("its document has the format 2, and this saywhy reads 1",)
    engine = engine_on(store, Till())
    with pytest.raises(TurnHeld, match="has the format 2"):
        await engine.release_held("c1", by="bob")


async def test_a_turn_that_called_nothing_is_not_held() -> None:
    """It begins again from its message: there is nothing that could happen twice."""
    store, till = await interrupted()
    await engine_on(store, till).recover()
    await store.accept("c1", "m3", b'{"text": "yes"}', user_id="ann")
    assert await reasons(store, **NO_TOOLS) == ()
    assert (await store.turns("c1"))[2].status == "done"


async def test_a_damaged_cursor_is_reported_not_held() -> None:
    """Waiting would not mend it."""
    store, _ = await interrupted()
    await store.recode("c1", lambda document: b"{" if b"identity" in document else document)
    engine = engine_on(store, Till())
    await engine.recover()
    assert await engine.held() == []
    assert (await store.turns("c1"))[1].status == "error"


# ------------------------------------------------------------------ while it is held


async def test_nothing_of_a_held_turn_changes() -> None:
    """No call, no record, no version: however often it is looked at."""
    store, till = await interrupted()
    before = await snapshot(store)
    engine = engine_on(store, till, **NO_TOOLS)
    for _ in range(3):
        await engine.recover()
        with pytest.raises(TurnHeld):
            await engine.take_turn("c1", "5", message_id="m2", user_id="ann")
        assert await snapshot(store) == before
    assert len(till.keys) == 1
    assert [one.status for one in await store.turns("c1")] == ["done", "held"]


async def test_what_is_listed() -> None:
    """Whose turn, since when, why, and the call that nobody knows the end of."""
    store, till = await interrupted()
    lines = Lines()
    engine = engine_on(store, till, **NO_TOOLS, logger=lines)
    await engine.recover()
    (held,) = await engine.held()
    reason = 'the tool "pay", whose call was cut off, is not loaded'
    assert (held.session_id, held.user_id, held.turn_no) == ("c1", "ann", 2)
    assert (held.message_id, held.reasons) == ("m2", (reason,))
    assert held.since > 0
    assert held.call is not None
    assert (held.call.tool, held.call.effect, held.call.key) == ("pay", "repeatable", till.keys[0])
    assert held.call.is_answered is False
    assert lines.lines == [f'E turn 2 of conversation "c1" is held: {reason}']
    assert await engine.held("c1") == [held]
    assert await engine.held("c2") == []


async def test_messages_wait_behind_it() -> None:
    """They are accepted, told so by name, and answered in order once the turn went on."""
    store, till = await interrupted()
    engine = engine_on(store, till, **NO_TOOLS)
    for message_id in ("m3", "m4", "m3"):
        with pytest.raises(TurnHeld) as refusal:
            await engine.take_turn("c1", "yes", message_id=message_id, user_id="ann")
        assert refusal.value.turn_no == 2
        assert refusal.value.message == (
            'turn 2 of conversation "c1" is held: '
            'the tool "pay", whose call was cut off, is not loaded'
        )
        assert refusal.value.hint == (
            "a message that was sent now waits behind it; load what is missing and recover(), "
            "or see `saywhy held list`"
        )
    assert [one.status for one in await store.turns("c1")] == ["done", "held", "queued", "queued"]
    back = engine_on(store, till)
    assert await back.recover() == 3
    assert [one.status for one in await store.turns("c1")] == ["done"] * 4


async def test_a_message_is_enough_when_the_runtime_is_back() -> None:
    """Nobody has to recover by hand: the next message finds that the turn can go on."""
    store, till = await interrupted()
    await engine_on(store, till, **NO_TOOLS).recover()
    back = engine_on(store, till)
    reply = await back.take_turn("c1", "yes", message_id="m3", user_id="ann")
    assert (reply.turn_no, reply.response) == (3, "Flow completed.")
    assert len(set(till.keys)) == 1


async def test_other_conversations_go_on() -> None:
    """One that is held keeps nobody else waiting."""
    store, till = await interrupted()
    engine = engine_on(store, till, flows=[MAIN, OTHER], **NO_TOOLS)
    await engine.recover()
    assert (await engine.take_turn("c2", "Other", user_id="ann")).response == "something else"


# ------------------------------------------------------------------ a person decides


async def test_released_in_spite_of_what_differs() -> None:
    """Who said so is on record, and the turn goes on."""
    store, till = await interrupted()
    await change_document(store, identity=None)
    engine = engine_on(store, till)
    await engine.recover()
    assert await engine.release_held("c1", by="bob") == 1
    assert await engine.held() == []
    note = loads_raw(store._sessions["c1"].turns[2].released or "")  # pyright: ignore[reportPrivateUsage]
    assert (note["by"], note["reasons"]) == ("bob", [NO_IDENTITY])
    reply = await engine.take_turn("c1", "5", message_id="m2", user_id="ann")
    assert reply.response == "paid 5\n\nmore?"


async def test_a_word_holds_for_what_was_listed_only() -> None:
    """Another difference that comes up later is another question."""
    store, till = await interrupted()
    await change_document(store, identity=None)
    await engine_on(store, till).recover()
    await store.release("c1", 2, dumps({"by": "bob", "reasons": [NO_IDENTITY]}).decode())
    stricter = engine_on(store, till, tools=[local_tool("pay")])
    await stricter.recover()
    (held,) = await stricter.held()
    changed = 'the tool "pay" was "repeatable" when its call was cut off, and is "once" now'
    assert held.reasons == (changed,)
    assert await stricter.release_held("c1", by="eve") == 1
    assert await stricter.held() == []


async def test_what_is_missing_cannot_be_decided_away() -> None:
    """A person's word brings no tool back."""
    store, till = await interrupted()
    engine = engine_on(store, till, **NO_TOOLS)
    await engine.recover()
    with pytest.raises(TurnHeld, match="is not loaded"):
        await engine.release_held("c1", by="bob")
    assert [one.turn_no for one in await engine.held()] == [2]


async def test_given_up() -> None:
    """The turn ends without a reply, its call stays on record as unknown, and the rest goes on."""
    store, till = await interrupted()
    engine = engine_on(store, till, **NO_TOOLS)
    await engine.recover()
    with pytest.raises(TurnHeld):
        await engine.take_turn("c1", "7", message_id="m3", user_id="ann")
    given_up = await engine.abandon_held("c1", by="bob", why="paid by hand")
    assert given_up.call is not None
    assert given_up.call.key == till.keys[0]
    with pytest.raises(SaywhyError, match="held and given up by bob: paid by hand") as told:
        await engine.take_turn("c1", "5", message_id="m2", user_id="ann")
    assert told.value.name == "TurnHeld"
    assert [one.status for one in await store.journal("c1", 2)] == ["unknown"]
    assert [one.status for one in await store.turns("c1")] == ["done", "cancelled", "queued"]
    back = engine_on(store, till)
    reply = await back.take_turn("c1", "7", message_id="m3", user_id="ann")
    assert reply.response == "paid 7\n\nmore?"
    assert len(till.keys) == 2
    assert len(set(till.keys)) == 2


async def test_where_none_is_held() -> None:
    """It is said so, and where to look."""
    store, till = await interrupted()
    engine = engine_on(store, till)
    for deciding in (engine.release_held("c1"), engine.abandon_held("c1")):
        with pytest.raises(CallerError) as refusal:
            await deciding
        assert refusal.value.message == 'no turn of conversation "c1" is held'
        assert refusal.value.hint == "saywhy held list names them all"


async def test_held_in_br_v1() -> None:
    """A compressed cursor says what it needs as a plain one does."""
    store, till = await interrupted(session_encoding="br-v1")
    engine = engine_on(store, till, **NO_TOOLS)
    await engine.recover()
    assert len(await engine.held()) == 1
    assert await store.recode("c1", lambda document: encode(document, "plain")) == 0
    assert await reasons(store) == ()
