"""How conversations are kept: options that fit together, modes that are kept to, two encodings."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from saywhy.errors import CallerError, LibraryMissing, OutsideError, PersistenceMismatch
from saywhy.runtime.engine import Engine
from saywhy.stores.encoding import decode, encode, encoding_of
from saywhy.stores.memory import MemoryStore
from saywhy.stores.sqlite import SqliteStore
from saywhy.values import loads_raw
from tests.flows.conftest import engine_of
from tests.runtime.interrupted import MAIN, Till, engine_on, interrupted

SESSION_ONLY = {"action_persistence": "session-only"}


# ------------------------------------------------------------------ options


def refused(**options: Any) -> CallerError:
    with pytest.raises(CallerError) as refusal:
        engine_of(MAIN, **options)
    return refusal.value


def test_without_a_journal_nothing_is_durable() -> None:
    """Whoever wants both is told so when the engine is made."""
    error = refused(durable_actions=True, store=MemoryStore(), **SESSION_ONLY)
    assert error.message == (
        'durable_actions=True contradicts action_persistence="session-only": without a journal '
        "nobody knows after a crash which actions were taken"
    )
    assert error.hint == "leave one of the two out"
    engine_of(MAIN, durable_actions=True, store=MemoryStore())
    engine_of(MAIN, durable_actions=True, action_persistence="durable", store=MemoryStore())
    engine_of(MAIN, durable_actions=False, store=MemoryStore(), **SESSION_ONLY)


@pytest.mark.parametrize(
    ("options", "asked"),
    [
        ({"durable_actions": True}, "durable_actions=True"),
        ({"action_persistence": "durable"}, 'action_persistence="durable"'),
    ],
)
def test_durable_needs_a_store(options: dict[str, Any], asked: str) -> None:
    """There is nowhere else that a journal could be."""
    error = refused(**options)
    assert error.message == f"{asked} needs a store: the journal of actions is kept there"
    assert error.hint == "Engine(..., store=SqliteStore(path))"
    engine_of(MAIN, **SESSION_ONLY)


def test_words_that_are_none() -> None:
    """What there is to choose from is told."""
    said = refused(action_persistence="never", store=MemoryStore()).message
    assert said == """action_persistence is "durable" or "session-only", not 'never'"""
    said = refused(session_encoding="gzip").message
    assert said == """session_encoding is "plain" or "br-v1", not 'gzip'"""


def test_an_encoding_that_cannot_be_written(monkeypatch: pytest.MonkeyPatch) -> None:
    """Is found when the engine is made, not in the midst of a turn."""
    monkeypatch.setitem(sys.modules, "brotli", None)
    engine_of(MAIN)
    with pytest.raises(LibraryMissing, match="to write documents in br-v1 the library brotli is"):
        engine_of(MAIN, session_encoding="br-v1", store=MemoryStore())


# ------------------------------------------------------------------ modes


@pytest.mark.parametrize(
    ("first", "then"), [("durable", "session-only"), ("session-only", "durable")]
)
async def test_a_conversation_keeps_its_mode(first: str, then: str) -> None:
    """On an engine with another one a message is refused before it is accepted."""
    store, till = MemoryStore(), Till()
    begun = engine_on(store, till, action_persistence=first)
    await begun.take_turn("c1", "Main", message_id="m1", user_id="ann")
    before = (await store.session("c1"), await store.turns("c1"))
    other = engine_on(store, till, action_persistence=then)
    for message_id in ("m2", "m1"):
        with pytest.raises(PersistenceMismatch) as refusal:
            await other.take_turn("c1", "5", message_id=message_id, user_id="ann")
    assert refusal.value.message == (
        f'conversation "c1" began with action_persistence "{first}" and keeps to it; '
        f'"{then}" was asked for'
    )
    assert refusal.value.hint == (
        f'go on with it on an engine with action_persistence="{first}"; this message was not '
        "accepted"
    )
    assert (await store.session("c1"), await store.turns("c1")) == before
    reply = await begun.take_turn("c1", "5", message_id="m2", user_id="ann")
    assert reply.response == "paid 5\n\nmore?"
    assert (await other.take_turn("c2", "Main", user_id="ann")).response == "how many?"


async def test_recovering_passes_other_modes_by() -> None:
    """What another engine left is for one like it."""
    store, till = await interrupted()
    other = engine_on(store, till, **SESSION_ONLY)
    assert await other.recover() == 0
    assert await other.recover("c1") == 0
    assert await engine_on(store, till).recover() == 1


async def test_anybody_may_read() -> None:
    """A session and its record do not depend on how they came to be."""
    store = MemoryStore()
    await engine_on(store, Till()).take_turn("c1", "Main", user_id="ann")
    other = engine_on(store, Till(), **SESSION_ONLY)
    session = await other.session("c1")
    assert session is not None
    assert session.flow_stacks == [["Main"]]
    assert "how many?" in (await other.trace("c1")).narrative()


# ------------------------------------------------------------------ encodings


async def stored_encodings(store: MemoryStore) -> list[str]:
    """Of the document of c1, and of the cursor of its open turn."""
    found: list[str] = []
    await store.recode("c1", lambda document: (found.append(encoding_of(document)), document)[1])
    return found


async def test_sessions_are_plain_unless_asked() -> None:
    """A document is the JSON that it always was, with a cursor's identity beside it."""
    store, _ = await interrupted()
    assert await stored_encodings(store) == ["plain", "plain"]
    session = await store.session("c1")
    assert session is not None
    assert loads_raw(session.doc or b"")["sessionId"] == "c1"


@pytest.mark.parametrize(("first", "then"), [("plain", "br-v1"), ("br-v1", "plain")])
async def test_every_reader_takes_both(first: str, then: str) -> None:
    """A turn that was cut off, the next turn, the session and the record: in either encoding."""
    store, till = await interrupted(session_encoding=first)
    assert await stored_encodings(store) == [first, first]
    engine = engine_on(store, till, session_encoding=then)
    session = await engine.session("c1")
    assert session is not None
    assert session.response == "how many?"
    assert await engine.recover() == 1
    assert await stored_encodings(store) == [then]
    again = await engine.take_turn("c1", "5", message_id="m2", user_id="ann")
    assert (again.response, again.repeated) == ("paid 5\n\nmore?", True)
    assert len(set(till.keys)) == 1
    back = engine_on(store, till, session_encoding=first)
    assert (await back.take_turn("c1", "yes", user_id="ann")).response == "Flow completed."
    assert await stored_encodings(store) == [first]
    assert "paid 5" in (await back.trace("c1")).narrative()


async def test_a_failed_turn_is_written_like_any_other() -> None:
    """The repaired session of a turn that raised is compressed as well."""
    store = MemoryStore()
    engine = engine_on(store, Till(), session_encoding="br-v1", max_steps=2)
    with pytest.raises(Exception, match="steps"):
        await engine.take_turn("c1", "Main", user_id="ann")
        await engine.take_turn("c1", "5", user_id="ann")
    assert await stored_encodings(store) == ["br-v1"]


async def test_without_the_library_a_message_waits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is lost by it: the message is answered when the library is there."""
    path = tmp_path / "s.db"

    def engine(**options: Any) -> Engine:
        return engine_on(SqliteStore(path), Till(), **options)

    async with engine(session_encoding="br-v1") as one:
        await one.take_turn("c1", "Main", message_id="m1", user_id="ann")
    with monkeypatch.context() as without:
        without.setitem(sys.modules, "brotli", None)
        async with engine() as one:
            with pytest.raises(OutsideError) as refusal:
                await one.take_turn("c1", "5", message_id="m2", user_id="ann")
            assert refusal.value.hint == "pip install 'saywhy[brotli]'"
            with pytest.raises(LibraryMissing, match="to read documents in br-v1"):
                await one.session("c1")
    async with engine() as one:
        assert await one.recover() == 1
        reply = await one.take_turn("c1", "5", message_id="m2", user_id="ann")
        assert reply.response == "paid 5\n\nmore?"


async def test_a_damaged_document_is_reported() -> None:
    """As one in plain text would be: the turn ends with it, and the document stays."""
    store = MemoryStore()
    engine = engine_on(store, Till(), session_encoding="br-v1")
    await engine.take_turn("c1", "Main", user_id="ann")
    await store.recode("c1", lambda document: document[:-3])
    with pytest.raises(CallerError, match="its br-v1 document was cut off"):
        await engine.take_turn("c1", "5", user_id="ann")
    session = await store.session("c1")
    assert session is not None
    assert not session.running
    assert encoding_of(session.doc or b"") == "br-v1"


async def test_to_json_is_never_compressed() -> None:
    """What a host keeps itself is text, whatever the engine's store holds."""
    engine = engine_on(MemoryStore(), Till(), session_encoding="br-v1")
    session = await engine.update_activity("Main", engine.init_session("ann", "c1"))
    text = session.to_json()
    assert text.startswith(b'{"format":1')
    assert decode(encode(text, "br-v1")) == text
    assert engine.load_session(text).flow_stacks == [["Main"]]
