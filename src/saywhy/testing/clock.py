"""A clock for tests: waiting takes no time, and what is waited for comes in the right order.

It jumps to the next moment somebody waits for as soon as nothing else can happen: no task is ready
to run and no function of ours runs in a thread. What the clock cannot see (sockets, threads of the
program's own) gets `patience_seconds` of real time before each jump.
"""

from __future__ import annotations

import asyncio
import heapq
import time
from collections.abc import Awaitable
from itertools import count
from typing import Any, Final, TypeVar

from saywhy.tools.threads import SHARED

T = TypeVar("T")

START_MS: Final = 1_767_225_600_000.0
"""2026-01-01 00:00 UTC."""

THREAD_PATIENCE_SECONDS: Final = 0.1
"""Real time that functions in threads get before time goes on without them."""

_POLL_SECONDS: Final = 0.0002
_QUIET_ROUNDS: Final = 2
_QUIET_ROUNDS_BLIND: Final = 100


class FakeClock:
    """Implements `saywhy.clock.Clock`. With `auto=False` time moves by `advance` alone."""

    def __init__(
        self, now: float = START_MS, *, auto: bool = True, patience_seconds: float = 0.0
    ) -> None:
        self._now = now
        self._auto = auto
        self._patience = patience_seconds
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []
        self._number = count()
        self._watched: asyncio.AbstractEventLoop | None = None

    def now(self) -> float:
        """Milliseconds since 1970, UTC."""
        return self._now

    @property
    def sleeping(self) -> int:
        """How many are waiting for a moment to come."""
        return sum(not future.done() for _, _, future in self._sleepers)

    async def sleep(self, seconds: float) -> None:
        """Come back after `seconds` of this clock's time."""
        if seconds <= 0:
            await asyncio.sleep(0)
            return
        await self._until(self._now + seconds * 1000)

    async def wait_for(self, awaitable: Awaitable[T], timeout_seconds: float | None) -> T:
        """The result of `awaitable`; raises `TimeoutError` when it takes longer. None: no limit."""
        if timeout_seconds is None:
            return await awaitable
        task = asyncio.ensure_future(awaitable)
        alarm = self._until(self._now + timeout_seconds * 1000)
        try:
            await asyncio.wait({task, alarm}, return_when=asyncio.FIRST_COMPLETED)
            if task.done():
                return task.result()
        finally:
            alarm.cancel()
            if not task.done():
                task.cancel()
                await asyncio.wait({task})
        if task.cancelled():
            raise TimeoutError
        return task.result()

    def advance(self, seconds: float) -> None:
        """Let `seconds` pass; who waited for a moment in between is woken, in order."""
        self._go_to(self._now + seconds * 1000)

    def _until(self, moment: float) -> asyncio.Future[None]:
        future = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (moment, next(self._number), future))
        self._watch()
        return future

    def _go_to(self, moment: float) -> None:
        while self._sleepers and self._sleepers[0][0] <= moment:
            due, _, future = heapq.heappop(self._sleepers)
            if not future.done():
                self._now = max(self._now, due)
                future.set_result(None)
        self._now = max(self._now, moment)

    def _next(self) -> float | None:
        """The next moment somebody waits for, forgetting those who gave up."""
        while self._sleepers and self._sleepers[0][2].done():
            heapq.heappop(self._sleepers)
        return self._sleepers[0][0] if self._sleepers else None

    # ------------------------------------------------------------------ noticing that all is idle

    def _watch(self) -> None:
        loop = asyncio.get_running_loop()
        if self._auto and self._watched is not loop:
            self._watched = loop
            loop.call_soon(self._look, loop, 0, None)

    def _look(self, loop: asyncio.AbstractEventLoop, quiet: int, since: float | None) -> None:
        """One round of the loop: jump after enough rounds in which nobody else had to run.

        Two rounds, because sockets and other threads are asked between one and the next.
        """
        moment = self._next()
        if moment is None:
            self._watched = None
            return
        ready: Any = getattr(loop, "_ready", None)
        if ready:
            quiet, since = 0, None
        elif quiet < (_QUIET_ROUNDS if ready is not None else _QUIET_ROUNDS_BLIND):
            quiet += 1
        else:
            since = time.monotonic() if since is None else since
            if time.monotonic() - since >= self._real_time_due():
                self._go_to(moment)
                quiet, since = 0, None
            else:
                time.sleep(_POLL_SECONDS)
        loop.call_soon(self._look, loop, quiet, since)

    def _real_time_due(self) -> float:
        """How long the outside must have been quiet; functions in threads are the outside too."""
        if SHARED.running:
            return max(self._patience, THREAD_PATIENCE_SECONDS)
        return self._patience
