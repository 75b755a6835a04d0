"""Masking rows that were kept already, as SQL. See `masked`."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Final

from saywhy.stores import sqlite_audit
from saywhy.stores.masked import MaskedTurn
from saywhy.stores.refusals import fenced
from saywhy.stores.sqlite_rows import row_id
from saywhy.stores.store import Claim

_HELD: Final = """
SELECT session_key FROM turn WHERE turn_key = ? AND fence = ? AND status = 'running'"""
_TURN: Final = "SELECT turn_key FROM turn WHERE session_key = ? AND turn_no = ? AND turn_no <= ?"
_MESSAGE: Final = "UPDATE message SET doc = ? WHERE id = ? AND turn_no = ?"
_COMMIT: Final = 'UPDATE "commit" SET doc = ? WHERE id >= ? AND id < ? AND seq = ?'


def mask_turns(db: sqlite3.Connection, claim: Claim, turns: Sequence[MaskedTurn]) -> None:
    held = db.execute(_HELD, (claim.turn_key, claim.fence)).fetchone()
    if held is None:
        raise fenced(claim)
    session_key = held[0]
    for masked in turns:
        turn = db.execute(_TURN, (session_key, masked.turn_no, claim.turn_no)).fetchone()
        if turn is None:
            continue
        said = [(doc, row_id(session_key, seq), masked.turn_no) for seq, doc in masked.messages]
        db.executemany(_MESSAGE, said)
        rows = row_id(turn[0], 0), row_id(turn[0] + 1, 0)
        db.executemany(_COMMIT, [(doc, *rows, seq) for seq, doc in masked.commits])
        sqlite_audit.mask(db, session_key, masked.turn_no)
