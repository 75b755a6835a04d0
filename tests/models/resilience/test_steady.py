"""Promise: time measured never goes back, whatever happens to the clock on the wall."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from saywhy.models.resilience.steady import SteadyTime
from saywhy.testing.clock import FakeClock


def test_a_clock_that_is_set_back() -> None:
    """Time stands still for that moment, then goes on."""
    clock = FakeClock(10_000.0, auto=False)
    time = SteadyTime(clock)
    assert time.now() == 10_000
    clock.advance(-3.6)
    assert time.now() == 10_000
    clock.advance(2)
    assert time.now() == 12_000


class Jumping:
    """A clock that shows what it is told."""

    def __init__(self) -> None:
        self.shown = 0.0

    def now(self) -> float:
        return self.shown


@given(st.lists(st.floats(0, 1e12, allow_nan=False), min_size=2))
def test_it_never_goes_back(shown: list[float]) -> None:
    """And forward it goes as the clock does."""
    clock = Jumping()
    time = SteadyTime(clock)  # pyright: ignore[reportArgumentType] - only now() is used
    seen: list[float] = []
    for moment in shown:
        clock.shown = moment
        seen.append(time.now())
    assert seen == sorted(seen)
