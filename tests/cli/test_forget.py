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
    """No search is made and none is told of."""
    assert run("forget", ANN).lines == ["erased 1 conversation"]


@pytest.mark.parametrize(
    ("user", "hint"),
    [
        (
            "nobody-at-all",
            "is the id right? Of somebody who was forgotten before, nothing is known",
        ),
        ("person-an-4711", f'did you mean "{ANN}"?'),
        ("conversation-a", f'that is a conversation of "{ANN}"'),
    ],
)
def test_a_person_nobody_knows_is_an_error(run: Run, path: Path, user: str, hint: str) -> None:
    """Nothing was erased and nothing is proven, with what may be meant; in JSON as well."""
    done = run("forget", user, "--json")
    assert done.code == 2
    assert done.data == [{"conversations": 0, "recordings": {}, "memories": 0, "proof": None}]
    assert done.err.startswith(f'saywhy: nobody called "{user}" has a conversation in saywhy.db\n')
    assert hint in done.err
    proven = run("forget", user, "--prove")
    assert proven.code == 2
    assert "nothing is left" not in proven.lines


def test_what_is_too_short_proves_nothing(run: Run, folder: Path) -> None:
    """Where nothing can be looked for, nothing is proven, and that is a failure."""

    async def begin() -> None:
        async with engine_on(SqliteStore(folder / "saywhy.db")) as engine:
            await engine.take_turn("c-1", "Move", user_id="ann")

    asyncio.run(begin())
    done = run("forget", "ann", "--prove")
    assert done.code == 1
    assert done.lines[0] == "erased 1 conversation"
    assert "looked for 0 texts of the person" in done.lines
    assert done.lines[-1] == "NOTHING IS PROVEN: nothing long enough to be looked for is known"


def test_exports_of_the_person_go(run: Run, folder: Path) -> None:
    """Also where each word in them is too short to be looked for; those of others stay."""

    async def begin() -> None:
        async with engine_on(SqliteStore(folder / "saywhy.db")) as engine:
            for name, user in (("c-1", "ann"), ("c-2", "bob")):
                await engine.take_turn(name, "Move", user_id=user)

    asyncio.run(begin())
    (folder / "out").mkdir()
    for name in ("c-1", "c-2"):
        for form, ending in (("trace", "jsonl"), ("json", "json"), ("otel", "otel.jsonl")):
            target = f"out/{name}.{ending}"
            assert run("export", "--session", name, "--format", form, "--out", target).code == 0
        assert (
            run("audit", "export", "--session", name, "--out", f"out/{name}.audit.jsonl").code == 0
        )
    assert run("audit", "export", "--all", "--out", "out/all.jsonl").code == 0
    before = {path.name: path.read_bytes() for path in (folder / "out").iterdir()}
    done = run("forget", "ann", "--recordings", "out")
    assert done.code == 0
    assert "out/c-1.json: 1 line taken out, with the file: it was a conversation of theirs" in (
        done.lines
    )
    after = {path.name: path.read_bytes() for path in (folder / "out").iterdir()}
    every, left = before.pop("all.jsonl").splitlines(), after.pop("all.jsonl").splitlines()
    assert len(every) - len(left) == 5  # the chain, its turn, two messages, a row of commits
    assert [line for line in every if line in left] == left
    assert b'"session":"c-1"' not in b"".join(left)
    assert b'"session":"c-2"' in b"".join(left)
    assert after == {
        "c-1.otel.jsonl": b"",
        **{name: data for name, data in before.items() if name.startswith("c-2")},
    }


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
