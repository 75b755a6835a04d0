"""What falls due in stored conversations: found, and taken as turns of their own.

A moment that has come is accepted under an id of its own, so it becomes one turn whoever finds it,
and however many do. Where a message was accepted first, the turn finds nothing to do. What happens
then in a flow is `flows.due`'s and `flows.silence`'s.
"""

from __future__ import annotations

import asyncio
from typing import Any, Final

from saywhy.errors import CallerError, SaywhyError
from saywhy.runtime.conversations import Conversations
from saywhy.runtime.entry import TIMER, Entry
from saywhy.runtime.machinery import Machinery
from saywhy.stores.timers import StoredTimer
from saywhy.values import loads_raw

SIGN: Final = "(due)"
AT_ONCE: Final = 16
"""Timers taken at the same time: one turn that takes long must not hold up all others."""
SHORTEST_SECONDS: Final = 0.01


class Timing:
    """The part of an engine that looks at the clock."""

    _machinery: Machinery

    @property
    def _stored(self) -> Conversations:
        raise NotImplementedError

    async def run_due(self, now: float | None = None, *, session_id: str | None = None) -> int:
        """Take what has fallen due in one stored conversation or in all; gives how many turns.

        `now` is in milliseconds since 1970, by the engine's clock unless given. What is said goes
        to the store's outbox. Of several workers that call this one takes each turn.
        """
        stored = self._stored
        until_ms = self._machinery.clock.now() if now is None else now
        count = 0
        while timers := await stored.store.due(
            AT_ONCE, session_id=session_id, until_ms=until_ms, mode=stored.persistence.mode
        ):
            taken = await asyncio.gather(*(_take(stored, one, until_ms) for one in timers))
            count += sum(taken)
        return count

    async def run_timers(self, *, every_seconds: float = 1.0) -> None:
        """Look for what has fallen due until cancelled, and for turns that a crash left behind.

        A store that fails is asked again the next time, and what it said is logged.
        """
        if not every_seconds >= SHORTEST_SECONDS:
            raise CallerError(
                f"every_seconds is {every_seconds!r}", hint=f"at least {SHORTEST_SECONDS:g}"
            )
        stored, clock = self._stored, self._machinery.clock
        recovered = float("-inf")
        while True:
            try:
                if clock.now() - recovered >= stored.lease_seconds * 1000:
                    recovered = clock.now()
                    await stored.recover()
                await self.run_due()
            except SaywhyError as error:
                self._machinery.error(f"what is due stays for later: {error}")
            await clock.sleep(every_seconds)


async def _take(stored: Conversations, timer: StoredTimer, now: float) -> bool:
    """Make one timer a turn and see it through; False where another worker was first."""
    told: dict[str, Any] = loads_raw(timer.payload)
    entry = Entry("", TIMER, timer={"id": told["id"], "at": now})
    was_first = await stored.take_due(timer, entry, f"{SIGN} {told['id']}")
    # A turn that ended well has put others in its place; one that failed has not.
    await stored.store.take_timer(timer.timer_id)
    return was_first


__all__ = ["Timing"]
