"""What an engine's store can prove: bundles, checks, anchors; `engine.audit` is one of these."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from saywhy.runtime.audit.report import Report
    from saywhy.stores.audit import StoredAnchor
    from saywhy.stores.store import Store


@dataclass(frozen=True, slots=True)
class Audit:
    """The record of a store, handed out and checked. Nothing is changed but by `anchor`."""

    store: Store

    def lines(
        self, *, session_id: str | None = None, user_id: str | None = None
    ) -> AsyncGenerator[bytes, None]:
        """The lines of a bundle: of one conversation, of a person's, or of everything."""
        from saywhy.runtime.audit.export import bundle

        return bundle(self.store, session_id=session_id, user_id=user_id)

    async def export(
        self, path: str | Path, *, session_id: str | None = None, user_id: str | None = None
    ) -> str:
        """Write a bundle to a file; gives its seal: who has it knows any other bundle from it.

        Raises `UnknownSession` and, for a user without conversations, `CallerError`.
        """
        from saywhy.runtime.audit.export import write_bundle

        return await write_bundle(self.store, path, session_id=session_id, user_id=user_id)

    async def verify(self, known: Iterable[str] = ()) -> Report:
        """Check the store against its chains; `known` are digests given away earlier."""
        from saywhy.runtime.audit.check import verify_store

        return await verify_store(self.store, known)

    async def anchor(self) -> StoredAnchor:
        """A digest over all chains as they are now, to be given away."""
        return await self.store.anchor()
