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
from pathlib import Path
from typing import Any, Final, TypeVar, TypeVarTuple

from saywhy.stores.sqlite_file import NOW, Synchronous, connect, named
from saywhy.stores.store import (
    StoredCommit,
    StoredMessage,
    StoredOutput,
    StoredSession,
    StoredTimer,
    StoredTurn,
)

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

READERS: Final = 4

_SESSION = """
SELECT id, user_id, version, doc, lease_until IS NOT NULL,
       (SELECT coalesce(max(turn_no), 0) FROM turn WHERE session_id = id)
FROM session WHERE """
_ONE_SESSION: Final = f"{_SESSION} id = ?"
_ALL_SESSIONS: Final = f"{_SESSION} id > ? ORDER BY id LIMIT ?"
_USER_SESSIONS: Final = f"{_SESSION} user_id = ? AND id > ? ORDER BY id LIMIT ?"

_TURN = """
SELECT turn_no, message_id, status, input, reply, error FROM turn WHERE session_id = ? """
_TURNS_AFTER: Final = f"{_TURN} AND turn_no > ? ORDER BY turn_no LIMIT ?"
_TURNS_LAST: Final = f"{_TURN} ORDER BY turn_no DESC LIMIT ?"

_MESSAGE = "SELECT seq, turn_no, doc FROM message WHERE session_id = ? "
_MESSAGES: Final = f"{_MESSAGE} ORDER BY seq LIMIT ?"
_MESSAGES_AFTER: Final = f"{_MESSAGE} AND seq > ? ORDER BY seq LIMIT ?"
_MESSAGES_LAST: Final = f"{_MESSAGE} ORDER BY seq DESC LIMIT ?"

_COMMIT = 'SELECT turn_no, seq, doc FROM "commit" WHERE session_id = ? '
_COMMITS: Final = f"{_COMMIT} ORDER BY turn_no, seq"
_COMMITS_TURN: Final = f"{_COMMIT} AND turn_no = ? ORDER BY seq"
_COMMITS_LAST: Final = f"""{_COMMIT} AND turn_no > (
    SELECT coalesce(max(turn_no), 0) - ? FROM turn WHERE session_id = ?) ORDER BY turn_no, seq"""

_DUE: Final = f"""
SELECT id, session_id, due_ms, payload FROM timer WHERE due_ms <= {NOW} ORDER BY due_ms LIMIT ?"""
_UNSENT: Final = """
SELECT id, session_id, turn_no, payload FROM outbox WHERE sent_at IS NULL ORDER BY id LIMIT ?"""


class Readers:
    """A few threads with a connection each."""

    def __init__(self, path: Path, synchronous: Synchronous) -> None:
        self._path = path
        self._synchronous: Synchronous = synchronous
        self._mine = threading.local()
        self._connections: list[sqlite3.Connection] = []
        self._pool = ThreadPoolExecutor(READERS, thread_name_prefix="saywhy-store-reader")

    async def do(self, work: Callable[[sqlite3.Connection, *Ts], T], *args: *Ts) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._pool, self._read, work, args)

    def close(self) -> None:
        self._pool.shutdown()
        for db in self._connections:
            db.close()

    def _read(self, work: Callable[..., T], args: tuple[Any, ...]) -> T:
        try:
            return work(self._connection(), *args)
        except sqlite3.Error as error:
            raise named(error, self._path) from error

    def _connection(self) -> sqlite3.Connection:
        db: sqlite3.Connection | None = getattr(self._mine, "db", None)
        if db is None:
            db = connect(self._path, self._synchronous)
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
    session_id, user_id, version, doc, running, turn_no = row
    return StoredSession(session_id, user_id, version, doc, bool(running), turn_no)


def turns(
    db: sqlite3.Connection, session_id: str, after: int, limit: int, last: int | None
) -> tuple[StoredTurn, ...]:
    if last is None:
        rows = db.execute(_TURNS_AFTER, (session_id, after, limit)).fetchall()
    else:
        rows = db.execute(_TURNS_LAST, (session_id, last)).fetchall()[::-1]
    return tuple(StoredTurn(*row) for row in rows)


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


def chart(db: sqlite3.Connection, digest: str) -> bytes | None:
    row = db.execute("SELECT doc FROM chart WHERE digest = ?", (digest,)).fetchone()
    return None if row is None else row[0]


def due(db: sqlite3.Connection, limit: int) -> tuple[StoredTimer, ...]:
    return tuple(StoredTimer(*row) for row in db.execute(_DUE, (limit,)).fetchall())


def unsent(db: sqlite3.Connection, limit: int) -> tuple[StoredOutput, ...]:
    return tuple(StoredOutput(*row) for row in db.execute(_UNSENT, (limit,)).fetchall())
