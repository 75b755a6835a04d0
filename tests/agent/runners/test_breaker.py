"""Promise: who fails too often is left alone for a while, then tried once at a time."""

from __future__ import annotations

from saywhy.agent.runners.breaker import Breaker


def failed(breaker: Breaker, now: float) -> None:
    permit = breaker.enter(now)
    assert permit is not None
    breaker.leave(permit, now, works=False)


def test_failures_in_a_row_open_it() -> None:
    """A success in between begins the count anew."""
    breaker = Breaker(2, 1000)
    failed(breaker, 0)
    permit = breaker.enter(1)
    assert permit is not None
    breaker.leave(permit, 1, works=True)
    failed(breaker, 2)
    assert breaker.state(2) == "closed"
    failed(breaker, 3)
    assert breaker.state(3) == "open"
    assert breaker.enter(500) is None
    assert breaker.left_ms(503) == 500


def test_half_open_lets_one_through() -> None:
    """A success closes it, a failure opens it for as long again."""
    breaker = Breaker(1, 1000)
    failed(breaker, 0)
    assert breaker.state(1000) == "half_open"
    trial = breaker.enter(1000)
    assert trial is not None
    assert breaker.enter(1001) is None
    breaker.leave(trial, 1002, works=False)
    assert breaker.state(1500) == "open"
    again = breaker.enter(2002)
    assert again is not None
    breaker.leave(again, 2003, works=True)
    assert breaker.state(2003) == "closed"


def test_a_trial_that_never_ends_counts_for_lost() -> None:
    """A run that rests for ever does not keep all others out."""
    breaker = Breaker(1, 1000)
    failed(breaker, 0)
    assert breaker.enter(1000) is not None
    assert breaker.enter(1999) is None
    assert breaker.enter(2000) is not None


def test_a_trial_that_tells_nothing_makes_room() -> None:
    """Whoever was cancelled has neither failed nor succeeded."""
    breaker = Breaker(1, 1000)
    failed(breaker, 0)
    trial = breaker.enter(1000)
    assert trial is not None
    breaker.forget(trial)
    assert breaker.state(1000) == "half_open"
    assert breaker.enter(1000) is not None


def test_a_call_of_before_tells_nothing() -> None:
    """One that began before it was opened neither closes nor opens it."""
    breaker = Breaker(1, 1000)
    early = breaker.enter(0)
    assert early is not None
    failed(breaker, 1)
    breaker.leave(early, 2, works=True)
    assert breaker.state(2) == "open"
