"""What conversations wait for, as SQL. What it is, is said in `waiting`."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Final

from saywhy.stores.waiting import StoredWaiting, Waiting

_KNOWN: Final = "SELECT waiting_id FROM waiting WHERE session_key = ?"
_DROP: Final = "DELETE FROM waiting WHERE session_key = ? AND waiting_id = ?"
_ADD: Final = """
INSERT INTO waiting (session_key, turn_no, waiting_id, kind, doc) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (session_key, waiting_id) DO UPDATE SET kind = excluded.kind, doc = excluded.doc"""

_LIST = """
SELECT waiting.number, session.id, session.user_id, turn_no, waiting_id, kind, doc
FROM waiting JOIN session USING (session_key) WHERE {} AND waiting.number > ?
ORDER BY waiting.number LIMIT ?"""
_ALL: Final = _LIST.format("TRUE")
_OF_ONE: Final = _LIST.format("session.id = ?")


def replace(
    db: sqlite3.Connection, session_key: int, turn_no: int, waiting: Sequence[Waiting]
) -> None:
    """Let a conversation wait for exactly this. What it waited for before keeps its number."""
    wanted = {one.waiting_id for one in waiting}
    known = db.execute(_KNOWN, (session_key,)).fetchall()
    db.executemany(_DROP, [(session_key, name) for (name,) in known if name not in wanted])
    db.executemany(
        _ADD, [(session_key, turn_no, one.waiting_id, one.kind, one.doc) for one in waiting]
    )


def listed(
    db: sqlite3.Connection, session_id: str | None, limit: int, after: int
) -> tuple[StoredWaiting, ...]:
    if session_id is None:
        rows = db.execute(_ALL, (after, limit)).fetchall()
    else:
        rows = db.execute(_OF_ONE, (session_id, after, limit)).fetchall()
    return tuple(StoredWaiting(*row) for row in rows)
