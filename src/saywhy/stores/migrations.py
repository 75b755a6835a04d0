"""How the tables of the SQLite store came to be what they are.

A migration is a numbered function; the database remembers by name which ones ran. A new one goes
to the end of the list, and an old one is never edited. What the rows mean is said in `store`.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Final

from saywhy.errors import CallerError
from saywhy.stores import sqlite_audit

Migration = Callable[[sqlite3.Connection], None]


def m001_conversations(db: sqlite3.Connection) -> None:
    """Conversations, turns, journal, messages, commits, charts, outbox, timers, rates.

    What a turn writes is laid out for few pages: conversations and turns are known to the other
    tables by a short number, and turns get rising ones, so that the journals and commits of all
    turns that run just now lie side by side. The two documents of a conversation, its state and the
    cursor of its running turn, have rows of their own: they are long, and most writes are not
    about them.
    """
    for statement in _TABLES:
        db.execute(statement)


_TABLES: Final = (
    # lease_until: NULL when there is nothing to do, in the past when a turn waits for a worker.
    # done_no and ended_no: the last turn that finished, and that ended in any way.
    """CREATE TABLE session (
        session_key INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, user_id TEXT NOT NULL,
        version INTEGER NOT NULL, fence INTEGER NOT NULL, done_no INTEGER NOT NULL,
        ended_no INTEGER NOT NULL, lease_until INTEGER, owner TEXT)""",
    "CREATE INDEX session_user ON session (user_id, id)",
    "CREATE INDEX session_lease ON session (lease_until) WHERE lease_until IS NOT NULL",
    "CREATE TABLE document (session_key INTEGER PRIMARY KEY, doc BLOB NOT NULL)",
    "CREATE TABLE cursor (session_key INTEGER PRIMARY KEY, doc BLOB NOT NULL)",
    # AUTOINCREMENT: a late result must never find another turn under the number of a forgotten one.
    """CREATE TABLE turn (
        turn_key INTEGER PRIMARY KEY AUTOINCREMENT, session_key INTEGER NOT NULL,
        turn_no INTEGER NOT NULL, message_id TEXT NOT NULL, status TEXT NOT NULL,
        fence INTEGER NOT NULL, accepted INTEGER NOT NULL, ended INTEGER, salt BLOB, error TEXT,
        input BLOB, reply BLOB,
        UNIQUE (session_key, turn_no), UNIQUE (session_key, message_id))""",
    """CREATE TABLE step (
        turn_key INTEGER NOT NULL, seq INTEGER NOT NULL, attempt INTEGER NOT NULL,
        kind TEXT NOT NULL, name TEXT NOT NULL, effect TEXT NOT NULL, idem_key TEXT NOT NULL,
        args_hash BLOB NOT NULL, status TEXT NOT NULL, fence INTEGER NOT NULL,
        blanked INTEGER NOT NULL, started INTEGER NOT NULL, finished INTEGER, args BLOB,
        result BLOB, PRIMARY KEY (turn_key, seq, attempt)) WITHOUT ROWID""",
    """CREATE TABLE message (
        session_key INTEGER NOT NULL, seq INTEGER NOT NULL, turn_no INTEGER NOT NULL,
        doc BLOB NOT NULL, PRIMARY KEY (session_key, seq)) WITHOUT ROWID""",
    """CREATE TABLE "commit" (
        turn_key INTEGER NOT NULL, seq INTEGER NOT NULL, doc BLOB NOT NULL,
        PRIMARY KEY (turn_key, seq)) WITHOUT ROWID""",
    "CREATE TABLE chart (digest TEXT NOT NULL PRIMARY KEY, doc BLOB NOT NULL)",
    # Likewise here: an id that comes back would be taken for a message that was seen before.
    """CREATE TABLE outbox (
        id INTEGER PRIMARY KEY AUTOINCREMENT, session_key INTEGER NOT NULL,
        turn_no INTEGER NOT NULL, sent_at INTEGER, payload BLOB NOT NULL)""",
    "CREATE INDEX outbox_session ON outbox (session_key)",
    "CREATE INDEX outbox_unsent ON outbox (id) WHERE sent_at IS NULL",
    """CREATE TABLE timer (
        id INTEGER PRIMARY KEY AUTOINCREMENT, session_key INTEGER NOT NULL,
        due_ms REAL NOT NULL, payload BLOB NOT NULL)""",
    "CREATE INDEX timer_session ON timer (session_key)",
    "CREATE INDEX timer_due ON timer (due_ms)",
    # until: when the row stops counting, so that rows of people who left can go without a search.
    "CREATE TABLE rate (user_id TEXT NOT NULL, tool TEXT NOT NULL, until INTEGER NOT NULL)",
    "CREATE INDEX rate_user ON rate (user_id, tool, until)",
    "CREATE INDEX rate_until ON rate (until)",
)


def m002_held_turns_and_modes(db: sqlite3.Connection) -> None:
    """A turn can be held, and a conversation keeps the mode it began with.

    A held turn's conversation has a lease that never ends (`HELD_UNTIL`), so that no older
    statement has to know of it; the index finds these few without reading the others.
    """
    db.execute("ALTER TABLE session ADD COLUMN mode TEXT NOT NULL DEFAULT 'durable'")
    db.execute("ALTER TABLE turn ADD COLUMN held_since INTEGER")
    db.execute("ALTER TABLE turn ADD COLUMN released TEXT")
    db.execute("CREATE INDEX session_held ON session (id) WHERE lease_until = 4611686018427387904")


def m003_what_is_waited_for(db: sqlite3.Connection) -> None:
    """What conversations wait for that no message brings is listed in one place."""
    # AUTOINCREMENT: whoever lists from a number on misses nothing.
    db.execute(
        """CREATE TABLE waiting (
        number INTEGER PRIMARY KEY AUTOINCREMENT, session_key INTEGER NOT NULL,
        turn_no INTEGER NOT NULL, waiting_id TEXT NOT NULL, kind TEXT NOT NULL,
        doc BLOB NOT NULL, UNIQUE (session_key, waiting_id))"""
    )


def m004_rows_by_number(db: sqlite3.Connection) -> None:
    """Messages and commits lie in the pages of their tables, also those of a thousand bytes.

    In a table that is its own index, as both were, a row of more than a quarter of a page has a
    page of its own for the rest. Here a row is found by one number made of its two, see
    `sqlite_rows`, so that no index is needed beside the table. What was written before is kept as
    it is.
    """
    for table, key, statement in _ROWS_BY_NUMBER:
        db.execute(f'ALTER TABLE "{table}" RENAME TO old_rows')
        db.execute(statement)
        columns = "turn_no, doc" if table == "message" else "doc"
        db.execute(
            f'INSERT INTO "{table}" (id, {columns})'
            f" SELECT ({key} << 32) + seq, {columns} FROM old_rows ORDER BY {key}, seq"
        )
        db.execute("DROP TABLE old_rows")


_ROWS_BY_NUMBER: Final = (
    (
        "message",
        "session_key",
        """CREATE TABLE message (
        id INTEGER PRIMARY KEY, turn_no INTEGER NOT NULL, doc BLOB NOT NULL,
        session_key INTEGER AS (id >> 32), seq INTEGER AS (id & 4294967295))""",
    ),
    (
        "commit",
        "turn_key",
        """CREATE TABLE "commit" (
        id INTEGER PRIMARY KEY, doc BLOB NOT NULL,
        turn_key INTEGER AS (id >> 32), seq INTEGER AS (id & 4294967295))""",
    ),
)


def m005_audit_chains(db: sqlite3.Connection) -> None:
    """Each turn that ends is linked into the chain of its conversation.

    Conversations that are there begin theirs here, so that one without a chain is noticed. The
    rows stay when a conversation is forgotten, so they know it by a key that can be taken away.
    """
    for statement in _AUDIT_TABLES:
        db.execute(statement)
    sqlite_audit.begin_chains(db)


_AUDIT_TABLES: Final = (
    # anchored: the last turn that an anchor speaks of.
    """CREATE TABLE audit_chain (
        chain_key INTEGER PRIMARY KEY, chain_id BLOB NOT NULL UNIQUE, session_key INTEGER UNIQUE,
        first INTEGER NOT NULL, owner BLOB NOT NULL, salt BLOB, anchored INTEGER NOT NULL)""",
    # Of a turn that ended: how many rows its link is over, the salt until erased, two digests.
    *(
        f"ALTER TABLE turn ADD COLUMN {column}"
        for column in (
            "message_rows INTEGER",
            "commit_rows INTEGER",
            "link_salt BLOB",
            "content BLOB",
            "link BLOB",
            "erased TEXT",
        )
    ),
    # Of conversations that are forgotten.
    """CREATE TABLE audit_link (
        chain_key INTEGER NOT NULL, turn_no INTEGER NOT NULL, status TEXT NOT NULL,
        messages INTEGER NOT NULL, commits INTEGER NOT NULL, content BLOB NOT NULL,
        digest BLOB NOT NULL, erased TEXT NOT NULL,
        PRIMARY KEY (chain_key, turn_no)) WITHOUT ROWID""",
    """CREATE TABLE audit_anchor (
        number INTEGER PRIMARY KEY, at INTEGER NOT NULL, digest BLOB NOT NULL,
        heads BLOB NOT NULL)""",
)


MIGRATIONS: Final[tuple[Migration, ...]] = (
    m001_conversations,
    m002_held_turns_and_modes,
    m003_what_is_waited_for,
    m004_rows_by_number,
    m005_audit_chains,
)


def migrate(db: sqlite3.Connection, migrations: tuple[Migration, ...] = MIGRATIONS) -> None:
    """Run what did not run yet, all of it or nothing.

    A database that knows a migration we don't was written by a newer version and is left alone.
    """
    db.execute("BEGIN IMMEDIATE")  # of two processes that open a new file, one waits here
    try:
        db.execute("CREATE TABLE IF NOT EXISTS migration (name TEXT NOT NULL PRIMARY KEY)")
        ran = {name for (name,) in db.execute("SELECT name FROM migration").fetchall()}
        _refuse_newer(ran - {migration.__name__ for migration in migrations})
        for migration in migrations:
            if migration.__name__ not in ran:
                migration(db)
                db.execute("INSERT INTO migration (name) VALUES (?)", (migration.__name__,))
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise


def check_holds_conversations(db: sqlite3.Connection, path: Path) -> None:
    """Raise `CallerError` for an empty database, and for that of another program."""
    tables = {name for (name,) in db.execute("SELECT name FROM sqlite_master").fetchall()}
    if "migration" not in tables:
        raise CallerError(
            f"{path} holds no conversations", hint="name the file that conversations are kept in"
        )


def check_migrated(
    db: sqlite3.Connection, path: Path, migrations: tuple[Migration, ...] = MIGRATIONS
) -> None:
    """Raise `CallerError` for a file that can only be read after it was changed."""
    check_holds_conversations(db, path)
    ran = {name for (name,) in db.execute("SELECT name FROM migration").fetchall()}
    known = [migration.__name__ for migration in migrations]
    _refuse_newer(ran - set(known))
    missing = [name for name in known if name not in ran]
    if missing:
        raise CallerError(
            f"the store {path} was written by an older version of saywhy: it lacks the changes "
            f"{', '.join(missing)}, and it was opened for reading only",
            hint="open it once for writing: the next turn in it, or SqliteStore(path).open()",
        )


def _refuse_newer(unknown: set[str]) -> None:
    if unknown:
        raise CallerError(
            f"the store was written by a newer version of saywhy: it has the changes "
            f"{', '.join(sorted(unknown))}, which this version does not know",
            hint="upgrade saywhy, or open a copy of the file from before the upgrade",
        )
