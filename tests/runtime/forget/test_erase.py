"""Promise: a forgotten person is nowhere any more, and a search of every byte says so."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from saywhy import CallerError, Engine, MemoryStore, SessionBusy, SqliteStore, write_trace
from saywhy.expr import ready
from saywhy.expr.javascript import JavaScript
from saywhy.expr.outcome import Given
from saywhy.runtime.forget.erase import forget
from saywhy.stores import sqlite_file
from saywhy.stores.chat_memory import LocalChatMemory
from saywhy.stores.store import Store
from saywhy.values import FrozenList

ANN, BOB = "person-ann-4711", "person-bob-0815"
WORDS = "Wintergarden Lane 27, third floor"
FLOWS: list[dict[str, Any]] = [
    {
        "id": "move",
        "name": "Move",
        "version": "1.0",
        "description": "moves",
        "prompt": "Move house",
        "primary": True,
        "steps": [
            {"id": "a", "type": "SAY-GET", "variable": "address", "value": "Where do you live?"},
            {
                "id": "b",
                "type": "CALL-TOOL",
                "tool": "look",
                "args": {"at": "{{address}}"},
                "variable": "known",
            },
            {"id": "c", "type": "SAY-GET", "variable": "more", "value": "{{address}}, is it?"},
        ],
    }
]
TOOL: dict[str, Any] = {
    "id": "look",
    "name": "look",
    "description": "looks",
    "parameters": {"type": "object", "properties": {"at": {"type": "string"}}},
    "implementation": {"type": "local", "function": "look"},
    "effect": "once",
}


class Door:
    """A tool that waits where it is told to."""

    def __init__(self) -> None:
        self.open = asyncio.Event()
        self.open.set()

    async def look(self, args: dict[str, Any]) -> dict[str, Any]:
        """Give something back."""
        await self.open.wait()
        return {"found": f"{args['at']} exists"}


def engine_on(store: Store, door: Door | None = None) -> Engine:
    """An engine with one flow."""
    functions = {"look": (door or Door()).look}
    return Engine(flows=FLOWS, tools=[TOOL], functions=functions, store=store)


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    """Each kind of store."""
    return MemoryStore() if request.param == "memory" else SqliteStore(tmp_path / "s.db")


async def talk(engine: Engine, name: str, user: str, words: str) -> None:
    """A conversation that goes on."""
    await engine.take_turn(name, "Move", user_id=user)
    await engine.take_turn(name, words, user_id=user)


async def test_nothing_is_left_and_the_search_says_so(store: Store) -> None:
    """Texts of the person are looked for everywhere, and none is found; others are untouched."""
    async with engine_on(store) as engine:
        await talk(engine, "conversation-a", ANN, WORDS)
        await talk(engine, "conversation-b", BOB, "Elsewhere 99, ground floor")
        done = await engine.forget(ANN, prove=True)
        assert done.conversations == 1
        assert done.is_proven
        assert done.proof is not None
        assert done.proof.texts >= 4
        assert all(place.found == () for place in done.proof.places)
        assert sum(place.bytes for place in done.proof.places) > 1000
        assert await store.session("conversation-a") is None
        reply = await engine.take_turn("conversation-b", "yes", user_id=BOB)
        assert reply.turn_no == 3


@pytest.mark.parametrize("prove", [True, False])
async def test_the_file_itself_holds_nothing(tmp_path: Path, prove: bool) -> None:
    """Read without the store: no byte of it, no free page, no log."""
    path = tmp_path / "s.db"
    async with engine_on(SqliteStore(path)) as engine:
        await talk(engine, "conversation-a", ANN, WORDS)
        there = b"".join(one.read_bytes() for one in tmp_path.iterdir())
        assert WORDS.encode() in there
        await engine.forget(ANN, prove=prove)
        left = b"".join(one.read_bytes() for one in tmp_path.iterdir())
    for text in (ANN, WORDS, "conversation-a", "Wintergarden"):
        assert text.encode() not in left


async def test_a_reader_that_stays_does_not_hold_up_the_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The log cannot be emptied while somebody reads what was there before: that is told soon."""
    monkeypatch.setattr(sqlite_file, "FOLD_SECONDS", 0.01)
    path = tmp_path / "s.db"
    async with engine_on(SqliteStore(path)) as engine:
        await talk(engine, "conversation-a", ANN, WORDS)
        reader = sqlite3.connect(path, isolation_level=None)
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM session").fetchone()
        async with asyncio.timeout(20):
            done = await engine.forget(ANN, prove=True)
        assert not done.is_proven
        reader.close()
        async with asyncio.timeout(20):
            done = await engine.forget(ANN, prove=True)
        assert done.proof is not None
        assert done.proof.holds


async def test_nothing_is_proven_of_whom_nobody_knows(store: Store) -> None:
    """An id with a slip of the pen must not pass for a person who is gone."""
    async with engine_on(store) as engine:
        await talk(engine, "conversation-a", ANN, WORDS)
        done = await engine.forget("person-ann-4712", prove=True)
        assert not done.is_proven
        assert done.conversations == 0
        assert await store.session("conversation-a") is not None


async def test_nothing_is_proven_where_nothing_can_be_looked_for(store: Store) -> None:
    """All that the person said is too short, and so are the ids."""
    async with engine_on(store) as engine:
        await engine.take_turn("c-1", "Move", user_id="ann")
        done = await engine.forget("ann", prove=True)
    assert done.conversations == 1
    assert done.proof is not None
    assert (done.proof.texts, done.proof.holds, done.proof.is_left) == (0, False, False)
    assert not done.is_proven


async def test_a_trace_without_a_name_goes(store: Store, tmp_path: Path) -> None:
    """It is known by its first message, said at that very moment; that of another stays."""
    files = {name: tmp_path / f"{name}.jsonl" for name in ("c-1", "c-2")}
    async with engine_on(store) as engine:
        for (name, path), user in zip(files.items(), ("ann", "bob"), strict=True):
            await engine.take_turn(name, "Move", user_id=user)
            write_trace(await engine.trace(name), path)
        done = await engine.forget("ann", recordings=[tmp_path / "c-1.jsonl", files["c-2"]])
    assert done.recordings[str(files["c-2"])] == 0
    assert done.recordings[str(files["c-1"])] > 5
    assert [path.exists() for path in files.values()] == [False, True]


async def test_a_document_is_searched_and_left_alone(tmp_path: Path) -> None:
    """Lines taken out of it would break it; what flows say to everybody is no sign of a person."""
    (tmp_path / "kept").mkdir()
    notes, flows = tmp_path / "kept" / "notes.json", tmp_path / "kept" / "flows.json"
    notes.write_text(json.dumps({"note": f"ask {ANN}"}, indent=2))
    flows.write_text(json.dumps(FLOWS))
    async with engine_on(SqliteStore(tmp_path / "s.db")) as engine:
        await engine.take_turn("conversation-b", "Move house", user_id=BOB)
        await engine.take_turn("conversation-a", "Move house", user_id=ANN)
        done = await engine.forget(ANN, prove=True, recordings=[tmp_path / "kept"])
    assert ANN in notes.read_text()
    assert not done.is_proven
    assert done.proof is not None
    left = {Path(place.where).name: len(place.found) for place in done.proof.places if place.found}
    assert left == {"notes.json": 1}


async def test_what_is_still_there_is_reported(tmp_path: Path) -> None:
    """A copy that somebody made inside the file is found, and told without the text itself."""
    path = tmp_path / "s.db"
    async with engine_on(SqliteStore(path)) as engine:
        await talk(engine, "conversation-a", ANN, WORDS)
        with sqlite3.connect(path) as db:
            db.execute("CREATE TABLE copy (held TEXT)")
            db.execute("INSERT INTO copy VALUES (?)", (ANN,))
        db.close()
        done = await engine.forget(ANN, prove=True)
    assert not done.is_proven
    assert done.proof is not None
    found = [what for place in done.proof.places for what in place.found]
    assert len(found) == 1
    assert found[0].startswith(f"the person's id ({len(ANN)} characters) at byte ")
    assert ANN not in repr(done)


async def test_what_others_said_too_proves_nothing(store: Store) -> None:
    """The same words of somebody else stay, are counted, and are no failure."""
    async with engine_on(store) as engine:
        await talk(engine, "conversation-a", ANN, WORDS)
        await talk(engine, "conversation-b", BOB, WORDS)
        done = await engine.forget(ANN, prove=True)
    assert done.is_proven
    assert done.proof is not None
    assert done.proof.shared >= 1


async def test_a_turn_that_runs_is_waited_for(store: Store) -> None:
    """Its effect is taken in before anything is erased; then it goes too."""
    door = Door()
    async with engine_on(store, door) as engine:
        await engine.take_turn("conversation-a", "Move", user_id=ANN)
        door.open.clear()
        turn = asyncio.create_task(engine.take_turn("conversation-a", WORDS, user_id=ANN))
        await asyncio.sleep(0.05)
        erasing = asyncio.create_task(engine.forget(ANN, prove=True))
        await asyncio.sleep(0.05)
        assert not erasing.done()
        door.open.set()
        assert (await turn).response is not None
        assert (await erasing).is_proven


async def test_a_turn_that_does_not_end_is_named(store: Store) -> None:
    """Nothing is erased behind its back."""
    door = Door()
    async with engine_on(store, door) as engine:
        await engine.take_turn("conversation-a", "Move", user_id=ANN)
        door.open.clear()
        turn = asyncio.create_task(engine.take_turn("conversation-a", WORDS, user_id=ANN))
        await asyncio.sleep(0.05)
        with pytest.raises(SessionBusy) as caught:
            await engine.forget(ANN, wait_seconds=0.1)
        assert str(caught.value).startswith(
            "turn 2 of the conversation conversation-a runs or waits to be run: nothing was erased"
        )
        door.open.set()
        assert (await turn).response is not None


async def test_other_conversations_go_on_meanwhile(tmp_path: Path) -> None:
    """People talk while somebody is forgotten; no turn of theirs fails."""
    async with engine_on(SqliteStore(tmp_path / "s.db")) as engine:
        for number in range(5):
            await talk(engine, f"conversation-a{number}", ANN, f"{WORDS} {number}")
        others = [talk(engine, f"conversation-b{n}", BOB, f"Elsewhere {n}") for n in range(20)]
        erasing = asyncio.create_task(engine.forget(ANN, prove=True))
        await asyncio.gather(*others)
        done = await erasing
        assert done.is_proven
        assert done.conversations == 5
        assert len(await engine.store.sessions(BOB, 100)) == 20  # pyright: ignore


async def test_recordings_and_memories_forget_too(tmp_path: Path) -> None:
    """Lines that hold something of the person go, those of others stay."""
    lines = [json.dumps({"number": 1, "ask": {"messages": [WORDS]}}), json.dumps({"number": 2})]
    (tmp_path / "model.jsonl").write_text("\n".join(lines) + "\n")
    memory = LocalChatMemory()
    memory.save("conversation-a", [{"role": "user", "content": WORDS}])
    memory.save("other", [{"role": "user", "content": "hello"}])
    async with engine_on(SqliteStore(tmp_path / "s.db")) as engine:
        await talk(engine, "conversation-a", ANN, WORDS)
        given: dict[str, Any] = {"recordings": [tmp_path], "memories": [memory]}
        done = await engine.forget(ANN, prove=True, **given)
    assert done.recordings == {str(tmp_path / "model.jsonl"): 1}
    assert (tmp_path / "model.jsonl").read_text() == lines[1] + "\n"
    assert done.memories == 1
    assert not memory.load("conversation-a")
    assert memory.load("other")
    assert done.is_proven


async def test_expressions_keep_no_list_of_theirs() -> None:
    """What lies ready for conditions that ask the same list again goes with the person."""
    names = Given({"xs": FrozenList([WORDS])})
    for _ in range(3):
        JavaScript().evaluate("xs.indexOf('a')", names)
    assert any(WORDS.encode() in data for data in kept_for_expressions())
    await engine_on(MemoryStore()).forget(ANN)
    assert not any(WORDS.encode() in data for data in kept_for_expressions())


def kept_for_expressions() -> list[bytes]:
    """The JSON of what lies ready in the contexts of all threads."""
    return [data for each in list(ready._everywhere) for data in each._kept]


async def test_wrong_use_is_told() -> None:
    """Nobody named, no such recording, a store that cannot be searched."""
    store = MemoryStore()
    async with store:
        with pytest.raises(CallerError, match="whom to forget is not said"):
            await forget(store, "")
        with pytest.raises(CallerError, match="user_id holds half a character"):
            await forget(store, "ann \ud83d")
        with pytest.raises(CallerError, match=r"there is no recording nowhere\.jsonl"):
            await forget(store, ANN, recordings=["nowhere.jsonl"])
    async with Engine() as engine:
        with pytest.raises(CallerError, match="there is no store to erase anybody from"):
            await engine.forget(ANN)
