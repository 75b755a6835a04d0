"""How many tokens a text is taken to be, and the least that a narrative needs."""

from __future__ import annotations

from typing import Any

import pytest

from saywhy.errors import CallerError
from saywhy.trace.narrative.budget import MIN_BUDGET, estimate
from saywhy.trace.narrative.story import narrative


def test_the_estimate() -> None:
    """A token for every four bytes, begun ones counted; a lone surrogate does no harm."""
    assert [estimate(text) for text in ("", "a", "abcd", "abcde", "漢字", "\ud800")] == [
        0, 1, 1, 2, 2, 1
    ]  # fmt: skip


def test_the_least(payment: Any) -> None:
    """Below it the message says what is needed; at it there is still the newest turn."""
    with pytest.raises(
        CallerError, match=f"needs a budget of {MIN_BUDGET} tokens at least, not 49"
    ):
        narrative(payment.trace, budget=MIN_BUDGET - 1)
    told = narrative(payment.trace, budget=MIN_BUDGET)
    assert told.splitlines()[1].startswith("Turn 3")
    assert "left out)" in told


def test_details_go_first(payment: Any) -> None:
    """With less room calls, decisions and words are left, then words, then the reply alone."""
    roomy, tight, least = (narrative(payment.trace, 3, budget=some) for some in (200, 110, 50))
    assert "3.2  The answer is" in roomy
    assert "3.2  The answer is" not in tight
    assert "3.4  CASE" in tight
    assert "steps left out" in tight
    assert "3.4  CASE" not in least
    assert "Reply:" in least
