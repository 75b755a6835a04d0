"""Turns that are held, and documents that are written in another form, as SQL.

Each function is one job of the writer thread, except `held`, which a reader runs. What holding
means is said in `held`; the life of other turns is in `sqlite_turn`.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Final

from saywhy.stores import sqlite_turn
from saywhy.stores.held import HELD_UNTIL, StoredHeld
from saywhy.stores.refusals import fenced, lease_runs
from saywhy.stores.sqlite_file import NOW
from saywhy.stores.store import Claim

# The fence rises: the claim that finds it cannot go on is dead from here on.
_HOLD: Final = f"""
UPDATE session SET fence = fence + 1, owner = NULL, lease_until = {HELD_UNTIL}
WHERE id = ? AND fence = ?"""
_HOLD_TURN: Final = f"""
UPDATE turn SET status = 'held', error = ?, held_since = coalesce(held_since, {NOW})
WHERE turn_key = ?"""

_RELEASE: Final = f"""
UPDATE session SET lease_until = {NOW} WHERE id = ? AND lease_until = {HELD_UNTIL}"""
_RELEASE_TURN: Final = """
UPDATE turn SET status = 'queued', error = NULL, held_since = NULL,
                released = coalesce(?, released)
WHERE session_key = (SELECT session_key FROM session WHERE id = ?) AND turn_no = ?
      AND status = 'held'"""

_HELD = f"""
SELECT s.id, s.user_id, t.turn_no, t.message_id, t.held_since, t.error, c.doc, t.released
FROM session AS s{{}}
JOIN turn AS t ON t.session_key = s.session_key AND t.turn_no > s.ended_no AND t.status = 'held'
LEFT JOIN cursor AS c ON c.session_key = s.session_key
WHERE s.lease_until = {HELD_UNTIL} AND """
_HELD_ONE: Final = _HELD.format("") + "s.id = ?"
# By the index of these few: without a word SQLite takes the one of all leases, and sorts.
_HELD_ALL: Final = _HELD.format(" INDEXED BY session_held") + "s.id > ? ORDER BY s.id LIMIT ?"

# Whatever the clock did since the statement before.
_FREE_NOW: Final = "UPDATE session SET lease_until = 0 WHERE id = ?"

_FREE: Final = f"""
SELECT session_key, lease_until IS NULL OR lease_until <= {NOW} OR lease_until = {HELD_UNTIL}
FROM session WHERE id = ?"""
_DOCUMENT: Final = "SELECT doc FROM document WHERE session_key = ?"
_CURSOR: Final = "SELECT doc FROM cursor WHERE session_key = ?"
_PUT_DOCUMENT: Final = "UPDATE document SET doc = ? WHERE session_key = ?"
_PUT_CURSOR: Final = "UPDATE cursor SET doc = ? WHERE session_key = ?"


def hold(db: sqlite3.Connection, claim: Claim, why: str) -> None:
    if not db.execute(_HOLD, (claim.session_id, claim.fence)).rowcount:
        raise fenced(claim)
    db.execute(_HOLD_TURN, (why, claim.turn_key))


def held(
    db: sqlite3.Connection, session_id: str | None, limit: int, after: str
) -> tuple[StoredHeld, ...]:
    if session_id is not None:
        rows = db.execute(_HELD_ONE, (session_id,)).fetchall()
    else:
        rows = db.execute(_HELD_ALL, (after, limit)).fetchall()
    return tuple(StoredHeld(*row) for row in rows)


def release(db: sqlite3.Connection, session_id: str, turn_no: int, note: str | None) -> bool:
    if not db.execute(_RELEASE_TURN, (note, session_id, turn_no)).rowcount:
        return False
    db.execute(_RELEASE, (session_id,))
    return True


def abandon(db: sqlite3.Connection, session_id: str, turn_no: int, why: str) -> bool:
    if not release(db, session_id, turn_no, None):
        return False
    db.execute(_FREE_NOW, (session_id,))
    claimed = sqlite_turn.claim(db, "abandon", 0, session_id)
    assert claimed is not None, "it was released in this transaction"
    sqlite_turn.fail(
        db, claimed, "cancelled", why, doc=None, messages=(), commits=(), previous_result=None,
        blank=frozenset(), blank_input=False,
    )  # fmt: skip
    return True


def recode(db: sqlite3.Connection, session_id: str, change: Callable[[bytes], bytes]) -> int:
    row = db.execute(_FREE, (session_id,)).fetchone()
    if row is None:
        return 0
    session_key, is_free = row
    if not is_free:
        raise lease_runs(session_id)
    changed = 0
    for find, put in ((_DOCUMENT, _PUT_DOCUMENT), (_CURSOR, _PUT_CURSOR)):
        found = db.execute(find, (session_key,)).fetchone()
        if found is not None and (made := change(found[0])) != found[0]:
            db.execute(put, (made, session_key))
            changed += 1
    return changed
