"""How those who wait for work or for a reply are told, inside one process, to look again.

A bell rung while nobody listens is remembered once, so that what happens between a vain look and
the wait is not slept through. Other processes are not reached: waiting has an end.
"""

from __future__ import annotations

import asyncio
import threading
from contextlib import suppress


class Bell:
    """Wakes everyone who waits; may be rung from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._rung = False
        self._waiting: set[asyncio.Future[None]] = set()

    def ring(self) -> None:
        with self._lock:
            waiting, self._waiting = self._waiting, set()
            self._rung = not waiting
        for future in waiting:
            with suppress(RuntimeError):  # that loop is closed: nobody waits there any more
                future.get_loop().call_soon_threadsafe(_wake, future)

    async def wait(self, timeout_seconds: float) -> None:
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        with self._lock:
            if self._rung:
                self._rung = False
                return
            self._waiting.add(future)
        try:
            await asyncio.wait((future,), timeout=timeout_seconds)
        finally:
            with self._lock:
                self._waiting.discard(future)


def _wake(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)
