"""Is a process late? A thread looks every few milliseconds, and kills the ones that are.

Whoever waits for an answer then reads the end of the pipe. So waiting is one read without a time
limit, which costs two thirds of waiting with one, and a process that takes its request too slowly
or hands out its answer byte by byte is late like any other. The thread ends when nothing was asked
for a while.
"""

from __future__ import annotations

import threading
import time
from typing import Final, Protocol

SECONDS_BETWEEN: Final = 0.05
"""Between two looks; a tenth of the deadline where that is less."""
SECONDS_IDLE: Final = 2.0


class Watched(Protocol):
    """What can be late."""

    until: float
    """When the answer must be there, by `time.monotonic`; 0 when none is wanted."""
    busy_seconds: float
    """How long it has been at work, as far as a look now and then can tell."""

    def expire(self) -> None:
        """End it, being late."""
        ...


class Watch:
    """The thread, and what it looks at."""

    def __init__(self, deadline_seconds: float) -> None:
        self.is_on = False
        """Whoever sets `until` looks at this afterwards, and calls `begin` where it is false."""
        self.watched: Final[set[Watched]] = set()
        self._pause: Final = min(SECONDS_BETWEEN, deadline_seconds / 10)
        self._lock = threading.Lock()

    def begin(self) -> None:
        """Start looking."""
        with self._lock:
            if not self.is_on:
                self.is_on = True
                threading.Thread(target=self._run, name="saywhy-watch", daemon=True).start()

    def forked(self) -> None:
        """In a copy of this program that a fork made, in which there is no such thread."""
        self.is_on = False
        self._lock = threading.Lock()

    def _run(self) -> None:
        idle_seconds = 0.0
        while idle_seconds < SECONDS_IDLE or not self._ends():
            time.sleep(self._pause)
            idle_seconds = 0.0 if self._look() else idle_seconds + self._pause

    def _look(self) -> bool:
        """Whether anything is at work. What is late is ended."""
        now = time.monotonic()
        busy = [one for one in list(self.watched) if one.until]
        for one in busy:
            one.busy_seconds += self._pause
            if 0 < one.until < now:
                one.expire()
        return bool(busy)

    def _ends(self) -> bool:
        """Whether the thread may end: nothing has been begun since it said so."""
        self.is_on = False
        if not any(one.until for one in list(self.watched)):
            return True
        with self._lock:
            if self.is_on:  # another thread has been started already
                return True
            self.is_on = True
        return False
