"""Promise: the pause before another attempt is what the server asks, else the author, else 2^n."""

from __future__ import annotations

from typing import Any

import pytest

from saywhy.tools.http.pause import pause_seconds, retry_after_seconds

NOW = 1_767_225_600_000.0  # 2026-01-01 00:00:00 UTC


@pytest.mark.parametrize(
    ("number", "delay", "asked", "seconds"),
    [
        (0, None, "", 1),
        (1, None, "", 2),
        (4, None, "", 16),
        (5, None, "", 30),
        (500, None, "", 30),
        (0, 250, "", 0.25),
        (3, 0, "", 0),
        (0, 250, "7", 7),
        (0, True, "", 1),
        (0, None, "Thu, 01 Jan 2026 00:00:09 GMT", 9),
        (0, None, "Thu, 01 Jan 2025 00:00:00 GMT", 0),
        (0, 20, "soon", 0.02),
    ],
)
def test_pause(number: int, delay: Any, asked: str, seconds: float) -> None:
    """Of the retry with this number."""
    assert pause_seconds(number, delay, asked, NOW) == seconds


@pytest.mark.parametrize("text", ["", "-1", "1.5", "x", "٣", "Thu, 99 Jan 2026 00:00:00 GMT"])
def test_what_says_nothing(text: str) -> None:
    """A header that cannot be read asks for nothing."""
    assert retry_after_seconds(text, NOW) is None
