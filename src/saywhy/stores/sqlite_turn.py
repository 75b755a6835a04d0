"""The life of a turn as SQL: accept, claim, intent, result, finish, fail.

Each function is one job of the writer thread: whatever it wrote is taken back when it raises. All
times are the database's. Transactions are the writer's business.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Final, NamedTuple

from saywhy.stores import sqlite_audit, sqlite_journal, sqlite_timers, sqlite_waiting
from saywhy.stores.audit import StoredLink
from saywhy.stores.held import HELD_UNTIL
from saywhy.stores.refusals import (
    fenced,
    message_taken,
    other_mode,
    other_owner,
    queue_full,
    turn_open,
    version_moved,
)
from saywhy.stores.sqlite_file import NOW
from saywhy.stores.sqlite_rows import row_id
from saywhy.stores.store import (
    Accepted,
    Blank,
    Claim,
    FailStatus,
    Mode,
    Rows,
    TurnStatus,
    merged,
)
from saywhy.stores.timers import Timer
from saywhy.stores.waiting import Waiting

_FIND = """
SELECT s.session_key, s.user_id, s.lease_until, t.turn_no, t.status, t.reply, t.error,
       s.version, s.fence, s.done_no, s.mode {}
FROM session AS s
LEFT JOIN turn AS t ON t.session_key = s.session_key AND t.message_id = ?
{}WHERE s.id = ?"""
_FIND_SHORT: Final = _FIND.format("", "")
_FIND_WHOLE: Final = _FIND.format(
    ", d.doc", "LEFT JOIN document AS d ON d.session_key = s.session_key\n"
)

_ADD_SESSION: Final = """
INSERT INTO session (id, user_id, mode, version, fence, done_no, ended_no)
VALUES (?, ?, ?, 0, 0, 0, 0)"""

_ADD_TURN: Final = f"""
INSERT INTO turn (session_key, turn_no, message_id, status, fence, accepted, salt, input)
SELECT ?, coalesce(max(turn_no), 0) + 1, ?, ?, ?, {NOW}, randomblob(16), ?
FROM turn WHERE session_key = ?
RETURNING turn_no, salt, turn_key"""

_ENDED_NO: Final = "SELECT ended_no FROM session WHERE session_key = ?"

_WAIT: Final = f"""
UPDATE session SET lease_until = {NOW} WHERE session_key = ? AND lease_until IS NULL"""

_LEASE: Final = f"""
UPDATE session SET fence = fence + 1, owner = ?, lease_until = {NOW} + ? WHERE session_key = ?"""

_CLAIM = f"""
UPDATE session SET fence = fence + 1, owner = ?, lease_until = {NOW} + ?
WHERE {{}} AND lease_until <= {NOW}
RETURNING session_key, id, user_id, fence, version, done_no, ended_no"""
_CLAIM_ONE: Final = _CLAIM.format("id = ? AND mode = coalesce(?, mode)")
_CLAIM_ANY: Final = _CLAIM.format(
    f"""session_key = (
    SELECT session_key FROM session WHERE lease_until <= {NOW} AND mode = coalesce(?, mode)
    ORDER BY lease_until LIMIT 1)"""
)

_TAKE_TURN: Final = """
UPDATE turn SET status = 'running', fence = ?
WHERE session_key = ? AND turn_no = (
    SELECT turn_no FROM turn
    WHERE session_key = ? AND turn_no > ? AND status IN ('queued', 'running')
    ORDER BY turn_no LIMIT 1)
RETURNING turn_no, message_id, input, salt, turn_key, released"""

_DOCUMENTS: Final = """
SELECT (SELECT doc FROM document WHERE session_key = ?), (
        SELECT doc FROM cursor WHERE session_key = ?)"""

_RENEW: Final = f"UPDATE session SET lease_until = {NOW} + ? WHERE id = ? AND fence = ?"

# The fence rises at the end of a turn as well: the claim is dead then, for every kind of write.
_END = f"""
UPDATE session SET fence = fence + 1, {{}} owner = NULL, ended_no = ?, lease_until = (
    SELECT {NOW} FROM turn
    WHERE turn.session_key = session.session_key AND turn_no > ? AND status = 'queued' LIMIT 1)
WHERE id = ? AND fence = ? AND version = ?
RETURNING session_key, (
    SELECT link FROM turn WHERE turn.session_key = session.session_key AND turn_no = ?)"""
_END_DONE: Final = _END.format("version = version + 1, done_no = ?,")
_END_REPAIRED: Final = _END.format("version = version + 1,")
_END_BARE: Final = _END.format("")

_SAVE_DOCUMENT: Final = """
INSERT INTO document (session_key, doc) VALUES (?, ?)
ON CONFLICT (session_key) DO UPDATE SET doc = excluded.doc"""
_DROP_CURSOR: Final = "DELETE FROM cursor WHERE session_key = ?"

_END_TURN: Final = f"""
UPDATE turn SET status = ?, reply = ?, error = ?, ended = {NOW},
                salt = iif(?, NULL, salt), input = iif(?, NULL, input),
                message_rows = ?, commit_rows = ?, link_salt = ?, content = ?, link = ?
WHERE turn_key = ?"""

_RAISE_VERSION: Final = "UPDATE session SET version = version + 1 WHERE session_key = ?"

_ADD_MESSAGE: Final = """
INSERT INTO message (id, turn_no, doc) VALUES (?, ?, ?) ON CONFLICT DO NOTHING"""
_COMMITS: Final = 'SELECT seq, doc FROM "commit" WHERE id >= ? AND id < ? ORDER BY id'
_ADD_OUTPUT: Final = "INSERT INTO outbox (session_key, turn_no, payload) VALUES (?, ?, ?)"


class _Found(NamedTuple):
    """A conversation and, if the message was seen before, its turn."""

    session_key: int
    user_id: str
    lease_until: int | None
    turn_no: int | None
    status: TurnStatus | None
    reply: bytes | None
    error: str | None
    version: int
    fence: int
    done_no: int
    mode: Mode
    doc: bytes | None = None


def accept(
    db: sqlite3.Connection,
    session_id: str,
    message_id: str,
    input: bytes,
    user_id: str,
    max_queued: int,
    mode: Mode,
) -> Accepted:
    found = _find(db, _FIND_SHORT, session_id, message_id, user_id, mode)
    return _seen(found) or _queue(db, found, (session_id, message_id, input), max_queued)


def accept_and_claim(
    db: sqlite3.Connection,
    session_id: str,
    message_id: str,
    input: bytes,
    user_id: str,
    worker: str,
    ttl_ms: int,
    max_queued: int,
    mode: Mode,
) -> tuple[Accepted, Claim | None]:
    found = _find(db, _FIND_WHOLE, session_id, message_id, user_id, mode)
    seen = _seen(found)
    message = (session_id, message_id, input)
    if seen is None and found.lease_until is None:
        return _start(db, found, message, worker, ttl_ms)
    # Another turn is open, or this one is; perhaps a crash left it behind.
    accepted = seen or _queue(db, found, message, max_queued)
    if accepted.status in ("done", "ended"):
        return accepted, None
    return accepted, None if accepted.held else claim(db, worker, ttl_ms, session_id)


def _find(
    db: sqlite3.Connection,
    statement: str,
    session_id: str,
    message_id: str,
    user_id: str,
    mode: Mode,
) -> _Found:
    """The conversation, which begins here if nobody mentioned it before."""
    row = db.execute(statement, (message_id, session_id)).fetchone()
    if row is None:
        key = db.execute(_ADD_SESSION, (session_id, user_id, mode)).lastrowid
        assert key is not None
        return _Found(key, user_id, None, None, None, None, None, 0, 0, 0, mode)
    found = _Found(*row)
    if found.user_id != user_id:
        raise other_owner(session_id, user_id)
    if found.mode != mode:
        raise other_mode(session_id, found.mode, mode)
    return found


def _seen(found: _Found) -> Accepted | None:
    """What became of the message, None if it is new."""
    if found.turn_no is None:
        return None
    if found.status in ("queued", "running", "held"):
        return Accepted("running", found.turn_no, held=found.lease_until == HELD_UNTIL)
    if found.status == "done" or (found.status == "unknown" and found.error is None):
        return Accepted("done", found.turn_no, found.reply)
    return Accepted("ended", found.turn_no, error=found.error)


def _queue(
    db: sqlite3.Connection, found: _Found, message: tuple[str, str, bytes], max_queued: int
) -> Accepted:
    session_id, message_id, words = message
    row = (found.session_key, message_id, "queued", 0, words, found.session_key)
    turn_no = db.execute(_ADD_TURN, row).fetchall()[0][0]
    # Turns end in their order: all behind the last that ended are open.
    if turn_no - db.execute(_ENDED_NO, (found.session_key,)).fetchone()[0] > max_queued:
        raise queue_full(session_id, max_queued)
    db.execute(_WAIT, (found.session_key,))
    return Accepted("new", turn_no, held=found.lease_until == HELD_UNTIL)


def _start(
    db: sqlite3.Connection, found: _Found, message: tuple[str, str, bytes], worker: str, ttl_ms: int
) -> tuple[Accepted, Claim]:
    """A turn of an idle conversation begins at once; it was never queued."""
    session_id, message_id, words = message
    key, fence = found.session_key, found.fence + 1
    row = (key, message_id, "running", fence, words, key)
    turn_no, salt, turn_key = db.execute(_ADD_TURN, row).fetchall()[0]
    db.execute(_LEASE, (worker, ttl_ms, key))
    claimed = Claim(
        session_id, found.user_id, turn_no, message_id, fence, found.version, words, found.doc,
        None, (), sqlite_journal.earlier_steps(db, key, found.done_no, turn_no), salt, turn_key,
    )  # fmt: skip
    return Accepted("new", turn_no), claimed


def claim(
    db: sqlite3.Connection,
    worker: str,
    ttl_ms: int,
    session_id: str | None,
    mode: Mode | None = None,
) -> Claim | None:
    if session_id is None:
        rows = db.execute(_CLAIM_ANY, (worker, ttl_ms, mode)).fetchall()
    else:
        rows = db.execute(_CLAIM_ONE, (worker, ttl_ms, session_id, mode)).fetchall()
    if not rows:
        return None
    key, found_id, user_id, fence, version, done_no, ended_no = rows[0]
    taken = db.execute(_TAKE_TURN, (fence, key, key, ended_no)).fetchall()
    turn_no, message_id, words, salt, turn_key, released = taken[0]  # no lease without an open turn
    doc, cursor = db.execute(_DOCUMENTS, (key, key)).fetchone()
    journal = () if cursor is None else merged(sqlite_journal.steps_of(db, turn_key))
    return Claim(
        found_id, user_id, turn_no, message_id, fence, version, words, doc, cursor, journal,
        sqlite_journal.earlier_steps(db, key, done_no, turn_no), salt, turn_key, released,
    )  # fmt: skip


def renew(db: sqlite3.Connection, session_id: str, fence: int, ttl_ms: int) -> bool:
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
    timers: Sequence[Timer] | None,
    blank: Blank,
    blank_input: bool,
    ended_as: TurnStatus,
    waiting: Sequence[Waiting] | None,
) -> None:
    key, before = _end_session(db, _END_DONE, (claim.turn_no,), claim)
    db.execute(_SAVE_DOCUMENT, (key, doc))
    if waiting is not None:
        sqlite_waiting.replace(db, key, claim.turn_no, waiting)
    had_calls = sqlite_journal.end_steps(db, claim, previous_result, blank)
    _add_rows(db, key, claim, messages, commits)
    rows = sorted(messages), _commits_of(db, claim) if had_calls else sorted(commits)
    link = sqlite_audit.link_of(db, key, claim, before, ended_as, *rows)
    _end_turn(db, key, claim, (ended_as, reply, None), blank, blank_input, link)
    if outbox:
        db.executemany(_ADD_OUTPUT, [(key, claim.turn_no, payload) for payload in outbox])
    if timers is not None:
        sqlite_timers.replace(db, key, timers)


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
    waiting: Sequence[Waiting] | None = None,
    timers: Sequence[Timer] | None = None,
) -> None:
    statement = _END_BARE if doc is None else _END_REPAIRED
    key, before = _end_session(db, statement, (), claim)
    if waiting is not None:
        sqlite_waiting.replace(db, key, claim.turn_no, waiting)
    if timers is not None:
        sqlite_timers.replace(db, key, timers)
    if doc is not None:
        db.execute(_SAVE_DOCUMENT, (key, doc))
    sqlite_journal.end_steps(db, claim, previous_result, blank)
    _add_rows(db, key, claim, messages, commits)
    rows = sorted(messages), _commits_of(db, claim)
    link = sqlite_audit.link_of(db, key, claim, before, status, *rows)
    _end_turn(db, key, claim, (status, None, why), blank, blank_input, link)


def save(
    db: sqlite3.Connection, session_id: str, user_id: str, doc: bytes, version: int, mode: Mode
) -> int:
    found = _find(db, _FIND_SHORT, session_id, "", user_id, mode)
    if found.version != version:
        raise version_moved(session_id, found.version, version)
    if found.lease_until is not None:
        raise turn_open(session_id)
    db.execute(_SAVE_DOCUMENT, (found.session_key, doc))
    db.execute(_RAISE_VERSION, (found.session_key,))
    return version + 1


def _end_session(
    db: sqlite3.Connection, statement: str, values: tuple[int, ...], claim: Claim
) -> tuple[int, bytes | None]:
    """The one check that decides who may save: fence and version must both still be ours.

    Gives the key of the conversation, and what the link of the turn before came to.
    """
    key = (claim.session_id, claim.fence, claim.version, claim.turn_no - 1)
    rows = db.execute(statement, (*values, claim.turn_no, claim.turn_no, *key)).fetchall()
    if not rows:
        raise fenced(claim)
    return rows[0]


def _end_turn(
    db: sqlite3.Connection,
    session_key: int,
    claim: Claim,
    end: tuple[TurnStatus, bytes | None, str | None],
    blank: Blank,
    blank_input: bool,
    link: StoredLink,
) -> None:
    linked = link.messages, link.commits, link.salt, link.content, link.digest
    db.execute(_END_TURN, (*end, bool(blank), blank_input, *linked, claim.turn_key))
    db.execute(_DROP_CURSOR, (session_key,))


def _add_rows(
    db: sqlite3.Connection, session_key: int, claim: Claim, messages: Rows, commits: Rows
) -> None:
    if messages:
        rows = [(row_id(session_key, seq), claim.turn_no, doc) for seq, doc in messages]
        if db.executemany(_ADD_MESSAGE, rows).rowcount != len(rows):
            raise message_taken(claim.session_id)
    sqlite_journal.add_commits(db, claim, commits)


def _commits_of(db: sqlite3.Connection, claim: Claim) -> list[tuple[int, bytes]]:
    """All of the turn: some came with its intents, and what was kept first stays."""
    rows = (row_id(claim.turn_key, 0), row_id(claim.turn_key + 1, 0))
    return db.execute(_COMMITS, rows).fetchall()
