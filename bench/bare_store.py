"""What the store benchmark is compared with: the statements of a turn, and nothing around them.

The tables are those of the store; the statements are written out here by hand, on a connection, a
thread and a queue of their own, committed in groups.
"""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple

from saywhy.stores.audit import new_chain, next_link, start_digest
from saywhy.stores.migrations import migrate

Rows = list[tuple[int, bytes]]
Job = tuple[Callable[..., Any], tuple[Any, ...], "asyncio.Future[Any]"]

NOW = "CAST(round((julianday('now') - 2440587.5) * 86400000.0) AS INTEGER)"

FIND = """SELECT s.session_key, s.user_id, s.lease_until, t.turn_no, t.status, t.reply, t.error,
s.version, s.fence, s.done_no, d.doc FROM session AS s LEFT JOIN turn AS t
ON t.session_key = s.session_key AND t.message_id = ?
LEFT JOIN document AS d ON d.session_key = s.session_key WHERE s.id = ?"""
ADD_SESSION = """INSERT INTO session (id, user_id, version, fence, done_no, ended_no)
VALUES (?, ?, 0, 0, 0, 0)"""
ADD_TURN = f"""INSERT INTO turn (session_key, turn_no, message_id, status, fence, accepted, salt,
input) SELECT ?, coalesce(max(turn_no), 0) + 1, ?, 'running', ?, {NOW}, randomblob(16), ?
FROM turn WHERE session_key = ? RETURNING turn_no, salt, turn_key"""
LEASE = f"""UPDATE session SET fence = fence + 1, owner = ?, lease_until = {NOW} + ?
WHERE session_key = ?"""
ASK = f"""INSERT INTO step (turn_key, seq, attempt, kind, name, effect, idem_key, args_hash,
status, fence, blanked, started, args)
SELECT turn_key, ?, 1, 'tool', 'look', 'repeatable', ?, ?, 'asked', fence, 0, {NOW}, ?
FROM turn WHERE turn_key = ? AND fence = ? AND status = 'running' ON CONFLICT DO NOTHING"""
SAVE_CURSOR = """INSERT INTO cursor (session_key, doc) SELECT session_key, ? FROM turn
WHERE turn_key = ? ON CONFLICT (session_key) DO UPDATE SET doc = excluded.doc"""
ADD_COMMIT = 'INSERT INTO "commit" (id, doc) VALUES (?, ?) ON CONFLICT DO NOTHING'
ANSWER = f"""UPDATE step SET status = 'answered', finished = {NOW},
result = CASE blanked WHEN 0 THEN ? END
WHERE turn_key = ? AND seq = ? AND status <> 'answered' AND attempt = (
SELECT max(attempt) FROM step WHERE turn_key = ? AND seq = ? AND fence <= ?)"""
END = f"""UPDATE session SET fence = fence + 1, version = version + 1, done_no = ?,
owner = NULL, ended_no = ?, lease_until = (SELECT {NOW} FROM turn
WHERE turn.session_key = session.session_key AND turn_no > ? AND status = 'queued' LIMIT 1)
WHERE id = ? AND fence = ? AND version = ? RETURNING session_key, (
SELECT link FROM turn WHERE turn.session_key = session.session_key AND turn_no = ?)"""
SAVE_DOCUMENT = """INSERT INTO document (session_key, doc) VALUES (?, ?)
ON CONFLICT (session_key) DO UPDATE SET doc = excluded.doc"""
END_TURN = f"""UPDATE turn SET status = 'done', reply = ?, error = NULL, ended = {NOW},
salt = iif(?, NULL, salt), input = iif(?, NULL, input), message_rows = ?, commit_rows = ?,
link_salt = ?, content = ?, link = ? WHERE turn_key = ?"""
COMMITS = 'SELECT seq, doc FROM "commit" WHERE id >= ? AND id < ? ORDER BY id'
ADD_CHAIN = """INSERT INTO audit_chain (chain_id, session_key, first, owner, salt, anchored)
VALUES (?, ?, ?, ?, ?, 0)"""
DROP_CURSOR = "DELETE FROM cursor WHERE session_key = ?"
BLANK = """UPDATE step SET args = NULL, result = NULL, blanked = 1,
status = CASE status WHEN 'asked' THEN 'unknown' ELSE status END WHERE turn_key = ?"""
ADD_MESSAGE = """INSERT INTO message (id, turn_no, doc) VALUES (?, ?, ?)
ON CONFLICT DO NOTHING"""


class Turn(NamedTuple):
    """What the later statements of a turn need."""

    session_id: str
    turn_no: int
    turn_key: int
    fence: int
    version: int
    salt: bytes


class BareStore:
    """A connection, a thread and a queue."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.db = sqlite3.connect(
            path, isolation_level=None, check_same_thread=False, cached_statements=256
        )
        for pragma in (
            "journal_mode = WAL", "synchronous = FULL", "secure_delete = ON",
            "cache_size = -16000", "wal_autocheckpoint = 4000", "journal_size_limit = 33554432",
        ):  # fmt: skip
            self.db.execute(f"PRAGMA {pragma}")
        migrate(self.db)
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def close(self) -> None:
        self._jobs.put(None)
        self._thread.join()
        self.db.close()

    async def begin(self, session_id: str, message_id: str, words: bytes) -> Turn:
        return await self._do(_begin, session_id, message_id, words)

    async def intent(
        self,
        turn: Turn,
        seq: int,
        args: bytes,
        key: str,
        doc: bytes,
        commits: Rows,
        before: bytes | None,
    ) -> None:
        await self._do(_intent, turn, seq, args, key, doc, commits, before)

    async def finish(
        self, turn: Turn, doc: bytes, reply: bytes, messages: Rows, commits: Rows, before: bytes
    ) -> None:
        await self._do(_finish, turn, doc, reply, messages, commits, before)

    async def _do(self, work: Callable[..., Any], *args: Any) -> Any:
        future = asyncio.get_running_loop().create_future()
        self._jobs.put((work, args, future))
        return await future

    def _run(self) -> None:
        while (job := self._jobs.get()) is not None:
            done: list[tuple[asyncio.Future[Any], Any]] = []
            self.db.execute("BEGIN IMMEDIATE")
            while job is not None:
                work, args, future = job
                self.db.execute("SAVEPOINT job")
                done.append((future, work(self.db, *args)))
                self.db.execute("RELEASE job")
                try:
                    job = self._jobs.get_nowait() if len(done) < 256 else None
                except Empty:
                    job = None
            self.db.execute("COMMIT")
            done[0][0].get_loop().call_soon_threadsafe(_settle, done)


def _settle(done: list[tuple[asyncio.Future[Any], Any]]) -> None:
    for future, value in done:
        future.set_result(value)


def _begin(db: sqlite3.Connection, session_id: str, message_id: str, words: bytes) -> Turn:
    found = db.execute(FIND, (message_id, session_id)).fetchone()
    if found is None:
        key = db.execute(ADD_SESSION, (session_id, "ann")).lastrowid
        fence = version = 0
    else:
        key, fence, version = found[0], found[8], found[7]
    row = (key, message_id, fence + 1, words, key)
    turn_no, salt, turn_key = db.execute(ADD_TURN, row).fetchall()[0]
    db.execute(LEASE, ("bench", 30_000, key))
    return Turn(session_id, turn_no, turn_key, fence + 1, version, salt)


def _intent(
    db: sqlite3.Connection,
    turn: Turn,
    seq: int,
    args: bytes,
    key: str,
    doc: bytes,
    commits: Rows,
    before: bytes | None,
) -> None:
    own = turn.turn_key
    args_hash = blake2b(args, digest_size=16, key=turn.salt).digest()
    db.execute(ASK, (seq, key, args_hash, args, own, turn.fence))
    db.execute(SAVE_CURSOR, (doc, own))
    db.executemany(ADD_COMMIT, [((own << 32) + number, row) for number, row in commits])
    if before is not None:
        db.execute(ANSWER, (before, own, seq - 1, own, seq - 1, turn.fence))


def _finish(
    db: sqlite3.Connection,
    turn: Turn,
    doc: bytes,
    reply: bytes,
    messages: Rows,
    commits: Rows,
    before: bytes,
) -> None:
    own, last = turn.turn_key, turn.turn_no
    end = (last, last, last, turn.session_id, turn.fence, turn.version, last - 1)
    key, behind = db.execute(END, end).fetchall()[0]
    db.execute(SAVE_DOCUMENT, (key, doc))
    db.execute(DROP_CURSOR, (key,))
    db.execute(ANSWER, (before, own, 2, own, 2, turn.fence))
    db.execute(BLANK, (own,))
    db.executemany(ADD_MESSAGE, [((key << 32) + number, last, row) for number, row in messages])
    db.executemany(ADD_COMMIT, [((own << 32) + number, row) for number, row in commits])
    if behind is None:
        chain = new_chain(turn.session_id, "ann", last)
        db.execute(ADD_CHAIN, (chain.chain_id, key, last, chain.owner, chain.salt))
        behind = start_digest(chain.chain_id, last, chain.owner)
    whole = db.execute(COMMITS, (own << 32, (own + 1) << 32)).fetchall()
    link = next_link(behind, last, "done", messages, whole)
    linked = (link.messages, link.commits, link.salt, link.content, link.digest)
    db.execute(END_TURN, (reply, 1, 1, *linked, own))
