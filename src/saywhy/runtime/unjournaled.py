"""A turn whose calls are not journaled: what keeps it from acting twice all the same.

The session alone knows what was done, and it is stored when the turn ends. So a turn that began to
act is seen through to that end, also when whoever waits for it has left. Against a crash in
between nothing helps: the turn runs again from its message, under the same keys.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

from saywhy.runtime.journal import StoreJournal

if TYPE_CHECKING:
    from saywhy.chart.outcome import Need
    from saywhy.runtime.turn import TurnRun

T = TypeVar("T")


class SessionJournal(StoreJournal):
    """No rows of calls; the claim is renewed and given back as with a journal."""

    acted = False
    """Whether a call was begun."""

    async def around(
        self, run: TurnRun, need: Need, seq: int, key: str, call: Callable[[], Awaitable[Any]]
    ) -> Any:
        """Make the call."""
        self.acted = True
        return await self._held(call())

    def found_out(self, answer: Any) -> None:
        """Nothing is on record that it could be noted beside."""


async def seen_through(work: Coroutine[Any, Any, T], journal: SessionJournal) -> T:
    """What `work` gives. Cancelled before it acted it stops at once, afterwards at its end."""
    task = asyncio.create_task(work)
    cancelled = False
    while not task.done():
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError:
            cancelled = True
            if not journal.acted:
                task.cancel()
    if not cancelled:
        return task.result()
    if not task.cancelled():
        with suppress(BaseException):  # its error is stored with the turn; nobody waits for it
            task.result()
    raise asyncio.CancelledError
