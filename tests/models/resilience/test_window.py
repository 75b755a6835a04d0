"""Promise: no window of that length ever holds more than it may."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from saywhy.models.resilience.window import Window
from tests.amount import examples


def test_calls_leave_it_in_their_time() -> None:
    """One that began at 0 counts until its length is over, and no longer."""
    window = Window(2, 1.0, None)
    window.add(0, 0)
    window.add(400, 0)
    assert window.wait_ms(400, 0) == 600
    assert window.wait_ms(999, 0) == 1
    assert window.wait_ms(1000, 0) == 0
    window.add(1000, 0)
    assert window.wait_ms(1000, 0) == 400


def test_tokens_wait_for_room() -> None:
    """Until enough have left; more than ever fit, until it is empty."""
    window = Window(9, 1.0, 100)
    window.add(0, 60)
    window.add(300, 30)
    assert window.wait_ms(300, 10) == 0
    assert window.wait_ms(300, 11) == 700
    assert window.wait_ms(300, 71) == 1000
    assert window.wait_ms(300, 500) == 1000
    assert window.wait_ms(1300, 500) == 0


def test_what_is_known_later_is_put_right() -> None:
    """It makes room, takes some, and changes nothing once the call has left."""
    window = Window(9, 1.0, 100)
    first = window.add(0, 90)
    assert window.put_right(first, 20)
    assert window.wait_ms(0, 80) == 0
    assert not window.put_right(first, 95)
    assert window.wait_ms(0, 6) == 1000
    assert window.wait_ms(1000, 100) == 0
    assert not window.put_right(first, 0)
    window.add(1000, 100)
    assert window.wait_ms(1000, 1) == 1000


@settings(max_examples=examples(150, 3000))
@given(
    requests=st.integers(1, 4),
    limit=st.integers(1, 50),
    asked=st.lists(st.tuples(st.integers(0, 500), st.integers(0, 60)), max_size=40),
)
def test_never_more_than_it_may(requests: int, limit: int, asked: list[tuple[int, int]]) -> None:
    """Whoever waits exactly as long as told finds room, and no sooner."""
    window, begun, now = Window(requests, 1.0, limit), list[tuple[float, int]](), 0.0
    for gap, tokens in asked:
        now += gap
        wait = window.wait_ms(now, tokens)
        if wait > 1:
            assert window.wait_ms(now + wait - 1, tokens) == pytest.approx(1)
        now += wait
        assert window.wait_ms(now, tokens) == 0
        window.add(now, tokens)
        begun.append((now, tokens))
        within = [(at, used) for at, used in begun if at > now - 1000]
        assert len(within) <= requests
        assert sum(used for _, used in within) <= limit or len(within) == 1
