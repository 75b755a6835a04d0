"""The writer thread: many jobs to a transaction, each on its own when it fails."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from saywhy.errors import CallerError, OutsideError
from saywhy.stores.sqlite_file import connect
from saywhy.stores.sqlite_writer import MAX_BATCH, Writer

Scene = Callable[[Writer], Coroutine[Any, Any, None]]


def play(tmp_path: Path, scene: Scene) -> tuple[list[int], list[str]]:
    """Run a scene on a writer; gives the numbers stored and the statements the thread made."""
    path = tmp_path / "w.db"
    db = connect(path, "FULL", 0.05)
    db.execute("CREATE TABLE number (n INTEGER PRIMARY KEY, padding BLOB)")
    statements: list[str] = []
    db.set_trace_callback(statements.append)
    writer = Writer(db, path)
    try:
        asyncio.run(scene(writer))
    finally:
        writer.close()
    with sqlite3.connect(path) as found:
        numbers = [n for (n,) in found.execute("SELECT n FROM number ORDER BY n")]
    found.close()
    return numbers, statements


def add(db: sqlite3.Connection, n: int) -> int:
    db.execute("INSERT INTO number VALUES (?, zeroblob(1500))", (n,))
    return n


def add_then_raise(db: sqlite3.Connection, n: int) -> None:
    add(db, n)
    raise KeyError(n)


def hold(_: sqlite3.Connection, gate: threading.Event) -> None:
    assert gate.wait(30)


async def gathered(
    writer: Writer, jobs: list[tuple[Callable[..., Any], int]]
) -> list[int | BaseException]:
    """Hand jobs in while the thread is busy, so that they share its transaction."""
    gate = threading.Event()
    holding = asyncio.create_task(writer.do(hold, gate))
    await asyncio.sleep(0)
    waiting = [asyncio.ensure_future(writer.do(work, n)) for work, n in jobs]
    await asyncio.sleep(0)
    gate.set()
    await asyncio.wait({holding})  # it shares their fate
    return await asyncio.gather(*waiting, return_exceptions=True)


def test_jobs_share_a_transaction(tmp_path: Path) -> None:
    """Jobs that wait while the thread is busy are committed together."""

    async def scene(writer: Writer) -> None:
        assert await gathered(writer, [(add, n) for n in range(100)]) == list(range(100))

    numbers, statements = play(tmp_path, scene)
    assert numbers == list(range(100))
    assert statements.count("COMMIT") == 1


def test_a_transaction_has_an_end(tmp_path: Path) -> None:
    """A stream of jobs is cut into transactions, so that the first need not wait for the last."""

    async def scene(writer: Writer) -> None:
        await gathered(writer, [(add, n) for n in range(3 * MAX_BATCH)])

    numbers, statements = play(tmp_path, scene)
    assert len(numbers) == 3 * MAX_BATCH
    assert statements.count("COMMIT") == 4


def test_a_job_that_raises_takes_back_its_own(tmp_path: Path) -> None:
    """What a job wrote before it raised is gone; the jobs around it are stored."""

    async def scene(writer: Writer) -> None:
        jobs = [(add, 1), (add_then_raise, 2), (add, 3), (add, 1), (add, 5)]
        one, two, three, again, five = await gathered(writer, jobs)
        assert (one, three, five) == (1, 3, 5)
        assert isinstance(two, KeyError)
        assert isinstance(again, OutsideError)
        assert "UNIQUE constraint failed: number.n" in again.message

    numbers, statements = play(tmp_path, scene)
    assert numbers == [1, 3, 5]
    assert statements.count("COMMIT") == 1


def test_a_rollback_by_sqlite_fails_the_whole_transaction(tmp_path: Path) -> None:
    """When SQLite rolls everything back by itself, every job of the transaction is told, nothing
    is stored of any, and the thread goes on."""

    def roll_back(db: sqlite3.Connection, n: int) -> None:
        add(db, n)
        db.execute("INSERT OR ROLLBACK INTO number VALUES (?, NULL)", (n,))

    async def scene(writer: Writer) -> None:
        jobs = [(add, 1), (add, 2), (roll_back, 3), (add, 4)]
        one, two, three, four = await gathered(writer, jobs)
        for failed in (one, two, three):
            assert isinstance(failed, OutsideError)
        assert four == 4
        assert await writer.do(add, 5) == 5

    numbers, _ = play(tmp_path, scene)
    assert numbers == [4, 5]


def test_a_full_disk_passes(tmp_path: Path) -> None:
    """Nothing of a transaction that did not fit is stored, and the thread goes on when it fits."""

    def limit(db: sqlite3.Connection, pages: int) -> None:
        db.execute(f"PRAGMA max_page_count = {pages}")

    async def scene(writer: Writer) -> None:
        await writer.do(limit, 20)
        results = await gathered(writer, [(add, n) for n in range(100)])
        full = [result for result in results if isinstance(result, OutsideError)]
        assert full
        assert "there is no room left for it (database or disk is full)" in full[0].message
        assert full[0].hint.startswith("free disk space; nothing of this was stored")
        await writer.do(limit, 10_000)
        for n, result in enumerate(results):
            if isinstance(result, BaseException):
                assert await writer.do(add, n) == n

    numbers, _ = play(tmp_path, scene)
    assert numbers == list(range(100))


def test_a_lock_of_another_process_is_waited_for_and_named(tmp_path: Path) -> None:
    """While another connection holds the file, jobs wait a bounded time; all that wait are told."""

    async def scene(writer: Writer) -> None:
        other = sqlite3.connect(tmp_path / "w.db", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        jobs = [asyncio.ensure_future(writer.do(add, n)) for n in range(20)]
        locked = await asyncio.wait_for(asyncio.gather(*jobs, return_exceptions=True), 20)
        assert all(isinstance(error, OutsideError) for error in locked)
        assert "another process kept it locked for too long" in str(locked[0])
        other.execute("COMMIT")
        other.close()
        assert await writer.do(add, 1) == 1

    numbers, _ = play(tmp_path, scene)
    assert numbers == [1]


def test_refuses_jobs_after_closing(tmp_path: Path) -> None:
    """A job handed in behind the end is refused; it is not left waiting."""
    writer = Writer(connect(tmp_path / "w.db", "FULL", 1), tmp_path / "w.db")
    writer.close()
    writer.close()
    with pytest.raises(CallerError, match="the store is closed"):
        asyncio.run(writer.do(add, 1))


def test_goes_on_when_a_loop_is_gone(tmp_path: Path) -> None:
    """A caller whose event loop was closed harms nobody else."""

    async def leave(writer: Writer, gate: threading.Event) -> None:
        holding = asyncio.create_task(writer.do(hold, gate))
        asyncio.create_task(writer.do(add, 1))  # noqa: RUF006 - it is to be left behind
        await asyncio.sleep(0)
        holding.cancel()

    path = tmp_path / "w.db"
    db = connect(path, "FULL", 1)
    db.execute("CREATE TABLE number (n INTEGER PRIMARY KEY, padding BLOB)")
    writer = Writer(db, path)
    gate = threading.Event()
    asyncio.run(leave(writer, gate))
    gate.set()
    assert asyncio.run(writer.do(add, 2)) == 2
    writer.close()
