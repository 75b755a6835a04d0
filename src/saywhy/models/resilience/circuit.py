"""When somebody who keeps failing is left alone, and when tried again. Time is handed in.

Closed: calls go through, and failures in a row are counted. Open: none do. Half open, once the time
is up: one at a time goes through as a probe; if it succeeds the circuit is closed, if it fails the
time begins again. A probe may end without anybody being told, as a run does that rests at a
question and never goes on: with `probe_lost_after_ms` it then counts for nothing.
"""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

CircuitState: TypeAlias = Literal["closed", "open", "half_open"]


Permit: TypeAlias = int
"""One call that may go through. Its end counts only for the state in which it began."""


class Circuit:
    """Opens after `threshold` failures in a row, for `reset_after_ms`."""

    def __init__(
        self, threshold: int, reset_after_ms: float, probe_lost_after_ms: float | None = None
    ) -> None:
        self.threshold: Final = threshold
        self.reset_after_ms: Final = reset_after_ms
        self.probe_lost_after_ms: Final = probe_lost_after_ms
        self._failures = 0
        self._opened_at: float | None = None
        self._probing_since: float | None = None
        self._age = 0

    def state(self, now: float) -> CircuitState:
        """What it is at this moment."""
        if self._opened_at is None:
            return "closed"
        return "open" if self.left_ms(now) > 0 else "half_open"

    def left_ms(self, now: float) -> float:
        """Milliseconds until somebody may try; 0 where it is not open."""
        if self._opened_at is None:
            return 0.0
        return max(0.0, self._opened_at + self.reset_after_ms - now)

    def enter(self, now: float) -> Permit | None:
        """Let a call through, or None. Who gets a permit brings it back with `leave`."""
        if self._opened_at is not None:
            if self._is_probed(now) or self.left_ms(now) > 0:
                return None
            self._probing_since = now
        return self._age

    def _is_probed(self, now: float) -> bool:
        since, lost = self._probing_since, self.probe_lost_after_ms
        return since is not None and (lost is None or now < since + lost)

    def leave(self, permit: Permit, works: bool | None, now: float) -> None:
        """A call has ended; None: it tells nothing, as one that was cancelled."""
        if permit != self._age:
            return  # it began before the circuit was opened, or closed again
        if self._opened_at is not None:
            self._probing_since = None
            if works is not None:
                self._turn(None if works else now)
        elif works:
            self._failures = 0
        elif works is False:
            self._failures += 1
            if self._failures >= self.threshold:
                self._turn(now)

    def _turn(self, opened_at: float | None) -> None:
        self._opened_at = opened_at
        self._probing_since = None
        self._failures = 0
        self._age += 1
