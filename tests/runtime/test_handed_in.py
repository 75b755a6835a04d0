"""What a host hands in for a turn is taken as it is, or refused with what is wrong."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import pytest

from saywhy import CallerError, Engine, SqliteStore
from saywhy.runtime.entry import Entry

FLOW: dict[str, Any] = {
    "id": "f",
    "name": "F",
    "steps": [
        {"id": "ask", "type": "SAY-GET", "variable": "n", "value": "n?"},
        {"id": "say", "type": "SAY", "value": "{{JSON.stringify(cargo)}}"},
    ],
}
LOOKS_LIKE_A_MARK = {"$date": "no date"}


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (5, "an entry is text or a mapping, not int"),
        ({}, "the entry has no content"),
        ({"role": "bot", "content": "x"}, 'Unsupported role "bot"'),
        ({"content": b"x"}, "is a bytes, which a conversation cannot hold"),
        ({"content": "x", "metadata": "m"}, "the metadata of an entry must be an object, not str"),
        ({"content": "x", "metadata": {"k": object()}}, "metadata.k is a object"),
        ({"content": "x", "timestamp": "soon"}, "milliseconds since 1970, not 'soon'"),
        ({"content": "x", "timestamp": True}, "milliseconds since 1970, not True"),
        ({"content": "x", "timestamp": float("nan")}, "milliseconds since 1970, not nan"),
        ({"content": "x", "timestamp": 10**400}, "milliseconds since 1970, not 1000"),
        ({"content": "x", "start": "F"}, "start needs the name or id of a flow"),
        (
            {"content": "x", "start": {"flow": "F", "arguments": [1]}},
            "the arguments of an entry must be an object, not list",
        ),
    ],
)
def test_what_is_refused(given: Any, told: str) -> None:
    """The error says which part it is."""
    with pytest.raises(CallerError) as caught:
        Entry.of(given)
    assert told in str(caught.value)


def test_cargo_and_language_are_looked_at_too() -> None:
    """They come beside the entry, and are refused as parts of it are."""
    with pytest.raises(CallerError, match="the cargo of an entry must be an object, not str"):
        Entry.of("x", "cargo")  # type: ignore[arg-type]
    with pytest.raises(CallerError, match="a language is text like 'en', not 5"):
        Entry.of("x", None, 5)  # type: ignore[arg-type]


def test_through_json() -> None:
    """An entry waits in the store as JSON and comes back the same."""
    moment = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)
    entry = Entry.of(
        {
            "content": {"text": "x"},
            "timestamp": moment,
            "metadata": LOOKS_LIKE_A_MARK,
            "start": {"flow": "F", "arguments": LOOKS_LIKE_A_MARK},
        },
        cargo=LOOKS_LIKE_A_MARK,
    )
    again = Entry.from_json(entry.to_json())
    assert again == entry
    assert again.to_json() == entry.to_json()
    assert again.timestamp == 1_767_225_600_000


async def test_names_of_the_host_are_not_taken_for_marks(tmp_path: Path) -> None:
    """An object of one key that looks like a mark of ours stays what it is, at every rest."""
    store = SqliteStore(tmp_path / "s.sqlite3")
    async with Engine(flows=[FLOW], validate_on_init=False, store=store) as engine:
        entry = {"content": "F", "metadata": LOOKS_LIKE_A_MARK}
        await engine.take_turn("c", entry, cargo=LOOKS_LIKE_A_MARK)
        reply = await engine.take_turn("c", "x")
        assert reply.response == '{"$date":"no date"}'
        session = await engine.session("c")
        assert session is not None
        assert session.cargo == LOOKS_LIKE_A_MARK


async def test_cargo_that_comes_with_an_answer_of_the_host_itself(tmp_path: Path) -> None:
    """No step runs for it; its cargo and language are kept all the same."""
    store = SqliteStore(tmp_path / "s.sqlite3")
    async with Engine(flows=[FLOW], validate_on_init=False, store=store) as engine:
        entry = {"role": "assistant", "content": "hello"}
        await engine.take_turn("c", entry, cargo={"plan": "gold"}, language="es")
        session = await engine.session("c")
        assert session is not None
        assert (session.cargo, session.language) == ({"plan": "gold"}, "es")
        await engine.take_turn("c", "F")
        assert (await engine.take_turn("c", "x")).response == '{"plan":"gold"}'


@pytest.mark.parametrize(
    ("ids", "told"),
    [
        ({"message_id": 5}, "message_id is text, not int"),
        ({"user_id": 5}, "user_id is text, not int"),
        ({"session_id": None}, "session_id is text, not NoneType"),
        ({"session_id": "\ud800"}, r"session_id holds half a character: '\ud800'"),
    ],
)
async def test_ids_are_text(tmp_path: Path, ids: dict[str, Any], told: str) -> None:
    """An id that a store would change is refused before anything is stored."""
    store = SqliteStore(tmp_path / "s.sqlite3")
    async with Engine(flows=[FLOW], validate_on_init=False, store=store) as engine:
        with pytest.raises(CallerError) as caught:
            await engine.take_turn(**{"session_id": "c", "entry": "F", **ids})
        assert str(caught.value) == told
        assert await store.sessions() == ()
