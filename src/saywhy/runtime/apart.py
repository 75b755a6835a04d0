"""Runs what may wait for another process apart from the event loop, in threads.

Used where expressions are isolated: evaluating one means waiting for a process, and a conversation
that does so must not hold up the others. The work itself is as it is on the loop: nothing else runs
in the same conversation meanwhile, and it is done to its end even when the turn is cancelled, so a
cancelled turn leaves the same things as without threads.
"""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar

T = TypeVar("T")

THREADS: Final = 32
"""Conversations that evaluate or wait for a free process at the same time."""


class Apart:
    """Threads of its own: those of the event loop may be busy with the host's work."""

    def __init__(self, threads: int = THREADS) -> None:
        self._threads: Final = threads
        self._executor: ThreadPoolExecutor | None = None

    async def run(self, work: Callable[[], T]) -> T:
        """What `work` gives. When this is cancelled, the work is waited for all the same."""
        if self._executor is None:
            self._executor = ThreadPoolExecutor(self._threads, "saywhy-turn")
        call = contextvars.copy_context().run
        future = asyncio.get_running_loop().run_in_executor(self._executor, call, work)
        try:
            return await asyncio.shield(future)
        except asyncio.CancelledError:
            await _over(future)
            raise

    def close(self) -> None:
        """End the threads when they are done. Later work starts new ones."""
        executor, self._executor = self._executor, None
        if executor is not None:
            executor.shutdown(wait=False)


async def _over(future: asyncio.Future[T]) -> None:
    """Wait for the end of what cannot be stopped, however often this is cancelled."""
    while not future.done():
        try:
            await asyncio.wait([future])
        except asyncio.CancelledError:
            continue
    if not future.cancelled():
        future.exception()  # looked at: nobody else will, and asyncio would complain
