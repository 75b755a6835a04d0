"""The life of a turn as SQL: accept, claim, intent, result, finish, fail.

Each function is one job of the writer thread: it checks before it writes, and whatever it wrote is
taken back when it raises. All times are the database's. Transactions are the writer's business.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any, Final

from saywhy.stores import sqlite_journal
from saywhy.stores.refusals import fenced, message_taken, other_owner, turn_open, version_moved
from saywhy.stores.sqlite_file import NOW
from saywhy.stores.store import Accepted, Blank, Claim, FailStatus, Rows, Timer

_FIND = """
SELECT s.user_id, s.lease_until, s.fence, s.done_no, t.turn_no, t.status, t.reply, t.error, s.{}
FROM session AS s LEFT JOIN turn AS t ON t.session_id = s.id AND t.message_id = ?
WHERE s.id = ?"""
_FIND_SHORT: Final = _FIND.format("version")
_FIND_WHOLE: Final = _FIND.format("version, s.doc")

_ADD_SESSION: Final = """
INSERT INTO session (id, user_id, version, fence, done_no, ended_no) VALUES (?, ?, 0, 0, 0, 0)"""

_ADD_TURN: Final = f"""
INSERT INTO turn (session_id, turn_no, message_id, status, fence, accepted, salt, input)
SELECT ?, coalesce(max(turn_no), 0) + 1, ?, ?, ?, {NOW}, randomblob(16), ?
FROM turn WHERE session_id = ?
RETURNING turn_no, salt"""

_WAIT: Final = f"UPDATE session SET lease_until = {NOW} WHERE id = ? AND lease_until IS NULL"

_LEASE: Final = f"""
UPDATE session SET fence = fence + 1, owner = ?, lease_until = {NOW} + ? WHERE id = ?"""

_CLAIM = f"""
UPDATE session SET fence = fence + 1, owner = ?, lease_until = {NOW} + ?
WHERE id = {{}} AND lease_until <= {NOW}
RETURNING id, user_id, fence, version, done_no, ended_no, doc"""
_CLAIM_ONE: Final = _CLAIM.format("?")
_CLAIM_ANY: Final = _CLAIM.format(
    f"(SELECT id FROM session WHERE lease_until <= {NOW} ORDER BY lease_until LIMIT 1)"
)

_TAKE_TURN: Final = """
UPDATE turn SET status = 'running', fence = ?
WHERE session_id = ? AND turn_no = (
    SELECT turn_no FROM turn
    WHERE session_id = ? AND turn_no > ? AND status IN ('queued', 'running')
    ORDER BY turn_no LIMIT 1)
RETURNING turn_no, message_id, input, salt, doc"""

_RENEW: Final = f"UPDATE session SET lease_until = {NOW} + ? WHERE id = ? AND fence = ?"

# The fence rises at the end of a turn as well: the claim is dead then, for every kind of write.
_END = f"""
UPDATE session SET fence = fence + 1, {{}} owner = NULL, ended_no = ?, lease_until = (
    SELECT {NOW} FROM turn WHERE session_id = ? AND turn_no > ? AND status = 'queued' LIMIT 1)
WHERE id = ? AND fence = ? AND version = ?
RETURNING lease_until IS NOT NULL"""
_END_DONE: Final = _END.format("version = version + 1, doc = ?, done_no = ?,")
_END_REPAIRED: Final = _END.format("version = version + 1, doc = ?,")
_END_BARE: Final = _END.format("")

_END_TURN: Final = f"""
UPDATE turn SET status = ?, reply = ?, error = ?, ended = {NOW}, doc = NULL,
                salt = iif(?, NULL, salt), input = iif(?, NULL, input)
WHERE session_id = ? AND turn_no = ?"""

_SAVE: Final = "UPDATE session SET doc = ?, version = version + 1 WHERE id = ?"

_ADD_MESSAGE: Final = """
INSERT INTO message (session_id, turn_no, seq, doc) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING"""
_ADD_OUTPUT: Final = "INSERT INTO outbox (session_id, turn_no, payload) VALUES (?, ?, ?)"
_ADD_TIMER: Final = "INSERT INTO timer (session_id, due_ms, payload) VALUES (?, ?, ?)"


def accept(
    db: sqlite3.Connection, session_id: str, message_id: str, input: bytes, user_id: str
) -> Accepted:
    found = db.execute(_FIND_SHORT, (message_id, session_id)).fetchone()
    if found is None:
        db.execute(_ADD_SESSION, (session_id, user_id))
    else:
        _check_owner(session_id, found[0], user_id)
        if found[4] is not None:
            return _seen(found)
    return _queue(db, session_id, message_id, input)


def accept_and_claim(
    db: sqlite3.Connection,
    session_id: str,
    message_id: str,
    input: bytes,
    user_id: str,
    worker: str,
    ttl_ms: float,
) -> tuple[Accepted, Claim | None]:
    found = db.execute(_FIND_WHOLE, (message_id, session_id)).fetchone()
    if found is None:
        db.execute(_ADD_SESSION, (session_id, user_id))
        found = (user_id, None, 0, 0, None, None, None, None, 0, None)
    _check_owner(session_id, found[0], user_id)
    if found[4] is not None:
        accepted = _seen(found)
        open_ = accepted.status == "running"
        return accepted, claim(db, worker, ttl_ms, session_id) if open_ else None
    if found[1] is not None:  # another turn is open; perhaps one that a crash left behind
        accepted = _queue(db, session_id, message_id, input)
        return accepted, claim(db, worker, ttl_ms, session_id)
    return _start(db, found, (session_id, message_id, input), worker, ttl_ms)


def _start(
    db: sqlite3.Connection,
    found: tuple[Any, ...],
    message: tuple[str, str, bytes],
    worker: str,
    ttl_ms: float,
) -> tuple[Accepted, Claim]:
    """A turn of an idle conversation begins at once; it was never queued."""
    user_id, _, fence, done_no, *_, version, doc = found
    session_id, message_id, words = message
    row = (session_id, message_id, "running", fence + 1, words, session_id)
    turn_no, salt = db.execute(_ADD_TURN, row).fetchall()[0]
    db.execute(_LEASE, (worker, ttl_ms, session_id))
    claimed = Claim(
        session_id, user_id, turn_no, message_id, fence + 1, version, words, doc, None, (),
        sqlite_journal.earlier_steps(db, session_id, done_no, turn_no), salt,
    )  # fmt: skip
    return Accepted("new", turn_no), claimed


def _queue(db: sqlite3.Connection, session_id: str, message_id: str, input: bytes) -> Accepted:
    row = (session_id, message_id, "queued", 0, input, session_id)
    turn_no, _ = db.execute(_ADD_TURN, row).fetchall()[0]
    db.execute(_WAIT, (session_id,))
    return Accepted("new", turn_no)


def _seen(found: tuple[Any, ...]) -> Accepted:
    turn_no, status, reply, error = found[4:8]
    if status in ("queued", "running"):
        return Accepted("running", turn_no)
    if status == "done":
        return Accepted("done", turn_no, reply)
    return Accepted("ended", turn_no, error=error)


def _check_owner(session_id: str, owner: str, user_id: str) -> None:
    if owner != user_id:
        raise other_owner(session_id, user_id)


def claim(
    db: sqlite3.Connection, worker: str, ttl_ms: float, session_id: str | None
) -> Claim | None:
    if session_id is None:
        rows = db.execute(_CLAIM_ANY, (worker, ttl_ms)).fetchall()
    else:
        rows = db.execute(_CLAIM_ONE, (worker, ttl_ms, session_id)).fetchall()
    if not rows:
        return None
    session_id, user_id, fence, version, done_no, ended_no, doc = rows[0]
    assert session_id is not None
    taken = db.execute(_TAKE_TURN, (fence, session_id, session_id, ended_no)).fetchall()
    turn_no, message_id, words, salt, turn_doc = taken[0]  # a lease is only set with a turn open
    journal = () if turn_doc is None else sqlite_journal.merged_steps(db, session_id, turn_no)
    return Claim(
        session_id, user_id, turn_no, message_id, fence, version, words, doc, turn_doc, journal,
        sqlite_journal.earlier_steps(db, session_id, done_no, turn_no), salt,
    )  # fmt: skip


def renew(db: sqlite3.Connection, session_id: str, fence: int, ttl_ms: float) -> bool:
    return db.execute(_RENEW, (ttl_ms, session_id, fence)).rowcount == 1


def finish(
    db: sqlite3.Connection,
    claim: Claim,
    doc: bytes,
    reply: bytes,
    messages: Rows,
    commits: Rows,
    previous_result: tuple[int, bytes] | None,
    outbox: Sequence[bytes],
    timers: Sequence[Timer],
    blank: Blank,
    blank_input: bool,
) -> bool:
    """True when another turn of the conversation waits."""
    more = _end_session(db, _END_DONE, (doc, claim.turn_no), claim)
    _end_turn(db, claim, ("done", reply, None), blank, blank_input)
    sqlite_journal.end_steps(db, claim, previous_result, blank)
    _add_rows(db, claim, messages, commits)
    session_id = claim.session_id
    if outbox:
        db.executemany(_ADD_OUTPUT, [(session_id, claim.turn_no, payload) for payload in outbox])
    if timers:
        db.executemany(_ADD_TIMER, [(session_id, item.due_ms, item.payload) for item in timers])
    return more


def fail(
    db: sqlite3.Connection,
    claim: Claim,
    status: FailStatus,
    why: str,
    doc: bytes | None,
    messages: Rows,
    commits: Rows,
    previous_result: tuple[int, bytes] | None,
    blank: Blank,
    blank_input: bool,
) -> bool:
    """True when another turn of the conversation waits."""
    if doc is None:
        more = _end_session(db, _END_BARE, (), claim)
    else:
        more = _end_session(db, _END_REPAIRED, (doc,), claim)
    _end_turn(db, claim, (status, None, why), blank, blank_input)
    sqlite_journal.end_steps(db, claim, previous_result, blank)
    _add_rows(db, claim, messages, commits)
    return more


def save(db: sqlite3.Connection, session_id: str, user_id: str, doc: bytes, version: int) -> int:
    found = db.execute(_FIND_SHORT, ("", session_id)).fetchone()
    current = found[8] if found else 0
    if current != version:
        raise version_moved(session_id, current, version)
    if found is None:
        db.execute(_ADD_SESSION, (session_id, user_id))
    else:
        _check_owner(session_id, found[0], user_id)
        if found[1] is not None:
            raise turn_open(session_id)
    db.execute(_SAVE, (doc, session_id))
    return version + 1


def _end_session(
    db: sqlite3.Connection, statement: str, values: tuple[Any, ...], claim: Claim
) -> bool:
    """The one check that decides who may save: fence and version must both still be ours."""
    key = (claim.session_id, claim.fence, claim.version)
    turn_no = claim.turn_no
    rows = db.execute(statement, (*values, turn_no, claim.session_id, turn_no, *key)).fetchall()
    if not rows:
        raise fenced(claim)
    return bool(rows[0][0])


def _end_turn(
    db: sqlite3.Connection, claim: Claim, end: tuple[Any, ...], blank: Blank, blank_input: bool
) -> None:
    values = (*end, bool(blank), blank_input, claim.session_id, claim.turn_no)
    db.execute(_END_TURN, values)


def _add_rows(db: sqlite3.Connection, claim: Claim, messages: Rows, commits: Rows) -> None:
    key = (claim.session_id, claim.turn_no)
    if messages:
        rows = [(*key, seq, doc) for seq, doc in messages]
        if db.executemany(_ADD_MESSAGE, rows).rowcount != len(rows):
            raise message_taken(claim.session_id)
    sqlite_journal.add_commits(db, claim, commits)
