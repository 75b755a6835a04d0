"""Timers of conversations, as SQL. What they are, is said in `timers`."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Final

from saywhy.stores.sqlite_file import NOW
from saywhy.stores.store import Mode
from saywhy.stores.timers import StoredTimer, Timer

_KNOWN: Final = "SELECT id, due_ms, payload FROM timer WHERE session_key = ?"
_DROP: Final = "DELETE FROM timer WHERE id = ?"
_ADD: Final = "INSERT INTO timer (session_key, due_ms, payload) VALUES (?, ?, ?)"

# A conversation that does not rest is left out: the turn that runs says anew what falls due.
_DUE: Final = f"""
SELECT timer.id, session.id, user_id, due_ms, payload
FROM timer JOIN session USING (session_key)
WHERE due_ms <= coalesce(?, {NOW}) AND lease_until IS NULL AND mode = coalesce(?, mode)
      AND session.id = coalesce(?, session.id)
ORDER BY due_ms, timer.id LIMIT ?"""


def replace(db: sqlite3.Connection, session_key: int, timers: Sequence[Timer]) -> None:
    """Let exactly these run for a conversation. One that ran before keeps its id."""
    wanted = list(timers)
    for timer_id, due_ms, payload in db.execute(_KNOWN, (session_key,)).fetchall():
        known = Timer(due_ms, payload)
        if known in wanted:
            wanted.remove(known)
        else:
            db.execute(_DROP, (timer_id,))
    db.executemany(_ADD, [(session_key, timer.due_ms, timer.payload) for timer in wanted])


def take(db: sqlite3.Connection, timer_id: int) -> bool:
    return db.execute(_DROP, (timer_id,)).rowcount == 1


def due(
    db: sqlite3.Connection,
    limit: int,
    session_id: str | None,
    until_ms: float | None,
    mode: Mode | None,
) -> tuple[StoredTimer, ...]:
    rows = db.execute(_DUE, (until_ms, mode, session_id, limit)).fetchall()
    return tuple(StoredTimer(*row) for row in rows)
