"""A stored conversation as a trace: a long one is read from its end and tells the same."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from saywhy.chart.commit import Commit
from saywhy.errors import CallerError
from saywhy.runtime.engine import Engine
from saywhy.runtime.recorded import AT_ONCE
from saywhy.stores.memory import MemoryStore
from saywhy.stores.parts import Part, Parts
from saywhy.stores.sqlite import SqliteStore
from saywhy.stores.store import Store
from saywhy.trace.block import read_block, rows_of
from saywhy.trace.causes.why import Reply, Variable, why
from saywhy.trace.paged import PagedTrace
from saywhy.trace.pages import Page
from saywhy.trace.trace import Trace
from saywhy.trace.writers import Writers

TURNS = 2 * AT_ONCE
STORY = "It was a dark and stormy night; the rain fell in torrents, except at odd intervals: {}."
FLOWS: list[dict[str, Any]] = [
    {
        "id": "main",
        "name": "main",
        "version": "1",
        "prompt": "main",
        "description": "Talks",
        "steps": [
            {"type": "SAY-GET", "id": "name", "variable": "name", "value": "Your name?"},
            {"type": "SET", "id": "keep", "variable": "kept", "value": "cargo.plan = {a: [1]}"},
            {"type": "FLOW", "id": "go", "value": "talk", "callType": "replace"},
        ],
    },
    {
        "id": "talk",
        "name": "talk",
        "version": "1",
        "prompt": "talk",
        "description": "Goes on",
        "steps": [
            {"type": "SAY-GET", "id": "ask", "variable": "note", "value": "Go on"},
            {"type": "SET", "id": "grow", "variable": "n", "value": "cargo.n = (cargo.n || 0) + 1"},
            {
                "type": "CASE",
                "id": "which",
                "branches": {
                    "condition: note == 'who'": {
                        "type": "SAY", "id": "who", "value": "{{name}} has {{cargo.plan.a[0]}}."
                    },
                    "default": {"type": "SAY", "id": "echo", "value": "{{note}}"},
                },
            },
            {"type": "FLOW", "id": "again", "value": "talk", "callType": "replace"},
        ],
    },
]  # fmt: skip


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    return (
        MemoryStore()
        if request.param == "memory"
        else SqliteStore(tmp_path / "s.db", synchronous="NORMAL")
    )


@pytest.fixture
async def engine(store: Store) -> AsyncIterator[Engine]:
    async with Engine(flows=FLOWS, store=store) as engine:
        words = ["main", "Ann", *(STORY.format(n) for n in range(TURNS)), "who"]
        for text in words:
            await engine.take_turn("c1", text)
        yield engine


async def both(engine: Engine, store: Store) -> tuple[PagedTrace, Trace]:
    """The trace as the engine gives it, and one that was read at once."""
    paged = await engine.trace("c1")
    assert isinstance(paged, PagedTrace)
    rows = await store.commits("c1")
    commits = [commit for row in rows for commit in read_block(row.doc).commits]
    told = await engine.trace("c1")
    assert isinstance(told, PagedTrace)
    return paged, Trace(commits, paged.charts, told.whole.messages())


async def test_a_short_one_is_read_at_once(store: Store) -> None:
    """Up to so many turns nothing is gained by reading it in parts."""
    async with Engine(flows=FLOWS, store=store) as engine:
        await engine.take_turn("c1", "main")
        assert type(await engine.trace("c1")) is Trace


async def test_tells_the_same(engine: Engine, store: Store) -> None:
    """Every lookup gives what it gives in a trace that was read at once."""
    paged, whole = await both(engine, store)
    assert list(paged) == list(whole)
    assert (len(paged), paged.first, paged.last) == (len(whole), whole.first, whole.last)
    assert (paged.turns, paged.newest_turn) == (whole.turns, whole.newest_turn)
    assert [paged.turn(n) for n in paged.turns] == [whole.turn(n) for n in whole.turns]
    assert [paged.end_of(n) for n in paged.turns] == [whole.end_of(n) for n in whole.turns]
    assert paged.messages() == whole.messages()
    assert (paged.frames, paged.decisions) == (whole.frames, whole.decisions)
    assert (paged.names, paged.key("name")) == (whole.names, whole.key("name"))
    numbers = [message.seq for message in whole.messages()]
    assert [paged.message(n) for n in numbers] == [whole.message(n) for n in numbers]


async def test_steps_are_found_alike(engine: Engine, store: Store) -> None:
    """Which step came before and after, and which one opened a frame."""
    paged, whole = await both(engine, store)
    for commit in list(whole)[:: len(whole) // 60]:
        assert paged.opener(commit) == whole.opener(commit)
        assert paged.next_of(commit) == whole.next_of(commit)
        where = (commit.frame, commit.node, commit.seq)
        assert paged.newest(*where) == whole.newest(*where)
        assert paged.steps_of(frame=commit.frame) == whole.steps_of(frame=commit.frame)


async def test_writers_are_found_alike(engine: Engine, store: Store) -> None:
    """Who wrote each thing that a step read, from its own turn or from long before."""
    paged, whole = await both(engine, store)
    far = 0
    for commit in whole:
        for key in commit.reads:
            if key[0] in ("turn", "globals"):
                continue
            writer = whole.last_writer(key, commit.seq)
            assert paged.last_writer(key, commit.seq) == writer, (commit.seq, key)
            far += writer is not None and writer.turn < commit.turn - TURNS // 2
    assert far > 1
    for key in (("cargo", "plan"), ("cargo", "n"), ("cargo",), paged.key("name")):
        assert paged.last_writer(key) == whole.last_writer(key)
        for seq in range(1, paged.last, 40):
            assert paged.value_at(key, seq) == whole.value_at(key, seq), (key, seq)
    assert paged.writers(("cargo", "plan")) == whole.writers(("cargo", "plan"))
    assert paged.readers(("cargo", "plan")) == whole.readers(("cargo", "plan"))
    assert paged.timeline("note") == whole.timeline("note")
    assert paged.last_writer(("cargo", "missing")) is None


async def test_explains_the_same(engine: Engine, store: Store) -> None:
    """Chains and stories have the same words, also about turns of long ago."""
    paged, whole = await both(engine, store)
    for target in (Reply(), Reply(3), Reply(TURNS), Variable("name"), Variable("cargo.plan")):
        assert why(paged, target).text() == why(whole, target).text()
    assert paged.narrative() == whole.narrative()


async def test_few_turns_are_read(engine: Engine, store: Store) -> None:
    """A variable that was set in the second turn is found without what lies between."""
    read: list[int] = []

    class Counting:
        def __init__(self, parts: Parts) -> None:
            self._parts = parts
            self.first, self.last, self.doc = parts.first, parts.last, parts.doc

        def read(self, first: int, last: int) -> list[Part]:
            read.extend(range(first, last + 1))
            return self._parts.read(first, last)

        def __getattr__(self, name: str) -> Any:
            return getattr(self._parts, name)

    from saywhy.runtime.recorded import paged

    assert isinstance(store, MemoryStore | SqliteStore)
    parts = await store.parts("c1")
    assert parts is not None
    counting: Any = Counting(parts)
    trace = paged(engine._machinery, counting)  # pyright: ignore[reportPrivateUsage]
    asked = trace.last_writer(trace.key("name"), trace.last + 1)
    assert asked is not None and asked.turn == 2
    assert len({*read}) <= 2 * AT_ONCE
    assert trace.last_writer(("cargo", "note")) is None  # a name that stands in every turn
    assert len({*read}) <= 2 * AT_ONCE


async def test_what_nothing_wrote_is_looked_for_once(engine: Engine) -> None:
    """Of a variable of a flow that is over, too, of which the session knows nothing any more."""
    trace = await engine.trace("c1")
    assert isinstance(trace, PagedTrace)
    decoded: list[int] = []
    pages = trace._pages  # pyright: ignore[reportPrivateUsage]
    back = pages.back

    def counted(turn: int, *words: str, least: int = 0) -> Iterator[Page]:
        for page in back(turn, *words, least=least):
            decoded.append(page.turn)
            yield page

    pages.back = counted
    gone = ("v999", "note")
    assert trace.last_writer(gone) is None
    assert len(decoded) > TURNS // 2
    earlier = range(trace.last, 1, -20)
    seen = len(decoded)
    for before in earlier:
        assert trace.last_writer(gone, before) is None
    assert len(decoded) == seen


async def test_a_trace_outlives_its_store(store: Store) -> None:
    """What it reads after the store was closed is read from the file, or from memory."""
    async with Engine(flows=FLOWS, store=store) as engine:
        for text in ["main", "Ann", *("x" for _ in range(AT_ONCE))]:
            await engine.take_turn("c1", text)
        trace = await engine.trace("c1")
    assert "Ann" in trace.turn(2).messages[0].text
    assert why(trace, Reply(3)).text()


async def test_it_stays_as_it_was(engine: Engine) -> None:
    """Turns that come later are not in it, and nothing can be added to it."""
    trace = await engine.trace("c1")
    last = trace.newest_turn
    await engine.take_turn("c1", "more")
    assert (trace.newest_turn, trace.turns[-1]) == (last, last)
    commit = Commit(10**6, 1, 1, "c", "f", "n", "SET")
    with pytest.raises(CallerError, match="nothing is added to it"):
        trace.append(commit)
    with pytest.raises(CallerError, match="commit 1000000 is not in this trace"):
        trace.commit(10**6)
    with pytest.raises(CallerError, match="no step of turn 9999"):
        trace.end_of(9999)


async def test_a_damaged_message_is_named(tmp_path: Path) -> None:
    """As it is where a conversation is short and read as a whole;
    other turns are told."""
    path = tmp_path / "s.db"
    async with Engine(flows=FLOWS, store=SqliteStore(path)) as engine:
        for text in ("main", "Ann", *map(str, range(AT_ONCE))):
            await engine.take_turn("c1", text)
        with sqlite3.connect(path) as db:
            db.execute("UPDATE message SET doc = ? WHERE turn_no = 3", (b'{"seq": []}',))
        db.close()
        trace = await engine.trace("c1")
        assert isinstance(trace, PagedTrace)
        with pytest.raises(CallerError, match="this is no message of a conversation: ") as caught:
            trace.why(Reply(3))
        assert caught.value.hint == "restore the newest backup of the store"
        assert trace.turn(9).messages


async def test_without_links(engine: Engine, store: Store) -> None:
    """Of turns that were recorded before there were links, the same is found by going through."""
    paged, whole = await both(engine, store)
    unknown = PagedTrace(paged._pages, paged.charts, Writers(paged.last + 1))  # pyright: ignore[reportPrivateUsage]
    for key in (("cargo", "plan"), paged.key("name"), ("cargo", "missing")):
        assert unknown.last_writer(key) == whole.last_writer(key)


async def test_a_turn_that_was_given_up(store: Store) -> None:
    """Its commits do not stand in the way of the next turn, which takes their numbers again."""
    async with Engine(flows=FLOWS, store=store) as engine:
        await engine.take_turn("c1", "main", user_id="ann")
        commits = list(await engine.trace("c1"))
        await store.accept("c1", "lost", b"x", user_id="ann")
        claim = await store.claim("w", session_id="c1")
        assert claim is not None
        lost = [msgspec.structs.replace(one, turn=2, seq=one.seq + len(commits)) for one in commits]
        await store.fail(claim, "error", "no", commits=rows_of(lost, ()))
        await engine.take_turn("c1", "Ann", user_id="ann")
        trace = await engine.trace("c1")
        assert [one.turn for one in trace] == [1] * len(commits) + [3] * (len(trace) - len(commits))
