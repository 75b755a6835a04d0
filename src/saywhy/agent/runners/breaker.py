"""When a runner that keeps failing is left alone, and when tried again. Time is handed in.

Like the circuit of the models' wrappers, but for calls that may end without anybody being told: a
run that rests at a question and never goes on. So a trial counts for lost after a while.
"""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

BreakerState: TypeAlias = Literal["closed", "open", "half_open"]


class Breaker:
    """Opens after `threshold` failures in a row, for `reset_after_ms`; then one trial at a time."""

    def __init__(self, threshold: int, reset_after_ms: float) -> None:
        self.threshold: Final = threshold
        self.reset_after_ms: Final = reset_after_ms
        self._failures = 0
        self._opened_at: float | None = None
        self._trial_at: float | None = None
        self._age = 0

    def state(self, now: float) -> BreakerState:
        """What it is at this moment."""
        if self._opened_at is None:
            return "closed"
        return "open" if self.left_ms(now) > 0 else "half_open"

    def left_ms(self, now: float) -> float:
        """Milliseconds until somebody may try; 0 where it is not open."""
        if self._opened_at is None:
            return 0.0
        return max(0.0, self._opened_at + self.reset_after_ms - now)

    def enter(self, now: float) -> int | None:
        """Let a call through: what to hand in with its end. None: it is not let through."""
        if self._opened_at is not None:
            trying = self._trial_at is not None and now < self._trial_at + self.reset_after_ms
            if self.left_ms(now) > 0 or trying:
                return None
            self._trial_at = now
        return self._age

    def leave(self, permit: int, now: float, *, works: bool) -> None:
        """A call has ended. One that began before the last turn of the state tells nothing."""
        if permit != self._age:
            return
        if self._opened_at is not None:
            self._turn(None if works else now)
        elif works:
            self._failures = 0
        else:
            self._failures += 1
            if self._failures >= self.threshold:
                self._turn(now)

    def forget(self, permit: int) -> None:
        """A call has ended that tells nothing, as one that was cancelled."""
        if permit == self._age:
            self._trial_at = None

    def _turn(self, opened_at: float | None) -> None:
        self._opened_at = opened_at
        self._trial_at = None
        self._failures = 0
        self._age += 1
