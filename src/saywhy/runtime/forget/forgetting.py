"""The part of an engine that forgets people: what is in its store and what it holds in memory."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from saywhy.errors import CallerError
from saywhy.expr.ready import forget_everywhere

if TYPE_CHECKING:
    from saywhy.runtime.forget.erase import Forgotten
    from saywhy.runtime.machinery import Machinery
    from saywhy.stores.store import Store


class Forgetting:
    """Erases people from an engine."""

    _machinery: Machinery

    @property
    def store(self) -> Store | None:
        """Where conversations are kept; see `Engine.store`."""
        raise NotImplementedError

    async def forget(
        self,
        user_id: str,
        *,
        prove: bool = False,
        recordings: Sequence[str | Path] = (),
        memories: Iterable[Any] = (),
        wait_seconds: float = 10.0,
    ) -> Forgotten:
        """Erase a person from the store, from recordings and memories of agents handed over, and
        from what this engine holds; with `prove`, search for what was theirs afterwards.

        A turn of theirs that runs is waited for. Raises `SessionBusy` when it still runs after
        `wait_seconds`, and then nothing was erased.
        """
        from saywhy.runtime.forget.erase import forget

        store = self.store
        if store is None:
            raise CallerError("there is no store to erase anybody from", hint="Engine(store=…)")
        self._machinery.guards.cache.clear()
        forget_everywhere()
        return await forget(
            store,
            user_id,
            prove=prove,
            recordings=recordings,
            memories=memories,
            wait_seconds=wait_seconds,
        )
