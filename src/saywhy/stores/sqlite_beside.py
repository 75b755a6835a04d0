"""What the store writes beside turns, as SQL: charts, rates, the outbox, forgetting.

Each function is one job of the writer thread.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Final

from saywhy.stores import sqlite_audit
from saywhy.stores.sqlite_file import NOW
from saywhy.stores.sqlite_rows import OF_SESSION, OF_TURN, row_id

_PUT_CHART: Final = "INSERT INTO chart (digest, doc) VALUES (?, ?) ON CONFLICT DO NOTHING"

# Bounded, so that no single request pays for everybody's old rows.
_DROP_OLD: Final = f"""
DELETE FROM rate WHERE rowid IN (SELECT rowid FROM rate WHERE until <= {NOW} LIMIT 100)"""

# The row that has to go before one more fits: with fewer than `requests` rows there is none.
_FULL_UNTIL: Final = f"""
SELECT until - {NOW} FROM rate WHERE user_id = ? AND tool = ? AND until > {NOW}
ORDER BY until DESC LIMIT 1 OFFSET ?"""

_COUNT: Final = f"INSERT INTO rate (user_id, tool, until) VALUES (?, ?, {NOW} + ?)"

_SESSIONS = "session_key IN (SELECT session_key FROM session WHERE user_id = ?)"
_TURNS = f"turn_key IN (SELECT turn_key FROM turn WHERE {_SESSIONS})"

# In this order: the rows of a turn are found by the turn, those of a conversation by it.
_FORGET: Final = (
    f"DELETE FROM step WHERE {_TURNS}",
    f"""DELETE FROM "commit" WHERE id IN (
    SELECT "commit".id FROM session JOIN turn USING (session_key) JOIN "commit" ON {OF_TURN}
    WHERE user_id = ?)""",
    f"""DELETE FROM message WHERE id IN (
    SELECT message.id FROM session JOIN message ON {OF_SESSION} WHERE user_id = ?)""",
    *(
        f"DELETE FROM {table} WHERE {_SESSIONS}"
        for table in ("turn", "outbox", "timer", "document", "cursor", "waiting")
    ),
    "DELETE FROM rate WHERE user_id = ?",
)


_PRUNE_TURN: Final = "UPDATE turn SET reply = NULL, input = NULL, salt = NULL WHERE turn_key = ?"
_PRUNE_COMMITS: Final = 'DELETE FROM "commit" WHERE id >= ? AND id < ?'
_PRUNE_MESSAGES: Final = "DELETE FROM message WHERE id >= ? AND id < ? AND turn_no <= ?"


def prune(db: sqlite3.Connection, old: Sequence[tuple[int, int, int]]) -> None:
    """Take away what explains these turns. A newer one has finished: nobody writes to them."""
    keys = [(turn_key,) for turn_key, _, _ in old]
    db.executemany("DELETE FROM step WHERE turn_key = ?", keys)
    db.executemany(_PRUNE_COMMITS, [_rows_of(turn_key) for turn_key, _, _ in old])
    db.executemany(_PRUNE_TURN, keys)
    newest: dict[int, int] = {}
    for _, session_key, turn_no in old:
        newest[session_key] = max(turn_no, newest.get(session_key, 0))
    db.executemany(_PRUNE_MESSAGES, [(*_rows_of(key), last) for key, last in newest.items()])
    sqlite_audit.prune(db, list(newest.items()))


def _rows_of(key: int) -> tuple[int, int]:
    """Between which numbers the rows of a turn or a conversation are, without the second."""
    return row_id(key, 0), row_id(key + 1, 0)


def put_charts(db: sqlite3.Connection, docs: Sequence[tuple[str, bytes]]) -> None:
    db.executemany(_PUT_CHART, docs)


def allow(
    db: sqlite3.Connection, user_id: str, tool: str, requests: int, window_ms: float
) -> float | None:
    db.execute(_DROP_OLD)
    row = db.execute(_FULL_UNTIL, (user_id, tool, requests - 1)).fetchone()
    if row is not None:
        return float(row[0])
    db.execute(_COUNT, (user_id, tool, window_ms))
    return None


def mark_sent(db: sqlite3.Connection, output_id: int) -> bool:
    statement = f"UPDATE outbox SET sent_at = {NOW}, payload = x'' WHERE id = ? AND sent_at IS NULL"
    return db.execute(statement, (output_id,)).rowcount == 1


def forget(db: sqlite3.Connection, user_id: str) -> int:
    sqlite_audit.forget(db, user_id)
    for statement in _FORGET:
        db.execute(statement, (user_id,))
    return db.execute("DELETE FROM session WHERE user_id = ?", (user_id,)).rowcount
