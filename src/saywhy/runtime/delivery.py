"""Telling those who listen, on a thread of their own: a slow one holds up no turn.

What is to be told waits in a queue. When that is full, because the listener is slower than the
turns, what comes is dropped and counted; that it happens is logged once, and so is the first error
of a listener. What is told is the business of whoever hands it in.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import Final

MAX_WAITING: Final = 10_000
"""Commits that wait to be told to one listener at most."""
IDLE_SECONDS: Final = 1.0
"""A thread with nothing to tell for so long ends; the next commit starts another."""

_LOG: Final = logging.getLogger("saywhy")


class Delivery:
    """Runs what is handed in, one after the other, on one thread. `name` is the listener's."""

    def __init__(self, name: str, limit: int = MAX_WAITING) -> None:
        self.name = name
        self.dropped = 0
        """What was handed in and never told."""
        self.failed = 0
        """What was told and raised."""
        self._limit = limit
        self._jobs: SimpleQueue[Callable[[], object]] = SimpleQueue()
        self._starting = threading.Lock()
        self._thread: threading.Thread | None = None

    def hand(self, work: Callable[[], object], *, last: bool = False) -> None:
        """Have `work` run soon. With `last`, what ends a run, there is room for as much again."""
        if self._jobs.qsize() >= (2 * self._limit if last else self._limit):
            self.dropped += 1
            if self.dropped == 1:
                _LOG.warning(
                    "%s is slower than the turns: %d steps wait to be told to it, and what comes"
                    " is dropped (engine.untold says how much)",
                    self.name,
                    self._limit,
                )
            return
        self._jobs.put(work)
        with self._starting:  # a thread that ends looks into the queue under the same lock
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._run, name=f"saywhy-tells-{self.name}", daemon=True
                )
                self._thread.start()

    def wait(self, timeout_seconds: float) -> bool:
        """Block until everything handed in so far was told; False when the time is over first."""
        told = threading.Event()
        self.hand(told.set, last=True)
        return told.wait(timeout_seconds)

    def _run(self) -> None:
        while True:
            try:
                work = self._jobs.get(timeout=IDLE_SECONDS)
            except Empty:
                with self._starting:
                    if self._jobs.empty():
                        self._thread = None
                        return
                continue
            try:
                work()
            except Exception:
                self.failed += 1
                if self.failed == 1:
                    _LOG.exception("%s raised; turns go on, and this is not said again", self.name)
