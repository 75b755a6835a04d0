"""Time for measuring how long something takes: it never goes back.

A clock on the wall is set now and then. Were it set back by an hour, a limit would hold an hour too
long; here the time simply goes on from where it was.
"""

from __future__ import annotations

from typing import Final

from saywhy.clock import Clock, SystemClock


class SteadyTime:
    """Milliseconds of a clock, never fewer than before."""

    def __init__(self, clock: Clock | None = None) -> None:
        self.clock: Final = clock or SystemClock()
        self._last = float("-inf")
        self._lost = 0.0
        self._shown = float("-inf")

    def now(self) -> float:
        """Milliseconds since some moment."""
        now = self.clock.now()
        if now < self._last:
            self._lost += self._last - now
        self._last = now
        self._shown = max(self._shown, now + self._lost)  # adding rounds
        return self._shown
