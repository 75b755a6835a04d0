"""What is read from the store's file without a claim, as SQL; and who reads it.

Readers have connections of their own and see the last committed state, without waiting for the
writer. All lists are bounded or belong to one turn, except all commits of a conversation.
"""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any, Final, TypeVar, TypeVarTuple

from saywhy.stores.held import HELD_UNTIL
from saywhy.stores.sqlite_file import FAILURES, NOW, named
from saywhy.stores.sqlite_journal import steps_of
from saywhy.stores.sqlite_rows import OF_SESSION, OF_TURN
from saywhy.stores.store import (
    JournalEntry,
    StoredCommit,
    StoredMessage,
    StoredOutput,
    StoredSession,
    StoredTurn,
)

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

READERS: Final = 4

_SESSION = f"""
SELECT s.id, s.user_id, s.version, d.doc, s.lease_until IS NOT NULL,
       (SELECT coalesce(max(turn_no), 0) FROM turn WHERE turn.session_key = s.session_key),
       s.mode, s.lease_until = {HELD_UNTIL}
FROM session AS s LEFT JOIN document AS d ON d.session_key = s.session_key
WHERE """
_ONE_SESSION: Final = f"{_SESSION} s.id = ?"
_ALL_SESSIONS: Final = f"{_SESSION} s.id > ? ORDER BY s.id LIMIT ?"
_USER_SESSIONS: Final = f"{_SESSION} s.user_id = ? AND s.id > ? ORDER BY s.id LIMIT ?"

_OF_SESSION = "turn.session_key = (SELECT session_key FROM session WHERE id = ?)"

_TURN = f"SELECT turn_no, message_id, status, input, reply, error FROM turn WHERE {_OF_SESSION}"
_TURNS_AFTER: Final = f"{_TURN} AND turn_no > ? ORDER BY turn_no LIMIT ?"
_TURNS_LAST: Final = f"{_TURN} ORDER BY turn_no DESC LIMIT ?"
_TURN_KEY: Final = f"SELECT turn_key FROM turn WHERE {_OF_SESSION} AND turn_no = ?"

_MESSAGE = f"""
SELECT seq, turn_no, doc FROM session JOIN message ON {OF_SESSION} WHERE session.id = ?"""
_MESSAGES: Final = f"{_MESSAGE} ORDER BY message.id LIMIT ?"
_MESSAGES_AFTER: Final = f"""{_MESSAGE} AND message.id > (session.session_key << 32) + ?
ORDER BY message.id LIMIT ?"""
_MESSAGES_LAST: Final = f"{_MESSAGE} ORDER BY message.id DESC LIMIT ?"

_COMMIT = f"""
SELECT turn_no, "commit".seq, doc FROM turn JOIN "commit" ON {OF_TURN}
WHERE {_OF_SESSION}"""
_COMMITS: Final = f'{_COMMIT} ORDER BY turn_no, "commit".id'
_COMMITS_TURN: Final = f'{_COMMIT} AND turn_no = ? ORDER BY "commit".id'
_COMMITS_LAST: Final = f"""{_COMMIT} AND turn_no > (
    SELECT coalesce(max(turn_no), 0) - ? FROM turn WHERE {_OF_SESSION})
ORDER BY turn_no, "commit".id"""

_UNSENT: Final = """
SELECT outbox.id, session.id, turn_no, payload FROM outbox JOIN session USING (session_key)
WHERE sent_at IS NULL ORDER BY outbox.id LIMIT ?"""


# In the order of their keys, which is about that of time; a reader looks, so that no turn waits.
_OLD: Final = f"""
SELECT turn_key, session_key, turn_no FROM turn JOIN session USING (session_key)
WHERE ended <= {NOW} - ? AND turn_no < done_no
      AND (EXISTS (SELECT 1 FROM step WHERE step.turn_key = turn.turn_key)
           OR EXISTS (SELECT 1 FROM "commit" WHERE {OF_TURN}))
ORDER BY turn_key LIMIT ?"""


class Readers:
    """A few threads with a connection each."""

    def __init__(self, connect: Callable[[], sqlite3.Connection], path: Path) -> None:
        self._connect = connect
        self._path = path
        self._mine = threading.local()
        self._connections: list[sqlite3.Connection] = []
        self._pool = ThreadPoolExecutor(READERS, thread_name_prefix="saywhy-store-reader")
        self._closed = False

    async def do(self, work: Callable[[sqlite3.Connection, *Ts], T], *args: *Ts) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._pool, self._read, work, args)

    def now(self, work: Callable[..., T], *args: Any) -> T:
        """At once, on a connection of the calling thread; for what takes no longer than a thread's
        turn would. Once closed, on a connection for this once.
        """
        if not self._closed:
            return self._read(work, args)
        try:
            with closing(self._connect()) as db:
                return work(db, *args)
        except FAILURES as error:
            raise named(error, self._path) from error

    def close(self) -> None:
        self._closed = True
        self._pool.shutdown()
        for db in self._connections:
            db.close()

    def _read(self, work: Callable[..., T], args: tuple[Any, ...]) -> T:
        try:
            return work(self._connection(), *args)
        except FAILURES as error:
            raise named(error, self._path) from error

    def _connection(self) -> sqlite3.Connection:
        db: sqlite3.Connection | None = getattr(self._mine, "db", None)
        if db is None:
            db = self._connect()
            db.execute("PRAGMA query_only = ON")
            self._connections.append(db)
            self._mine.db = db
        return db


def session(db: sqlite3.Connection, session_id: str) -> StoredSession | None:
    row = db.execute(_ONE_SESSION, (session_id,)).fetchone()
    return None if row is None else _stored_session(row)


def sessions(
    db: sqlite3.Connection, user_id: str | None, limit: int, after: str
) -> tuple[StoredSession, ...]:
    if user_id is None:
        rows = db.execute(_ALL_SESSIONS, (after, limit)).fetchall()
    else:
        rows = db.execute(_USER_SESSIONS, (user_id, after, limit)).fetchall()
    return tuple(_stored_session(row) for row in rows)


def _stored_session(row: tuple[Any, ...]) -> StoredSession:
    session_id, user_id, version, doc, running, turn_no, mode, held = row
    return StoredSession(
        session_id, user_id, version, doc, bool(running), turn_no, mode, bool(held)
    )


def turns(
    db: sqlite3.Connection, session_id: str, after: int, limit: int, last: int | None
) -> tuple[StoredTurn, ...]:
    if last is None:
        rows = db.execute(_TURNS_AFTER, (session_id, after, limit)).fetchall()
    else:
        rows = db.execute(_TURNS_LAST, (session_id, last)).fetchall()[::-1]
    return tuple(StoredTurn(*row) for row in rows)


def journal(db: sqlite3.Connection, session_id: str, turn_no: int) -> tuple[JournalEntry, ...]:
    row = db.execute(_TURN_KEY, (session_id, turn_no)).fetchone()
    return () if row is None else steps_of(db, row[0])


def messages(
    db: sqlite3.Connection, session_id: str, after: int | None, limit: int, last: int | None
) -> tuple[StoredMessage, ...]:
    if last is not None:
        rows = db.execute(_MESSAGES_LAST, (session_id, last)).fetchall()[::-1]
    elif after is not None:
        rows = db.execute(_MESSAGES_AFTER, (session_id, after, limit)).fetchall()
    else:
        rows = db.execute(_MESSAGES, (session_id, limit)).fetchall()
    return tuple(StoredMessage(*row) for row in rows)


def commits(
    db: sqlite3.Connection, session_id: str, turn_no: int | None, last_turns: int | None
) -> tuple[StoredCommit, ...]:
    if turn_no is not None:
        rows = db.execute(_COMMITS_TURN, (session_id, turn_no)).fetchall()
    elif last_turns is not None:
        rows = db.execute(_COMMITS_LAST, (session_id, last_turns, session_id)).fetchall()
    else:
        rows = db.execute(_COMMITS, (session_id,)).fetchall()
    return tuple(StoredCommit(*row) for row in rows)


def old_turns(db: sqlite3.Connection, older_than_ms: int, limit: int) -> list[tuple[int, int, int]]:
    """Turns to be pruned: their keys, their conversations' keys, their numbers."""
    return db.execute(_OLD, (older_than_ms, limit)).fetchall()


def chart(db: sqlite3.Connection, digest: str) -> bytes | None:
    row = db.execute("SELECT doc FROM chart WHERE digest = ?", (digest,)).fetchone()
    return None if row is None else row[0]


def unsent(db: sqlite3.Connection, limit: int) -> tuple[StoredOutput, ...]:
    return tuple(StoredOutput(*row) for row in db.execute(_UNSENT, (limit,)).fetchall())
