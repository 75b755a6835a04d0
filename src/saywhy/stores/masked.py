"""Masking rows that a store has kept already: what a conversation finds out to be sensitive later.

Whoever runs the turn that finds it out hands in the rows as they may be kept. The digest of such a
turn in the audit chain was made of what stood there, so its salt is erased with that: the chain
holds, and that the turn was masked afterwards stays to be seen. Which rows, and how they look
masked, is answered by `runtime.late`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import msgspec

from saywhy.stores.memory_audit import MemoryChains
from saywhy.stores.memory_session import MemorySession
from saywhy.stores.store import Claim, Rows


class MaskedTurn(msgspec.Struct, frozen=True):
    """Rows of an earlier turn that take the place of those of the same numbers."""

    turn_no: int
    messages: Rows = ()
    commits: Rows = ()


@runtime_checkable
class Maskable(Protocol):
    """A store whose rows can be masked afterwards."""

    async def mask_turns(self, claim: Claim, turns: Sequence[MaskedTurn]) -> None:
        """Put masked rows in place of those of ended turns, and of what this one has written.

        Rows that are not there are passed over. Links of ended turns lose their salts. Raises
        `Fenced` when the claim is over; nothing is changed then.
        """
        ...


class MaskedMemory:
    """The part of the store in memory that masks what it has kept."""

    _chains: MemoryChains

    def _held(self, claim: Claim) -> MemorySession:
        raise NotImplementedError

    async def mask_turns(self, claim: Claim, turns: Sequence[MaskedTurn]) -> None:
        """Put masked rows in place of those of ended turns, and of what this one has written.

        Their links lose their salts. Raises `Fenced` when the claim is over.
        """
        session = self._held(claim)
        for masked in turns:
            turn = session.turns.get(masked.turn_no)
            if turn is None or masked.turn_no > claim.turn_no:
                continue
            for seq, doc in masked.messages:
                kept = session.messages.get(seq)
                if kept is not None and kept.turn_no == masked.turn_no:
                    session.messages[seq] = msgspec.structs.replace(kept, doc=doc)
            turn.commits |= {seq: doc for seq, doc in masked.commits if seq in turn.commits}
            self._chains.mask(claim.session_id, masked.turn_no)


__all__ = ["Maskable", "MaskedMemory", "MaskedTurn"]
