"""The audit chains of the store in memory. What a link is, is said in `audit`."""

from __future__ import annotations

from dataclasses import dataclass, field

import msgspec

from saywhy.clock import Clock
from saywhy.stores.audit import (
    Erased,
    Head,
    StoredAnchor,
    StoredChain,
    StoredLink,
    anchor_digest,
    new_chain,
    next_link,
    packed_heads,
    start_digest,
)


@dataclass(slots=True)
class _Chain:
    about: StoredChain
    links: list[StoredLink] = field(default_factory=list[StoredLink])
    anchored: int = 0
    """The last turn that an anchor speaks of."""

    @property
    def head(self) -> bytes:
        if self.links:
            return self.links[-1].digest
        return start_digest(self.about.chain_id, self.about.first, self.about.owner)

    def stored(self) -> StoredChain:
        last = self.links[-1].turn_no if self.links else self.about.first - 1
        return msgspec.structs.replace(self.about, turns=last)

    def erase(self, why: Erased, until: int | None = None, since: int = 0) -> None:
        self.links = [
            link
            if link.salt is None
            or link.turn_no < since
            or (until is not None and link.turn_no > until)
            else msgspec.structs.replace(link, salt=None, erased=why)
            for link in self.links
        ]


class MemoryChains:
    """The chains of all conversations, and the anchors over them."""

    def __init__(self) -> None:
        self._chains: dict[bytes, _Chain] = {}
        self._of: dict[str, _Chain] = {}
        self._anchors: list[StoredAnchor] = []

    def link(
        self,
        session: tuple[str, str],
        turn_no: int,
        status: str,
        messages: list[tuple[int, bytes]],
        commits: list[tuple[int, bytes]],
    ) -> None:
        """Add the link of a turn that ends now; `session` are the ids of conversation and user."""
        chain = self._of.get(session[0])
        if chain is None:
            chain = self._of[session[0]] = _Chain(new_chain(*session, turn_no))
            self._chains[chain.about.chain_id] = chain
        chain.links.append(next_link(chain.head, turn_no, status, messages, commits))

    def forget(self, session_id: str) -> None:
        """Erase what tells whose chain it is, and the salts of its turns."""
        chain = self._of.pop(session_id, None)
        if chain is not None:
            chain.erase("forgotten")
            chain.about = msgspec.structs.replace(
                chain.about, salt=None, session_id=None, user_id=None
            )

    def prune(self, session_id: str, until: int) -> None:
        """Erase the salts of the turns up to one."""
        chain = self._of.get(session_id)
        if chain is not None:
            chain.erase("pruned", until)

    def mask(self, session_id: str, turn_no: int) -> None:
        """Erase the salt of a turn whose content was masked."""
        chain = self._of.get(session_id)
        if chain is not None:
            chain.erase("masked", turn_no, turn_no)

    def chains(
        self, session_id: str | None, user_id: str | None, after: bytes, limit: int
    ) -> tuple[StoredChain, ...]:
        found = (chain.stored() for _, chain in sorted(self._chains.items()))
        wanted = [
            chain
            for chain in found
            if chain.chain_id > after
            and session_id in (None, chain.session_id)
            and user_id in (None, chain.user_id)
        ]
        return tuple(wanted[:limit])

    def links(self, chain_id: bytes, after: int, limit: int) -> tuple[StoredLink, ...]:
        chain = self._chains.get(chain_id)
        if chain is None:
            return ()
        return tuple(link for link in chain.links if link.turn_no > after)[:limit]

    def anchor(self, now: float) -> StoredAnchor:
        moved = [
            chain
            for chain in self._chains.values()
            if chain.links and chain.links[-1].turn_no > chain.anchored
        ]
        if self._anchors and not moved:
            return self._anchors[-1]
        heads = sorted(
            (
                Head(chain.about.chain_id, chain.links[-1].turn_no, chain.links[-1].digest)
                for chain in moved
            ),
            key=lambda head: head.chain_id,
        )
        before = self._anchors[-1].digest if self._anchors else b""
        number, at = len(self._anchors) + 1, int(now)
        digest = anchor_digest(before, number, at, packed_heads(heads))
        self._anchors.append(StoredAnchor(number, at, digest, tuple(heads)))
        for chain in moved:
            chain.anchored = chain.links[-1].turn_no
        return self._anchors[-1]

    def anchors(self, after: int, limit: int) -> tuple[StoredAnchor, ...]:
        return tuple(self._anchors[max(after, 0) :][:limit])


class AuditedMemory:
    """The part of the store in memory that tells of its chains."""

    _clock: Clock
    _chains: MemoryChains

    async def chains(
        self,
        *,
        session_id: str | None = None,
        user_id: str | None = None,
        after: bytes = b"",
        limit: int = 100,
    ) -> tuple[StoredChain, ...]:
        return self._chains.chains(session_id, user_id, after, limit)

    async def links(
        self, chain_id: bytes, *, after: int = 0, limit: int = 100
    ) -> tuple[StoredLink, ...]:
        return self._chains.links(chain_id, after, limit)

    async def anchor(self) -> StoredAnchor:
        return self._chains.anchor(self._clock.now())

    async def anchors(self, *, after: int = 0, limit: int = 100) -> tuple[StoredAnchor, ...]:
        return self._chains.anchors(after, limit)
