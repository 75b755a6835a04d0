"""A conversation in the store's file, read turn by turn. What that promises is said in `parts`.

Which turn holds a commit is found by halving: numbers rise from turn to turn, so writing turns need
no index for it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any, Final

from saywhy.stores.parts import Part
from saywhy.stores.sqlite_rows import OF_TURN, row_id

_SESSION: Final = """
SELECT session_key, doc, (SELECT coalesce(max(turn_no), 0) FROM turn
                          WHERE turn.session_key = session.session_key)
FROM session LEFT JOIN document USING (session_key) WHERE id = ?"""

_COMMITS: Final = f"""
SELECT turn_no, "commit".seq, doc FROM turn JOIN "commit" ON {OF_TURN}
WHERE turn.session_key = ? AND turn_no >= ? AND turn_no <= ? ORDER BY turn_no, "commit".id"""
_FIRST_COMMIT: Final = f"""
SELECT turn_no, "commit".seq FROM turn JOIN "commit" ON {OF_TURN}
WHERE turn.session_key = ? AND turn_no >= ? ORDER BY turn_no, "commit".id LIMIT 1"""

_MESSAGES: Final = "SELECT turn_no, seq, doc FROM message WHERE id >= ? AND id < ? ORDER BY id"
_FIRST_MESSAGE: Final = """
SELECT turn_no, seq FROM message WHERE id >= ? AND id < ? ORDER BY id LIMIT 1"""
_LAST_MESSAGE: Final = """
SELECT turn_no, seq FROM message WHERE id >= ? AND id < ? ORDER BY id DESC LIMIT 1"""
_OF_MESSAGE: Final = "SELECT turn_no FROM message WHERE id = ?"

_NUMBERS: Final = f"""
SELECT turn_no FROM turn WHERE turn.session_key = ? AND turn_no >= ? AND turn_no <= ?
      AND (status = 'done' OR EXISTS (SELECT 1 FROM "commit" WHERE {OF_TURN}))
ORDER BY turn_no"""
_CHART: Final = "SELECT doc FROM chart WHERE digest = ?"

Read = Callable[..., Any]


def found(db: sqlite3.Connection, session_id: str) -> tuple[int, bytes | None, int, int] | None:
    """Key and document of a conversation, its oldest turn that left something and its newest."""
    row = db.execute(_SESSION, (session_id,)).fetchone()
    if row is None:
        return None
    key, doc, last = row
    firsts = (
        db.execute(_FIRST_COMMIT, (key, 0)).fetchone(),
        db.execute(_FIRST_MESSAGE, (row_id(key, 0), row_id(key + 1, 0))).fetchone(),
    )
    return key, doc, min((one[0] for one in firsts if one is not None), default=0), last


class SqliteParts:
    """One conversation. `read` runs a function on a connection of whoever calls."""

    def __init__(self, read: Read, row: tuple[int, bytes | None, int, int]) -> None:
        self._read = read
        self._begins: dict[int, int] = {}
        """By turn that others were read up to: its first message."""
        self._key, self.doc, self.first, self.last = row

    def numbers(self) -> list[int]:
        return self._read(_numbers, self._key, self.first, self.last)

    def read(self, first: int, last: int) -> list[Part]:
        return self._read(_parts, self._key, first, min(last, self.last), self._begins)

    def turn_of_commit(self, seq: int) -> int:
        return self._read(_turn_of_commit, self._key, seq, self.first, self.last)

    def turn_of_message(self, seq: int) -> int:
        return self._read(_turn_of_message, self._key, seq)

    def chart(self, digest: str) -> bytes | None:
        row = self._read(_first_row, _CHART, (digest,))
        return None if row is None else row[0]


def _first_row(db: sqlite3.Connection, statement: str, values: tuple[Any, ...]) -> Any:
    return db.execute(statement, values).fetchone()


def _numbers(db: sqlite3.Connection, key: int, first: int, last: int) -> list[int]:
    return [number for (number,) in db.execute(_NUMBERS, (key, first, last)).fetchall()]


def _parts(
    db: sqlite3.Connection, key: int, first: int, last: int, begins: dict[int, int]
) -> list[Part]:
    commits: dict[int, list[tuple[int, bytes]]] = {}
    for turn_no, seq, doc in db.execute(_COMMITS, (key, first, last)).fetchall():
        commits.setdefault(turn_no, []).append((seq, doc))
    messages: dict[int, list[tuple[int, bytes]]] = {}
    for turn_no, seq, doc in _said(db, key, first, last, begins):
        messages.setdefault(turn_no, []).append((seq, doc))
    numbers = sorted({*commits, *messages})
    return [Part(number, commits.get(number, ()), messages.get(number, ())) for number in numbers]


def _said(
    db: sqlite3.Connection, key: int, first: int, last: int, begins: dict[int, int]
) -> Iterator[tuple[int, int, bytes]]:
    """The messages of turns in a row. Who goes on from there need not look for where they begin."""
    if first not in begins:
        begins[first] = _first_message(db, key, first)
    behind = begins.get(last + 1)
    end = row_id(key + 1, 0) if behind is None else row_id(key, behind)
    newest = 0
    with closing(db.execute(_MESSAGES, (row_id(key, begins[first]), end))) as rows:
        for row in rows:
            newest = row[1]
            if row[0] > last:
                begins[last + 1] = newest
                return
            yield row
    if behind is None and newest:
        begins[last + 1] = newest + 1


def _first_message(db: sqlite3.Connection, key: int, turn_no: int) -> int:
    """The number of the first message of a turn or of one after it; one beyond all for none."""
    newest = db.execute(_LAST_MESSAGE, (row_id(key, 0), row_id(key + 1, 0))).fetchone()
    if newest is None or newest[0] < turn_no:
        return 0 if newest is None else newest[1] + 1
    low, high = 0, newest[1]  # the one looked for is behind `low` and not behind `high`
    while low + 1 < high:
        middle = (low + high) // 2
        turn, seq = db.execute(_FIRST_MESSAGE, (row_id(key, middle), row_id(key + 1, 0))).fetchone()
        if turn < turn_no:
            low = seq
        else:
            high = middle
    turn = db.execute(_OF_MESSAGE, (row_id(key, low),)).fetchone()
    return low if turn is not None and turn[0] >= turn_no else high


def _turn_of_commit(db: sqlite3.Connection, key: int, seq: int, first: int, last: int) -> int:
    found, low, high = 0, first, last
    while low <= high:
        middle = (low + high) // 2
        row = db.execute(_FIRST_COMMIT, (key, middle)).fetchone()
        if row is None or row[1] > seq:
            high = middle - 1
        else:
            found = row[0]
            low = row[0] + 1
    return found


def _turn_of_message(db: sqlite3.Connection, key: int, seq: int) -> int:
    row = db.execute(_OF_MESSAGE, (row_id(key, seq),)).fetchone() if seq > 0 else None
    return 0 if row is None else row[0]
