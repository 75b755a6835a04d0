"""The journal of a turn as SQL: which calls were asked, which were answered, in which attempt.

Each attempt is a row. What an interrupted call means for the turn is the caller's to decide.
"""

from __future__ import annotations

import sqlite3
from typing import Any, Final

from saywhy.stores.refusals import fenced, no_such_call
from saywhy.stores.sqlite_file import NOW
from saywhy.stores.store import (
    MAX_EARLIER,
    Blank,
    Call,
    Claim,
    JournalEntry,
    Prior,
    Rows,
    hash_of,
    merged,
)

_COLUMNS = "seq, attempt, kind, name, effect, idem_key, args_hash, args, status, result"

_STEPS: Final = f"""
SELECT {_COLUMNS} FROM step WHERE session_id = ? AND turn_no = ? ORDER BY seq, attempt"""

_EARLIER: Final = f"""
SELECT {_COLUMNS} FROM step WHERE session_id = ? AND turn_no > ? AND turn_no < ?
ORDER BY turn_no DESC, seq DESC, attempt DESC LIMIT {MAX_EARLIER}"""

_INSERT = """
INSERT INTO step (session_id, turn_no, seq, attempt, kind, name, effect, idem_key, args_hash,
                  status, fence, blanked, started, args)"""

# The fence is checked by the row it selects, so that check and write are one statement.
_ASK: Final = f"""{_INSERT}
SELECT session_id, turn_no, ?, 1, ?, ?, ?, ?, ?, 'asked', fence, 0, {NOW}, ?
FROM turn WHERE session_id = ? AND turn_no = ? AND fence = ? AND status = 'running'
ON CONFLICT DO NOTHING"""

_ASK_AGAIN: Final = f"""{_INSERT}
SELECT session_id, turn_no, seq, attempt + 1, kind, name, effect, idem_key, args_hash,
       'asked', ?, 0, {NOW}, args
FROM step WHERE session_id = ? AND turn_no = ? AND seq = ? ORDER BY attempt DESC LIMIT 1"""

_PRIOR: Final = """
SELECT step.kind, step.name, step.args_hash, step.status, step.result
FROM turn LEFT JOIN step
    ON step.session_id = turn.session_id AND step.turn_no = turn.turn_no AND step.seq = ?
WHERE turn.session_id = ? AND turn.turn_no = ? AND turn.fence = ? AND turn.status = 'running'
ORDER BY step.status = 'answered', step.attempt"""

_SAVE_CURSOR: Final = "UPDATE turn SET doc = ? WHERE session_id = ? AND turn_no = ?"

_ADD_COMMIT: Final = """
INSERT INTO "commit" (session_id, turn_no, seq, doc) VALUES (?, ?, ?, ?)
ON CONFLICT DO NOTHING"""

# The newest attempt made by this claim or before it: never that of a worker who came later.
_ANSWER: Final = f"""
UPDATE step SET status = 'answered', finished = {NOW},
                result = CASE blanked WHEN 0 THEN ? END
WHERE session_id = ? AND turn_no = ? AND seq = ? AND status <> 'answered' AND attempt = (
    SELECT max(attempt) FROM step
    WHERE session_id = ? AND turn_no = ? AND seq = ? AND fence <= ?)"""

_KNOWN: Final = """
SELECT EXISTS (SELECT 1 FROM step WHERE session_id = turn.session_id
               AND turn_no = turn.turn_no AND seq = ?)
FROM turn WHERE session_id = ? AND turn_no = ?"""

_CLOSE: Final = """
UPDATE step SET status = 'unknown' WHERE session_id = ? AND turn_no = ? AND status = 'asked'"""
_BLANK_ALL: Final = """
UPDATE step SET args = NULL, result = NULL, blanked = 1,
                status = CASE status WHEN 'asked' THEN 'unknown' ELSE status END
WHERE session_id = ? AND turn_no = ?"""
_BLANK_ONE: Final = """
UPDATE step SET args = NULL, result = NULL, blanked = 1
WHERE session_id = ? AND turn_no = ? AND seq = ?"""


def intent(
    db: sqlite3.Connection,
    claim: Claim,
    seq: int,
    call: Call,
    doc: bytes,
    commits: Rows,
    previous_result: tuple[int, bytes] | None,
    again: bool,
) -> Prior:
    key = (claim.session_id, claim.turn_no)
    args_hash = hash_of(call.args, claim.salt)
    row = (seq, call.kind, call.name, call.effect, call.key, args_hash, call.args)
    asked = db.execute(_ASK, (*row, *key, claim.fence)).rowcount
    prior = Prior("fresh") if asked else _prior(db, claim, seq, call, args_hash)
    if prior.status == "diverged":
        return prior
    if prior.status == "interrupted" and (again or call.effect != "once"):
        db.execute(_ASK_AGAIN, (claim.fence, *key, seq))
    db.execute(_SAVE_CURSOR, (doc, *key))
    add_commits(db, claim, commits)
    if previous_result is not None:
        result(db, claim, *previous_result)
    return prior


def _prior(db: sqlite3.Connection, claim: Claim, seq: int, call: Call, args_hash: bytes) -> Prior:
    """What stands in the way of a new intent: another worker's fence, or an earlier intent."""
    key = (claim.session_id, claim.turn_no, claim.fence)
    rows = db.execute(_PRIOR, (seq, *key)).fetchall()
    if not rows:
        raise fenced(claim)
    kind, name, known_hash, status, answer = rows[-1]
    if (kind, name, known_hash) != (call.kind, call.name, args_hash):
        return Prior("diverged")
    if status == "answered":
        return Prior("answered", answer)
    return Prior("interrupted")


def result(db: sqlite3.Connection, claim: Claim, seq: int, result: bytes) -> None:
    key = (claim.session_id, claim.turn_no, seq)
    if db.execute(_ANSWER, (result, *key, *key, claim.fence)).rowcount:
        return
    rows = db.execute(_KNOWN, (seq, claim.session_id, claim.turn_no)).fetchall()
    if rows and not rows[0][0]:  # no row at all: the person was forgotten meanwhile
        raise no_such_call(claim, seq)


def add_commits(db: sqlite3.Connection, claim: Claim, commits: Rows) -> None:
    """A commit recorded once stays as it was, should a resumed turn hand it in again."""
    if commits:
        key = (claim.session_id, claim.turn_no)
        db.executemany(_ADD_COMMIT, [(*key, seq, doc) for seq, doc in commits])


def end_steps(
    db: sqlite3.Connection, claim: Claim, previous_result: tuple[int, bytes] | None, blank: Blank
) -> None:
    """The turn is over: nobody waits for an answer any more, and secrets go."""
    if previous_result is not None:
        result(db, claim, *previous_result)
    key = (claim.session_id, claim.turn_no)
    if blank == "all":
        db.execute(_BLANK_ALL, key)
        return
    db.execute(_CLOSE, key)
    if blank:
        db.executemany(_BLANK_ONE, [(*key, seq) for seq in sorted(blank)])


def steps_of(db: sqlite3.Connection, session_id: str, turn_no: int) -> tuple[JournalEntry, ...]:
    rows = db.execute(_STEPS, (session_id, turn_no)).fetchall()
    return tuple(JournalEntry(*row) for row in rows)


def merged_steps(db: sqlite3.Connection, session_id: str, turn_no: int) -> tuple[JournalEntry, ...]:
    return merged(steps_of(db, session_id, turn_no))


def earlier_steps(
    db: sqlite3.Connection, session_id: str, done_no: int, turn_no: int
) -> tuple[JournalEntry, ...]:
    """Calls of the turns between the last finished one and this one, oldest first."""
    if done_no == turn_no - 1:
        return ()
    rows: list[tuple[Any, ...]] = db.execute(_EARLIER, (session_id, done_no, turn_no)).fetchall()
    return tuple(JournalEntry(*row) for row in reversed(rows))
