"""The audit chains as SQL. What a link is, is said in `audit`.

Chains have rows of their own, that stay when their conversation is forgotten. A turn's end costs a
look at the link before, beside which the new one comes to lie.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Final

from saywhy.stores.audit import (
    Head,
    StoredAnchor,
    StoredChain,
    StoredLink,
    anchor_digest,
    new_chain,
    next_link,
    packed_heads,
    start_digest,
    unpacked_heads,
)
from saywhy.stores.sqlite_file import NOW

_BEFORE: Final = """
SELECT audit_chain.chain_key, chain_id, first, audit_chain.owner, digest
FROM audit_chain LEFT JOIN audit_link
     ON audit_link.chain_key = audit_chain.chain_key AND turn_no = ?
WHERE session_key = ?"""

_ADD_CHAIN: Final = """
INSERT INTO audit_chain (chain_id, session_key, first, owner, salt, anchored)
VALUES (?, ?, ?, ?, ?, 0)"""

_ADD_LINK: Final = """
INSERT INTO audit_link (chain_key, turn_no, status, messages, commits, salt, content, digest,
                        erased)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, '')"""

_FORGET_LINKS: Final = """
UPDATE audit_link SET salt = NULL, erased = 'forgotten' WHERE salt IS NOT NULL AND chain_key IN (
    SELECT chain_key FROM audit_chain JOIN session USING (session_key) WHERE user_id = ?)"""
_FORGET_CHAINS: Final = """
UPDATE audit_chain SET salt = NULL, session_key = NULL
WHERE session_key IN (SELECT session_key FROM session WHERE user_id = ?)"""
_PRUNE_LINKS: Final = """
UPDATE audit_link SET salt = NULL, erased = 'pruned'
WHERE salt IS NOT NULL AND turn_no <= ?
      AND chain_key = (SELECT chain_key FROM audit_chain WHERE session_key = ?)"""

_NEWEST = """
    SELECT max(turn_no) FROM audit_link WHERE audit_link.chain_key = audit_chain.chain_key"""

_CHAIN = f"""
SELECT chain_id, first, audit_chain.owner, salt, session.id, session.user_id,
       coalesce(({_NEWEST}), first - 1)
FROM audit_chain LEFT JOIN session USING (session_key)
WHERE chain_id > ? """
_CHAINS: Final = f"{_CHAIN} ORDER BY chain_id LIMIT ?"
_CHAINS_SESSION: Final = f"{_CHAIN} AND session.id = ?"
_CHAINS_USER: Final = f"{_CHAIN} AND session.user_id = ?"

_LINKS: Final = """
SELECT turn_no, status, messages, commits, audit_link.salt, content, digest, erased
FROM audit_link JOIN audit_chain USING (chain_key)
WHERE chain_id = ? AND turn_no > ? ORDER BY turn_no LIMIT ?"""

_MOVED: Final = f"""
SELECT chain_id, turn_no, digest FROM audit_chain JOIN audit_link USING (chain_key)
WHERE turn_no > anchored AND turn_no = ({_NEWEST})
ORDER BY chain_id"""
_ANCHORED: Final = "UPDATE audit_chain SET anchored = ? WHERE chain_id = ? AND anchored < ?"
_NEWEST_ANCHOR: Final = """
SELECT number, at, digest, heads FROM audit_anchor
WHERE number = (SELECT max(number) FROM audit_anchor)"""
_ANCHORS: Final = """
SELECT number, at, digest, heads FROM audit_anchor WHERE number > ? ORDER BY number LIMIT ?"""
_ADD_ANCHOR: Final = "INSERT INTO audit_anchor (number, at, digest, heads) VALUES (?, ?, ?, ?)"


def add_link(
    db: sqlite3.Connection,
    session: tuple[int, str, str],
    turn_no: int,
    status: str,
    messages: list[tuple[int, bytes]],
    commits: list[tuple[int, bytes]],
) -> None:
    """Add the link of a turn that ends; `session` are the key, the id and the user's id."""
    key, session_id, user_id = session
    row = db.execute(_BEFORE, (turn_no - 1, key)).fetchone()
    if row is None:
        row = _begin(db, key, session_id, user_id, turn_no)
    chain_key, chain_id, first, owner, before = row
    if before is None:
        before = start_digest(chain_id, first, owner)
    link = next_link(before, turn_no, status, messages, commits)
    db.execute(
        _ADD_LINK,
        (
            chain_key, turn_no, status, link.messages, link.commits, link.salt, link.content,
            link.digest,
        ),
    )  # fmt: skip


def _begin(
    db: sqlite3.Connection, key: int, session_id: str, user_id: str, first: int
) -> tuple[int | None, bytes, int, bytes, None]:
    chain = new_chain(session_id, user_id, first)
    row = (chain.chain_id, key, first, chain.owner, chain.salt)
    chain_key = db.execute(_ADD_CHAIN, row).lastrowid
    return chain_key, chain.chain_id, first, chain.owner, None


def begin_chains(db: sqlite3.Connection) -> None:
    """Begin a chain for every conversation that has turns: behind the last that ended."""
    rows = db.execute("SELECT session_key, id, user_id, ended_no FROM session").fetchall()
    for key, session_id, user_id, ended_no in rows:
        _begin(db, key, session_id, user_id, ended_no + 1)


def forget(db: sqlite3.Connection, user_id: str) -> None:
    """Erase what tells whose chains they are, and the salts of their turns."""
    db.execute(_FORGET_LINKS, (user_id,))
    db.execute(_FORGET_CHAINS, (user_id,))


def prune(db: sqlite3.Connection, newest: Sequence[tuple[int, int]]) -> None:
    """Erase the salts of turns; by key of the conversation, those up to a number."""
    db.executemany(_PRUNE_LINKS, [(turn_no, key) for key, turn_no in newest])


def chains(
    db: sqlite3.Connection, session_id: str | None, user_id: str | None, after: bytes, limit: int
) -> tuple[StoredChain, ...]:
    if session_id is None and user_id is None:
        rows = db.execute(_CHAINS, (after, limit)).fetchall()
    elif session_id is None:  # a person's are few: put in order here
        rows = sorted(db.execute(_CHAINS_USER, (after, user_id)).fetchall())[:limit]
    else:
        rows = db.execute(_CHAINS_SESSION, (after, session_id)).fetchall()
        rows = [row for row in rows if user_id in (None, row[5])]
    return tuple(StoredChain(*row) for row in rows)


def links(
    db: sqlite3.Connection, chain_id: bytes, after: int, limit: int
) -> tuple[StoredLink, ...]:
    rows = db.execute(_LINKS, (chain_id, after, limit)).fetchall()
    return tuple(StoredLink(*row) for row in rows)


def moved(db: sqlite3.Connection) -> tuple[Head, ...]:
    """Where chains stand that no anchor speaks of yet. A reader looks: it goes over all chains."""
    return tuple(Head(*row) for row in db.execute(_MOVED).fetchall())


def anchor(db: sqlite3.Connection, heads: Sequence[Head]) -> StoredAnchor:
    """Make an anchor over these heads; they hold for ever, as chains only grow."""
    fresh = [
        head
        for head in heads
        if db.execute(_ANCHORED, (head.turn_no, head.chain_id, head.turn_no)).rowcount
    ]
    newest = db.execute(_NEWEST_ANCHOR).fetchone()
    if newest is not None and not fresh:
        return _stored_anchor(newest)
    number, before = (newest[0] + 1, newest[2]) if newest else (1, b"")
    at = db.execute(f"SELECT {NOW}").fetchone()[0]
    packed = packed_heads(fresh)
    digest = anchor_digest(before, number, at, packed)
    db.execute(_ADD_ANCHOR, (number, at, digest, packed))
    return StoredAnchor(number, at, digest, tuple(fresh))


def anchors(db: sqlite3.Connection, after: int, limit: int) -> tuple[StoredAnchor, ...]:
    return tuple(_stored_anchor(row) for row in db.execute(_ANCHORS, (after, limit)).fetchall())


def _stored_anchor(row: tuple[int, int, bytes, bytes]) -> StoredAnchor:
    number, at, digest, heads = row
    return StoredAnchor(number, at, digest, tuple(unpacked_heads(heads)))
