"""The tables of the SQLite store: made once, changed in order, refused when from the future."""

from __future__ import annotations

import asyncio
import re
import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from saywhy.errors import CallerError
from saywhy.stores import sqlite_turn
from saywhy.stores.migrations import MIGRATIONS, migrate
from saywhy.stores.sqlite import SqliteStore
from saywhy.stores.sqlite_file import connect

CASES = Path(__file__).parent.parent / "cases" / "record"
KNOWN = [migration.__name__ for migration in MIGRATIONS]


@pytest.fixture
def db(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    with closing(connect(tmp_path / "s.db", "FULL", 10)) as db:
        yield db


def names(db: sqlite3.Connection, kind: str = "table") -> set[str]:
    rows = db.execute("SELECT name FROM sqlite_schema WHERE type = ?", (kind,))
    return {name for (name,) in rows if not name.startswith("sqlite_")}


def ran(db: sqlite3.Connection) -> list[str]:
    return [name for (name,) in db.execute("SELECT name FROM migration ORDER BY rowid")]


def m900_adds_a_table(db: sqlite3.Connection) -> None:
    db.execute("CREATE TABLE added (x)")


def m901_fills_it(db: sqlite3.Connection) -> None:
    db.execute("INSERT INTO added VALUES (1)")


def m902_breaks(db: sqlite3.Connection) -> None:
    db.execute("INSERT INTO added VALUES (2)")
    db.execute("INSERT INTO missing VALUES (3)")


def test_makes_the_tables(db: sqlite3.Connection) -> None:
    """A new file gets every table, and remembers by name how."""
    migrate(db)
    assert names(db) == {
        "session", "turn", "document", "cursor", "step", "message", "commit", "chart", "outbox",
        "timer", "rate", "waiting", "migration", "audit_chain", "audit_link", "audit_anchor",
    }  # fmt: skip
    assert ran(db) == KNOWN
    assert not db.in_transaction


def test_runs_each_once_and_in_order(db: sqlite3.Connection) -> None:
    """Opening again changes nothing; a new migration runs after those that ran."""
    migrate(db)
    migrate(db)
    longer = (*MIGRATIONS, m900_adds_a_table)
    migrate(db, longer)
    migrate(db, (*longer, m901_fills_it))
    migrate(db, (*longer, m901_fills_it))
    assert ran(db) == [*KNOWN, "m900_adds_a_table", "m901_fills_it"]
    assert db.execute("SELECT x FROM added").fetchall() == [(1,)]


def test_names_are_numbered() -> None:
    """Every migration of the store says its place in its name."""
    numbers = [migration.__name__[:5] for migration in MIGRATIONS]
    assert all(re.fullmatch(r"m\d{3}_", number) for number in numbers)
    assert numbers == sorted(set(numbers))


def test_a_broken_one_leaves_nothing(db: sqlite3.Connection) -> None:
    """When one of several raises, none of them ran."""
    migrate(db)
    with pytest.raises(sqlite3.OperationalError, match="missing"):
        migrate(db, (*MIGRATIONS, m900_adds_a_table, m901_fills_it, m902_breaks))
    assert "added" not in names(db)
    assert ran(db) == KNOWN
    migrate(db, (*MIGRATIONS, m900_adds_a_table, m901_fills_it))
    assert db.execute("SELECT x FROM added").fetchall() == [(1,)]


def test_refuses_a_newer_file(db: sqlite3.Connection, tmp_path: Path) -> None:
    """A file from a newer version is refused with its unknown changes, and left as it was."""
    migrate(db, (*MIGRATIONS, m900_adds_a_table, m901_fills_it))
    with pytest.raises(CallerError) as refusal:
        asyncio.run(SqliteStore(tmp_path / "s.db").open())
    assert refusal.value.message == (
        "the store was written by a newer version of saywhy: it has the changes "
        "m900_adds_a_table, m901_fills_it, which this version does not know"
    )
    assert refusal.value.hint == (
        "upgrade saywhy, or open a copy of the file from before the upgrade"
    )
    assert ran(db) == [*KNOWN, "m900_adds_a_table", "m901_fills_it"]


def test_a_file_of_before_goes_on(db: sqlite3.Connection) -> None:
    """Its conversations are durable ones, with their turns as they were; none is held."""
    migrate(db, MIGRATIONS[:1])
    db.execute(
        "INSERT INTO session (id, user_id, version, fence, done_no, ended_no, lease_until)"
        " VALUES ('c1', 'ann', 3, 9, 3, 3, 7)"
    )
    db.execute(
        "INSERT INTO turn (session_key, turn_no, message_id, status, fence, accepted)"
        " VALUES (1, 4, 'm4', 'running', 9, 7)"
    )
    migrate(db)
    assert db.execute("SELECT id, mode, lease_until FROM session").fetchall() == [
        ("c1", "durable", 7)
    ]
    assert db.execute("SELECT status, held_since, released FROM turn").fetchall() == [
        ("running", None, None)
    ]
    claimed = sqlite_turn.claim(db, "w", 1000, None, "durable")
    assert claimed is not None
    assert (claimed.turn_no, claimed.version, claimed.released) == (4, 3, None)


def test_many_may_open_a_new_file_at_once(tmp_path: Path) -> None:
    """Of several that open a new file at the same moment, one makes the tables."""

    def open_and_migrate(_: int) -> list[str]:
        with closing(connect(tmp_path / "new.db", "FULL", 10)) as db:
            migrate(db)
            return ran(db)

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(open_and_migrate, range(8))) == [KNOWN] * 8


def test_every_table_of_a_person_is_forgotten(tmp_path: Path) -> None:
    """A table that holds rows of a conversation or a user is known to `forget`."""
    from saywhy.stores import sqlite_beside

    with closing(connect(tmp_path / "s.db", "FULL", 10)) as db:
        migrate(db)
        personal = {
            table
            for table in names(db)
            for column in db.execute(f'PRAGMA table_xinfo("{table}")').fetchall()
            if column[1] in ("session_key", "turn_key", "user_id")
        }
        forgotten: list[str] = []
        db.set_trace_callback(forgotten.append)
        sqlite_beside.forget(db, "ann")
    # Most rows go; of the audit chain only what tells whose it is does.
    words = {
        statement.split()[1 if statement.startswith("UPDATE") else 2].strip('"')
        for statement in map(str.strip, forgotten)
    } - {"audit_link"}
    assert words == personal


def test_rows_of_before_are_kept(tmp_path: Path) -> None:
    """Messages and commits of a file of before have the same numbers and the same bytes."""
    dump = (CASES / "store-m003.sql").read_text(encoding="utf-8")
    path = tmp_path / "old.db"
    with closing(sqlite3.connect(path)) as old:
        old.executescript(dump)
        messages = old.execute(_MESSAGES).fetchall()
        commits = old.execute(_COMMITS).fetchall()
    assert (len(messages), len(commits)) == (6, 19)
    with closing(connect(path, "FULL", 10)) as db:
        migrate(db)
        assert db.execute(_MESSAGES).fetchall() == messages
        assert db.execute(_COMMITS).fetchall() == commits
        assert "old_rows" not in names(db)
    assert asyncio.run(_stored(path)) == ([row[1:] for row in messages], commits)


async def _stored(path: Path) -> tuple[list[tuple[int, int, bytes]], list[tuple[int, int, bytes]]]:
    async with SqliteStore(path) as store:
        messages = [(row.seq, row.turn_no, row.doc) for row in await store.messages("c1")]
        commits = [(row.turn_no, row.seq, row.doc) for row in await store.commits("c1")]
    return messages, commits


_MESSAGES = "SELECT session_key, seq, turn_no, doc FROM message ORDER BY seq"
_COMMITS = 'SELECT turn_no, "commit".seq, doc FROM "commit" JOIN turn USING (turn_key) ORDER BY 2'
