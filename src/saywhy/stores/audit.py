"""The audit chain: what is kept of each turn so that a later change of its record is found.

When a turn ends, its messages and commits are digested under a salt of its own, and the digest is
linked to that of the turn before, in the transaction that ends it. Each conversation has its own
chain, so no turn waits for another. Where content is erased, or masked afterwards, its salt goes
with it: the digest says nothing any more, the chain still holds, and that something was erased
stays to be seen.

An **anchor** is a digest over the heads of all chains, itself linked to the anchor before. Whoever
owns the database could make chains and anchors anew; not so that they match an anchor that was
given away. What is exported and how it is compared is `saywhy.runtime.audit`'s business.
"""

from __future__ import annotations

import secrets
import struct
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from typing import Any, Final, Literal, Protocol, TypeAlias

import msgspec

SALT_BYTES: Final = 16
ID_BYTES: Final = 16
DIGEST_BYTES: Final = 32

Erased: TypeAlias = Literal["", "forgotten", "pruned", "masked"]
"""Why a turn has not the content any more that its digest was made of; empty while it has."""
RowKind: TypeAlias = Literal["message", "commit"]

# Each kind of digest has a name of its own, so that none can be shown as another.
_CONTENT: Final = b"saywhy-content-1"
_LINK: Final = b"saywhy-link-1"
_OWNER: Final = b"saywhy-owner-1"
_START: Final = b"saywhy-start-1"
_ANCHOR: Final = b"saywhy-anchor-1"

_ROW: Final = struct.Struct(">cQQ")
_TURN: Final = struct.Struct(">QIIB")
_HEAD: Final = struct.Struct(f">{ID_BYTES}sQ{DIGEST_BYTES}s")
_NUMBERS: Final = struct.Struct(">QQ")
_KINDS: Final[dict[RowKind, bytes]] = {"message": b"m", "commit": b"c"}


class StoredChain(msgspec.Struct, frozen=True):
    """The chain of one conversation. Without a conversation once that was forgotten."""

    chain_id: bytes
    """Drawn at random: it tells nothing of whose chain it is."""
    first: int
    """The first turn that has a link; what is older was recorded before there was a chain."""
    owner: bytes
    """A salted digest of the ids of conversation and user."""
    salt: bytes | None
    session_id: str | None
    user_id: str | None
    turns: int
    """The last turn that has a link; below `first` where none has."""


class StoredLink(msgspec.Struct, frozen=True):
    """The link of one turn. `salt` is None once its content was erased or masked."""

    turn_no: int
    status: str
    messages: int
    commits: int
    """Rows of commits; one may hold several."""
    salt: bytes | None
    content: bytes
    digest: bytes
    erased: Erased = ""


class Head(msgspec.Struct, frozen=True):
    """Where a chain stood: its last turn with the digest of that link."""

    chain_id: bytes
    turn_no: int
    digest: bytes


class StoredAnchor(msgspec.Struct, frozen=True):
    """A digest over the heads of all chains. `heads` are those that moved since the one before."""

    number: int
    at_ms: int
    digest: bytes
    heads: tuple[Head, ...]


class Audited(Protocol):
    """The part of a store that keeps the chain. Both grow by themselves as turns end."""

    async def chains(
        self,
        *,
        session_id: str | None = None,
        user_id: str | None = None,
        after: bytes = b"",
        limit: int = 100,
    ) -> tuple[StoredChain, ...]:
        """Chains in the order of their ids, after one; also of conversations that are forgotten."""
        ...

    async def links(
        self, chain_id: bytes, *, after: int = 0, limit: int = 100
    ) -> tuple[StoredLink, ...]:
        """Links of a chain in order, after a turn."""
        ...

    async def anchor(self) -> StoredAnchor:
        """Make an anchor over the chains as they are now.

        Gives the newest one where no chain has moved since.
        """
        ...

    async def anchors(self, *, after: int = 0, limit: int = 100) -> tuple[StoredAnchor, ...]:
        """Anchors in order, after a number."""
        ...


class Content:
    """The digest of a turn's content, row by row; messages first, each kind in its order."""

    __slots__ = ("_hash",)

    def __init__(self, salt: bytes) -> None:
        self._hash: Any = blake2b(digest_size=DIGEST_BYTES, key=salt, person=_CONTENT)

    def add(self, kind: RowKind, seq: int, doc: bytes) -> None:
        self._hash.update(_ROW.pack(_KINDS[kind], seq, len(doc)) + doc)

    def digest(self) -> bytes:
        """The digest of all rows so far."""
        return self._hash.digest()


def content_digest(
    salt: bytes, messages: Iterable[tuple[int, bytes]], commits: Iterable[tuple[int, bytes]]
) -> bytes:
    """The digest of the rows of a turn; each kind comes in its order."""
    pack = _ROW.pack
    parts: list[bytes] = []
    for seq, doc in messages:
        parts += (pack(b"m", seq, len(doc)), doc)
    for seq, doc in commits:
        parts += (pack(b"c", seq, len(doc)), doc)
    return blake2b(b"".join(parts), digest_size=DIGEST_BYTES, key=salt, person=_CONTENT).digest()


def link_digest(
    before: bytes, turn_no: int, status: str, messages: int, commits: int, content: bytes
) -> bytes:
    """The digest of a link, over that of the one before; `start_digest` before the first."""
    name = status.encode()
    fixed = _TURN.pack(turn_no, messages, commits, len(name))
    return blake2b(before + fixed + name + content, digest_size=DIGEST_BYTES, person=_LINK).digest()


def next_link(
    before: bytes,
    turn_no: int,
    status: str,
    messages: list[tuple[int, bytes]],
    commits: list[tuple[int, bytes]],
) -> StoredLink:
    """The link of a turn that ends now, under a new salt."""
    salt = secrets.token_bytes(SALT_BYTES)
    content = content_digest(salt, messages, commits)
    counts = len(messages), len(commits)
    digest = link_digest(before, turn_no, status, *counts, content)
    return StoredLink(turn_no, status, *counts, salt, content, digest)


def owner_digest(salt: bytes, session_id: str, user_id: str) -> bytes:
    """Whose chain it is, so that it cannot be told as another's; nothing once the salt is gone."""
    ids = [one.encode("utf-8", "surrogatepass") for one in (session_id, user_id)]
    text = b"".join(_NUMBERS.pack(len(one), 0) + one for one in ids)
    return blake2b(text, digest_size=DIGEST_BYTES, key=salt, person=_OWNER).digest()


def start_digest(chain_id: bytes, first: int, owner: bytes) -> bytes:
    """What stands before the first link."""
    fixed = _NUMBERS.pack(first, 0)
    return blake2b(chain_id + fixed + owner, digest_size=DIGEST_BYTES, person=_START).digest()


def new_chain(session_id: str, user_id: str, first: int) -> StoredChain:
    """A chain that begins with a turn."""
    salt = secrets.token_bytes(SALT_BYTES)
    owner = owner_digest(salt, session_id, user_id)
    chain_id = secrets.token_bytes(ID_BYTES)
    return StoredChain(chain_id, first, owner, salt, session_id, user_id, first - 1)


def packed_heads(heads: Iterable[Head]) -> bytes:
    """Heads as an anchor keeps them, in the order of their ids."""
    ordered = sorted(heads, key=lambda head: head.chain_id)
    return b"".join(_HEAD.pack(head.chain_id, head.turn_no, head.digest) for head in ordered)


def unpacked_heads(data: bytes) -> Iterator[Head]:
    """The heads in what `packed_heads` made."""
    return (Head(*fields) for fields in _HEAD.iter_unpack(data))


def anchor_digest(before: bytes, number: int, at_ms: int, heads: bytes) -> bytes:
    """The digest of an anchor, over that of the one before (empty for the first)."""
    fixed = _NUMBERS.pack(number, at_ms)
    return blake2b(before + fixed + heads, digest_size=DIGEST_BYTES, person=_ANCHOR).digest()
