"""The audit chains as SQL. What a link is, is said in `audit`.

The link of a turn is part of its row, which its end writes anyway. Those of conversations that are
forgotten have rows of their own, and so has each chain.
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
from saywhy.stores.store import Claim

_FIND: Final = "SELECT chain_id, first, owner FROM audit_chain WHERE session_key = ?"
_ADD_CHAIN: Final = """
INSERT INTO audit_chain (chain_id, session_key, first, owner, salt, anchored)
VALUES (?, ?, ?, ?, ?, 0)"""

# The links of those who are forgotten have rows of their own: the turns go.
_KEEP_LINKS: Final = """
INSERT INTO audit_link (chain_key, turn_no, status, messages, commits, content, digest, erased)
SELECT chain_key, turn_no, status, message_rows, commit_rows, content, link,
       coalesce(erased, 'forgotten')
FROM session JOIN audit_chain USING (session_key) JOIN turn USING (session_key)
WHERE user_id = ? AND link IS NOT NULL"""
_FORGET_CHAINS: Final = """
UPDATE audit_chain SET salt = NULL, session_key = NULL
WHERE session_key IN (SELECT session_key FROM session WHERE user_id = ?)"""
_PRUNE_LINKS: Final = """
UPDATE turn SET link_salt = NULL, erased = 'pruned'
WHERE session_key = ? AND turn_no <= ? AND link_salt IS NOT NULL"""
_MASK_LINK: Final = """
UPDATE turn SET link_salt = NULL, erased = 'masked'
WHERE session_key = ? AND turn_no = ? AND link_salt IS NOT NULL"""

_NEWEST = """coalesce((
       SELECT turn_no FROM turn
       WHERE turn.session_key = audit_chain.session_key AND link IS NOT NULL
       ORDER BY turn_no DESC LIMIT 1), (
       SELECT max(turn_no) FROM audit_link WHERE audit_link.chain_key = audit_chain.chain_key))"""

_CHAIN = f"""
SELECT chain_id, first, audit_chain.owner, salt, session.id, session.user_id,
       coalesce({_NEWEST}, first - 1)
FROM audit_chain LEFT JOIN session USING (session_key)
WHERE chain_id > ? """
_CHAINS: Final = f"{_CHAIN} ORDER BY chain_id LIMIT ?"
_CHAINS_SESSION: Final = f"{_CHAIN} AND session.id = ?"
_CHAINS_USER: Final = f"{_CHAIN} AND session.user_id = ?"

_WHOSE: Final = "SELECT chain_key, session_key FROM audit_chain WHERE chain_id = ?"
_LINKS: Final = """
SELECT turn_no, status, message_rows, commit_rows, link_salt, content, link, coalesce(erased, '')
FROM turn WHERE session_key = ? AND turn_no > ? AND link IS NOT NULL ORDER BY turn_no LIMIT ?"""
_KEPT_LINKS: Final = """
SELECT turn_no, status, messages, commits, NULL, content, digest, erased
FROM audit_link WHERE chain_key = ? AND turn_no > ? ORDER BY turn_no LIMIT ?"""

_MOVED: Final = f"""
SELECT chain_id, turn_no, link FROM audit_chain JOIN turn USING (session_key)
WHERE turn_no > anchored AND turn_no = {_NEWEST}
UNION ALL
SELECT chain_id, turn_no, digest FROM audit_chain JOIN audit_link USING (chain_key)
WHERE turn_no > anchored AND turn_no = {_NEWEST}"""
_ANCHORED: Final = "UPDATE audit_chain SET anchored = ? WHERE chain_id = ? AND anchored < ?"
_NEWEST_ANCHOR: Final = """
SELECT number, at, digest, heads FROM audit_anchor
WHERE number = (SELECT max(number) FROM audit_anchor)"""
_ANCHORS: Final = """
SELECT number, at, digest, heads FROM audit_anchor WHERE number > ? ORDER BY number LIMIT ?"""
_ADD_ANCHOR: Final = "INSERT INTO audit_anchor (number, at, digest, heads) VALUES (?, ?, ?, ?)"


def link_of(
    db: sqlite3.Connection,
    session_key: int,
    claim: Claim,
    before: bytes | None,
    status: str,
    messages: list[tuple[int, bytes]],
    commits: list[tuple[int, bytes]],
) -> StoredLink:
    """The link of a turn that ends, behind that of the one before; it goes into the turn's row."""
    if before is None:
        found: tuple[bytes, int, bytes] | None = db.execute(_FIND, (session_key,)).fetchone()
        if found is None:
            found = _begin(db, session_key, claim.session_id, claim.user_id, claim.turn_no)
        before = start_digest(*found)
    return next_link(before, claim.turn_no, status, messages, commits)


def _begin(
    db: sqlite3.Connection, key: int, session_id: str, user_id: str, first: int
) -> tuple[bytes, int, bytes]:
    chain = new_chain(session_id, user_id, first)
    db.execute(_ADD_CHAIN, (chain.chain_id, key, first, chain.owner, chain.salt))
    return chain.chain_id, first, chain.owner


def begin_chains(db: sqlite3.Connection) -> None:
    """Begin a chain for every conversation that has turns: behind the last that ended."""
    rows = db.execute("SELECT session_key, id, user_id, ended_no FROM session").fetchall()
    for key, session_id, user_id, ended_no in rows:
        _begin(db, key, session_id, user_id, ended_no + 1)


def forget(db: sqlite3.Connection, user_id: str) -> None:
    """Keep the links of a person's turns without salts, and erase what tells whose they are."""
    db.execute(_KEEP_LINKS, (user_id,))
    db.execute(_FORGET_CHAINS, (user_id,))


def prune(db: sqlite3.Connection, newest: Sequence[tuple[int, int]]) -> None:
    """Erase the salts of turns; by key of the conversation, those up to a number."""
    db.executemany(_PRUNE_LINKS, newest)


def mask(db: sqlite3.Connection, session_key: int, turn_no: int) -> None:
    """Erase the salt of a turn whose content was masked."""
    db.execute(_MASK_LINK, (session_key, turn_no))


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
    whose = db.execute(_WHOSE, (chain_id,)).fetchone()
    if whose is None:
        return ()
    chain_key, session_key = whose
    if session_key is None:
        rows = db.execute(_KEPT_LINKS, (chain_key, after, limit)).fetchall()
    else:
        rows = db.execute(_LINKS, (session_key, after, limit)).fetchall()
    return tuple(StoredLink(*row) for row in rows)


def moved(db: sqlite3.Connection) -> tuple[Head, ...]:
    """Where chains stand that no anchor speaks of yet. A reader looks: it goes over all chains."""
    return tuple(Head(*row) for row in sorted(db.execute(_MOVED).fetchall()))


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
