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
RECOVERY: Final = 0
"""Stands for the looking after what crashes left; no timer has this id."""


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
            turns = (_take(stored, one, until_ms) for one in timers)
            taken = await asyncio.gather(*turns, return_exceptions=True)
            for failed in taken:
                if isinstance(failed, BaseException):
                    raise failed
            count += sum(map(bool, taken))
        return count

    async def run_timers(self, *, every_seconds: float = 1.0) -> None:
        """Look for what has fallen due until cancelled, and for turns that a crash left behind.

        A turn that takes long holds up no other conversation. A store that fails is asked again
        the next time, and what it said is logged.
        """
        if not every_seconds >= SHORTEST_SECONDS:
            raise CallerError(
                f"every_seconds is {every_seconds!r}", hint=f"at least {SHORTEST_SECONDS:g}"
            )
        watch = _Watch(self._stored, self._machinery)
        try:
            while True:
                await watch.look()
                await self._machinery.clock.sleep(every_seconds)
        finally:
            await watch.stop()


class _Watch:
    """What a loop that looks at the clock has running, by what it is about."""

    def __init__(self, stored: Conversations, machinery: Machinery) -> None:
        self._stored = stored
        self._machinery = machinery
        self._running: dict[int, asyncio.Task[object]] = {}
        self._recovered = float("-inf")

    async def look(self) -> None:
        """Begin what is to be done by now and has not begun."""
        self._forget_done()
        stored, now = self._stored, self._machinery.clock.now()
        if RECOVERY not in self._running and now - self._recovered >= stored.lease_seconds * 1000:
            self._recovered = now
            self._running[RECOVERY] = asyncio.create_task(stored.recover())
        try:
            due = await stored.store.due(AT_ONCE, until_ms=now, mode=stored.persistence.mode)
        except SaywhyError as error:
            self._tell(error)
            return
        for timer in due:
            if len(self._running) <= AT_ONCE and timer.timer_id not in self._running:
                turn = asyncio.create_task(_take(stored, timer, now))
                self._running[timer.timer_id] = turn

    def _forget_done(self) -> None:
        for name, task in list(self._running.items()):
            if task.done():
                del self._running[name]
                error = task.exception()
                if isinstance(error, SaywhyError):
                    self._tell(error)
                elif error is not None:
                    raise error

    def _tell(self, error: SaywhyError) -> None:
        self._machinery.error(f"what is due stays for later: {error}")

    async def stop(self) -> None:
        """Leave what runs to whoever looks next."""
        for task in self._running.values():
            task.cancel()
        await asyncio.gather(*self._running.values(), return_exceptions=True)


async def _take(stored: Conversations, timer: StoredTimer, now: float) -> bool:
    """Make one timer a turn and see it through; False where another worker was first."""
    told: dict[str, Any] = loads_raw(timer.payload)
    entry = Entry("", TIMER, timer={"id": told["id"], "at": now})
    was_first = await stored.take_due(timer, entry, f"{SIGN} {told['id']}")
    # A turn that ended well has put others in its place; one that failed has not.
    await stored.store.take_timer(timer.timer_id)
    return was_first


__all__ = ["Timing"]
