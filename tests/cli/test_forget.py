"""`saywhy forget`: a person is erased, and the exit code says whether that is proven."""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path

import pytest

from saywhy.runtime.audit.check import verify_store
from saywhy.stores.sqlite import SqliteStore
from tests.runtime.forget.test_erase import ANN, WORDS, engine_on, talk

from .conftest import Run


@pytest.fixture
def path(folder: Path) -> Path:
    """A store in which a person has talked."""

    async def begin() -> None:
        async with engine_on(SqliteStore(folder / "saywhy.db")) as engine:
            await talk(engine, "conversation-a", ANN, WORDS)

    asyncio.run(begin())
    return folder / "saywhy.db"


def test_a_person_is_erased_and_it_is_proven(run: Run, path: Path) -> None:
    """What was searched is told place by place; the chain of digests still verifies."""
    done = run("forget", ANN, "--prove")
    assert done.code == 0, done.err
    assert done.lines[0] == "erased 1 conversation"
    assert done.lines[-1] == "nothing is left"
    assert "  saywhy.db: " in done.out
    assert "  saywhy.db-wal: 0 bytes, 0 found" in done.lines
    assert WORDS not in done.out

    async def verify() -> None:
        async with SqliteStore(path) as store:
            report = await verify_store(store)
            assert report.ok, report

    asyncio.run(verify())


def test_without_a_proof_it_is_only_erased(run: Run, path: Path) -> None:
    """In JSON as well; nobody with that name is no failure."""
    assert run("forget", "nobody-at-all", "--json").data == [
        {"conversations": 0, "recordings": {}, "memories": 0, "proof": None}
    ]
    told = run("forget", "nobody-at-all").lines
    assert told[-1] == 'nobody called "nobody-at-all" had a conversation here: is the id right?'
    assert run("forget", ANN).lines == ["erased 1 conversation"]


def test_what_is_left_is_a_failure(run: Run, path: Path) -> None:
    """The exit code is 1, and the place is told."""
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE copy (held TEXT)")
        db.execute("INSERT INTO copy VALUES (?)", (ANN,))
    db.close()
    done = run("forget", ANN, "--prove")
    assert done.code == 1
    assert done.lines[-1] == "SOMETHING IS STILL THERE"
    assert any(line.startswith("    still there: the person's id") for line in done.lines)


def test_no_store_is_told(run: Run) -> None:
    """Nothing is made where there is nothing."""
    done = run("forget", ANN)
    assert done.code == 2
    assert "there is no store saywhy.db" in done.err
