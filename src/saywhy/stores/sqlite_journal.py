"""The journal of a turn as SQL: which calls were asked, which were answered, in which attempt.

Each attempt is a row. What an interrupted call means for the turn is the caller's to decide.
"""

from __future__ import annotations

import sqlite3
from typing import Final

from saywhy.stores.refusals import fenced, no_such_call
from saywhy.stores.sqlite_file import NOW
from saywhy.stores.sqlite_rows import row_id
from saywhy.stores.store import (
    MAX_EARLIER,
    Blank,
    Call,
    Claim,
    JournalEntry,
    Prior,
    Rows,
    hash_of,
)

_COLUMNS = """step.seq, step.attempt, step.kind, step.name, step.effect, step.idem_key,
       step.args_hash, step.args, step.status, step.result"""

_STEPS: Final = f"SELECT {_COLUMNS} FROM step WHERE turn_key = ? ORDER BY seq, attempt"

_EARLIER: Final = f"""
SELECT {_COLUMNS} FROM turn JOIN step ON step.turn_key = turn.turn_key
WHERE session_key = ? AND turn_no > ? AND turn_no < ?
ORDER BY turn_no DESC, step.seq DESC, step.attempt DESC LIMIT {MAX_EARLIER}"""

_INSERT = """
INSERT INTO step (turn_key, seq, attempt, kind, name, effect, idem_key, args_hash, status, fence,
                  blanked, started, args)"""

# The fence is checked by the row it selects, so that check and write are one statement.
_ASK: Final = f"""{_INSERT}
SELECT turn_key, ?, 1, ?, ?, ?, ?, ?, 'asked', fence, 0, {NOW}, ?
FROM turn WHERE turn_key = ? AND fence = ? AND status = 'running'
ON CONFLICT DO NOTHING"""

_ASK_AGAIN: Final = f"""{_INSERT}
SELECT turn_key, seq, attempt + 1, kind, name, effect, idem_key, args_hash, 'asked', ?, 0, {NOW},
       args
FROM step WHERE turn_key = ? AND seq = ? ORDER BY attempt DESC LIMIT 1"""

_PRIOR: Final = """
SELECT step.kind, step.name, step.args_hash, step.status, step.result
FROM turn LEFT JOIN step ON step.turn_key = turn.turn_key AND step.seq = ?
WHERE turn.turn_key = ? AND turn.fence = ? AND turn.status = 'running'
ORDER BY step.status = 'answered', step.attempt"""

_SAVE_CURSOR: Final = """
INSERT INTO cursor (session_key, doc) SELECT session_key, ? FROM turn WHERE turn_key = ?
ON CONFLICT (session_key) DO UPDATE SET doc = excluded.doc"""

_ADD_COMMIT: Final = 'INSERT INTO "commit" (id, doc) VALUES (?, ?) ON CONFLICT DO NOTHING'

# The newest attempt made by this claim or before it: never that of a worker who came later.
_ANSWER: Final = f"""
UPDATE step SET status = 'answered', finished = {NOW}, result = CASE blanked WHEN 0 THEN ? END
WHERE turn_key = ? AND seq = ? AND status <> 'answered' AND attempt = (
    SELECT max(attempt) FROM step WHERE turn_key = ? AND seq = ? AND fence <= ?)"""

_KNOWN: Final = """
SELECT EXISTS (SELECT 1 FROM step WHERE step.turn_key = turn.turn_key AND seq = ?)
FROM turn WHERE turn_key = ?"""

_CLOSE: Final = "UPDATE step SET status = 'unknown' WHERE turn_key = ? AND status = 'asked'"
_BLANK_ALL: Final = """
UPDATE step SET args = NULL, result = NULL, blanked = 1,
                status = CASE status WHEN 'asked' THEN 'unknown' ELSE status END
WHERE turn_key = ?"""
_BLANK_ONE: Final = """
UPDATE step SET args = NULL, result = NULL, blanked = 1 WHERE turn_key = ? AND seq = ?"""


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
    args_hash = hash_of(call.args, claim.salt)
    row = (seq, call.kind, call.name, call.effect, call.key, args_hash, call.args)
    asked = db.execute(_ASK, (*row, claim.turn_key, claim.fence)).rowcount
    prior = Prior("fresh") if asked else _prior(db, claim, seq, call, args_hash)
    if prior.status == "diverged":
        return prior
    if prior.status == "interrupted" and (again or call.effect != "once"):
        db.execute(_ASK_AGAIN, (claim.fence, claim.turn_key, seq))
    db.execute(_SAVE_CURSOR, (doc, claim.turn_key))
    add_commits(db, claim, commits)
    if previous_result is not None:
        result(db, claim, *previous_result)
    return prior


def _prior(db: sqlite3.Connection, claim: Claim, seq: int, call: Call, args_hash: bytes) -> Prior:
    """What stands in the way of a new intent: another worker's fence, or an earlier intent."""
    rows = db.execute(_PRIOR, (seq, claim.turn_key, claim.fence)).fetchall()
    if not rows:
        raise fenced(claim)
    kind, name, known_hash, status, answer = rows[-1]
    if (kind, name, known_hash) != (call.kind, call.name, args_hash):
        return Prior("diverged")
    if status == "answered":
        return Prior("answered", answer)
    return Prior("interrupted")


def result(db: sqlite3.Connection, claim: Claim, seq: int, result: bytes) -> None:
    key = (claim.turn_key, seq)
    if db.execute(_ANSWER, (result, *key, *key, claim.fence)).rowcount:
        return
    rows = db.execute(_KNOWN, (seq, claim.turn_key)).fetchall()
    if rows and not rows[0][0]:  # no row at all: the person was forgotten meanwhile
        raise no_such_call(claim, seq)


def add_commits(db: sqlite3.Connection, claim: Claim, commits: Rows) -> None:
    """A commit recorded once stays as it was, should a resumed turn hand it in again."""
    if commits:
        db.executemany(_ADD_COMMIT, [(row_id(claim.turn_key, seq), doc) for seq, doc in commits])


def end_steps(
    db: sqlite3.Connection, claim: Claim, previous_result: tuple[int, bytes] | None, blank: Blank
) -> bool:
    """The turn is over: nobody waits for an answer any more, and secrets go.

    False: there was no call in it, so nothing of it was stored before.
    """
    if previous_result is not None:
        result(db, claim, *previous_result)
    if blank == "all":
        return db.execute(_BLANK_ALL, (claim.turn_key,)).rowcount > 0
    db.execute(_CLOSE, (claim.turn_key,))
    if blank:
        db.executemany(_BLANK_ONE, [(claim.turn_key, seq) for seq in sorted(blank)])
    return True


def steps_of(db: sqlite3.Connection, turn_key: int) -> tuple[JournalEntry, ...]:
    return tuple(JournalEntry(*row) for row in db.execute(_STEPS, (turn_key,)).fetchall())


def earlier_steps(
    db: sqlite3.Connection, session_key: int, done_no: int, turn_no: int
) -> tuple[JournalEntry, ...]:
    """Calls of the turns between the last finished one and this one, oldest first."""
    if done_no == turn_no - 1:
        return ()
    rows = db.execute(_EARLIER, (session_key, done_no, turn_no)).fetchall()
    return tuple(JournalEntry(*row) for row in reversed(rows))
