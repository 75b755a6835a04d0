"""The store in an SQLite file keeps what `saywhy.stores.store` promises, and some things more."""

from __future__ import annotations

import asyncio
import itertools
import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from saywhy.errors import CallerError
from saywhy.stores.sqlite import SqliteStore
from saywhy.stores.store import Claim
from saywhy.stores.timers import Timer
from saywhy.testing.check_store import STORE_CHECKS, check_promise
from saywhy.testing.store_parts import Check, begin, call, finish, take_over


@pytest.fixture
def make_store(tmp_path: Path) -> Callable[[], SqliteStore]:
    numbers = itertools.count()
    return lambda: SqliteStore(tmp_path / f"{next(numbers)}.db")


@pytest.mark.parametrize("check", STORE_CHECKS, ids=lambda check: check.__name__)
def test_keeps_its_promise(check: Check, make_store: Callable[[], SqliteStore]) -> None:
    """Each promise of a store holds in a file."""
    asyncio.run(check_promise(check, make_store))


def test_is_there_after_closing(tmp_path: Path) -> None:
    """What was stored is there when the file is opened again, by the same object or another."""

    async def scene() -> None:
        store = SqliteStore(str(tmp_path / "s.db"), synchronous="NORMAL")
        async with store:
            claim = await begin(store)
            await store.intent(claim, 1, call(1), b"cursor", [(1, b"c")])
            await store.renew(claim, 0.0)
        async with store:
            claim = await take_over(store)
            assert (claim.turn_doc, claim.journal[0].status) == (b"cursor", "asked")
            await finish(store, claim)
        async with SqliteStore(tmp_path / "s.db") as other:
            session = await other.session("s")
            assert session is not None
            assert session.doc == b"doc-reply"

    asyncio.run(scene())
    assert [path.name for path in tmp_path.iterdir()] == ["s.db"]  # the log was folded in


def test_closing_finishes_what_was_handed_in(tmp_path: Path) -> None:
    """Writes that were on their way when the store closes are stored, and their callers told."""

    async def scene() -> None:
        store = SqliteStore(tmp_path / "s.db")
        await store.open()
        await store.open()
        writing = [
            asyncio.create_task(store.accept(f"s{n}", "m", b"hi", user_id="ann")) for n in range(50)
        ]
        waiting = asyncio.create_task(store.wait_work(60))
        await asyncio.sleep(0)
        await store.close()
        await store.close()
        assert [(await task).status for task in writing] == ["new"] * 50
        await asyncio.wait_for(waiting, 10)
        async with store:
            assert len(await store.sessions()) == 50

    asyncio.run(scene())


def test_says_when_it_is_not_open(tmp_path: Path) -> None:
    """A store that was not opened, or closed, says so instead of waiting."""
    store = SqliteStore(tmp_path / "s.db")

    async def scene() -> None:
        for _ in range(2):
            with pytest.raises(CallerError) as refusal:
                await store.session("s")
            assert refusal.value.message == f"the store {tmp_path / 's.db'} is not open"
            assert refusal.value.hint == "use it in `async with`, or await its open() first"
            async with store:
                pass

    asyncio.run(scene())


def test_refuses_to_keep_no_file() -> None:
    """Asking SQLite for memory is refused: readers and the writer would not see each other."""
    with pytest.raises(CallerError, match="the SQLite store needs a file") as refusal:
        SqliteStore(":memory:")
    assert refusal.value.hint == "MemoryStore keeps no file"


def test_a_write_outlives_who_waited_for_it(tmp_path: Path) -> None:
    """Cancelling the await of a write does not take the write back."""

    async def scene() -> None:
        async with SqliteStore(tmp_path / "s.db") as store:
            writing = asyncio.create_task(store.accept("s", "m1", b"hi", user_id="ann"))
            await asyncio.sleep(0)
            writing.cancel()
            with pytest.raises(asyncio.CancelledError):
                await writing
            seen = await store.accept("s", "m1", b"hi", user_id="ann")
            assert seen.status == "running"

    asyncio.run(scene())


def test_serves_many_event_loops(tmp_path: Path) -> None:
    """One open store serves event loops in several threads at once."""
    store = SqliteStore(tmp_path / "s.db")
    asyncio.run(store.open())
    failures: list[BaseException] = []

    async def converse(name: str) -> None:
        for number in range(5):
            claim = await begin(store, name, f"m{number}")
            await finish(store, claim, b"%d" % number)

    def run(thread: int) -> None:
        async def many() -> None:
            await asyncio.gather(*(converse(f"{thread}-{n}") for n in range(4)))

        try:
            asyncio.run(many())
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    sessions = asyncio.run(store.sessions())
    asyncio.run(store.close())
    assert [session.version for session in sessions] == [5] * 16


def test_two_stores_on_one_file(tmp_path: Path) -> None:
    """Two stores on one file share the work: each turn is claimed by one of them."""

    async def scene() -> None:
        async with SqliteStore(tmp_path / "s.db") as one, SqliteStore(tmp_path / "s.db") as two:
            for number in range(30):
                await one.accept(f"s{number}", "m", b"hi", user_id="ann")
            claims: list[Claim] = []

            async def work(store: SqliteStore, worker: str) -> None:
                while (claim := await store.claim(worker, 30)) is not None:
                    claims.append(claim)
                    await finish(store, claim)

            await asyncio.gather(work(one, "one"), work(two, "two"))
            assert sorted(claim.session_id for claim in claims) == sorted(
                f"s{number}" for number in range(30)
            )
            assert {session.version for session in await two.sessions()} == {1}

    asyncio.run(scene())


def test_secrets_leave_the_file(tmp_path: Path) -> None:
    """Blanked arguments, results, inputs and cursors are nowhere in the file afterwards; so is
    everything of a person who was forgotten."""
    secret, kept = b"4929-1234-5678", b"Amsterdam-weather"

    async def scene(blank_all: bool) -> None:
        async with SqliteStore(tmp_path / "s.db") as store:
            for number in range(20):
                _, claim = await store.accept_and_claim(
                    "s", f"m{number}", secret, user_id="ann", worker="one", ttl_seconds=30
                )
                assert claim is not None
                await store.intent(claim, 1, call(1, args=secret), secret * 900, [(1, kept)])
                await store.finish(
                    claim, kept * 500, kept, messages=[(number, kept)], commits=(),
                    previous_result=(1, secret),
                )  # fmt: skip
            if blank_all:
                assert await store.forget("ann") == 1

    asyncio.run(scene(blank_all=False))
    contents = (tmp_path / "s.db").read_bytes()
    assert secret not in contents
    assert kept in contents
    (tmp_path / "s.db").unlink()
    asyncio.run(scene(blank_all=True))
    contents = (tmp_path / "s.db").read_bytes()
    assert secret not in contents
    assert kept not in contents


def test_asks_no_clock_but_the_database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Leases, limits and timers hold whatever the clock of the process says."""

    def broken() -> float:
        raise AssertionError("the process's clock was asked")

    async def scene() -> None:
        async with SqliteStore(tmp_path / "s.db") as store:
            claim = await begin(store)
            assert await store.claim("two", 30, "s") is None
            await store.renew(claim, 0.0)
            claim = await take_over(store)
            timers = [Timer(0, b"past"), Timer(4e12, b"in the year 2096")]
            await store.finish(claim, b"", b"", messages=(), commits=(), timers=timers)
            assert [timer.payload for timer in await store.due()] == [b"past"]
            assert await store.allow("ann", "pay", 1, 60_000) is None
            assert await store.allow("ann", "pay", 1, 60_000) is not None

    monkeypatch.setattr(time, "time", broken)
    monkeypatch.setattr(time, "time_ns", broken)
    asyncio.run(scene())


def test_a_turn_writes_no_more_in_a_long_conversation(tmp_path: Path) -> None:
    """The bytes that a turn adds to the log do not grow with the conversation."""
    path, log = tmp_path / "s.db", tmp_path / "s.db-wal"

    async def talk(store: SqliteStore, first: int, turns: int) -> None:
        for number in range(first, first + turns):
            document = b"%06d" % number * 1300
            claim = await begin(store, "s", f"m{number}")
            for seq in (1, 2):
                rows = [(10 * seq + n, b"c" * 300) for n in range(3)]
                await store.intent(claim, seq, call(seq), document[seq:], rows)
            await store.finish(
                claim, document, b"r" * 300, messages=[(number, b"m" * 300)], commits=(),
                previous_result=(2, b"r" * 300),
            )  # fmt: skip

    async def written(store: SqliteStore, first: int) -> int:
        with closing(sqlite3.connect(path)) as other:
            other.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        assert log.stat().st_size == 0
        await talk(store, first, 20)
        return log.stat().st_size

    async def scene() -> None:
        async with SqliteStore(path, synchronous="NORMAL") as store:
            await talk(store, 0, 40)
            early = await written(store, 40)
            await talk(store, 60, 500)
            late = await written(store, 560)
            assert late <= early * 1.1, (early, late)

    asyncio.run(scene())
