"""Promise: what happens after a failure follows from the author's words, then from caution."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from saywhy.tools.retry import Strategy, decide, delay, error_text, status_in

CASES: list[dict[str, Any]] = json.loads(
    (Path(__file__).parent.parent / "cases" / "tools" / "retry.json").read_text(encoding="utf-8")
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["about"])
def test_decision(case: dict[str, Any]) -> None:
    """Each case of `retry.json` is decided as it says."""
    decision = decide(**case["given"])
    assert {key: getattr(decision, key) for key in case["gives"]} == case["gives"]


@pytest.mark.parametrize(
    ("strategy", "waits"),
    [
        ("immediate", [500, 500, 500]),
        ("linear", [500, 1000, 1500]),
        ("exponential", [1500, 2500, 4500]),
    ],
)
def test_waits(strategy: Strategy, waits: list[float]) -> None:
    """The wait before each retry, with a `retryDelay` of half a second."""
    assert [delay(strategy, 500, attempt) for attempt in range(3)] == waits


def test_the_doubling_wait_is_capped() -> None:
    """No retry waits longer than half a minute on top of `retryDelay`."""
    assert [delay("exponential", 0, attempt) for attempt in (4, 5, 1000)] == [
        16_000,
        30_000,
        30_000,
    ]


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ("engine stalled", "engine stalled"),
        ("Failed to reach the bank", "Failed to reach the bank"),
        ("Step s2: Failed to run: Failed to pay: no funds", "Failed to pay: no funds"),
        ("it failed before", "it failed before"),
        ("", ""),
    ],
)
def test_error_text(message: str, text: str) -> None:
    """A step's variable holds the last "Failed …", else the whole message."""
    assert error_text(message) == text


@pytest.mark.parametrize(
    ("message", "status"),
    [
        ("HTTP 404 Not Found: gone", 404),
        ("HTTP/1.1 503", 503),
        ("status code 502", 502),
        ("Status: 500", 500),
        ("upstream said 504 Gateway Timeout", 504),
        ("error 408", 408),
        ("order 404 was not found", None),
        ("HTTP 5031", None),
        ("paid 500", None),
    ],
)
def test_status_in_a_message(message: str, status: int | None) -> None:
    """A status is found where the message calls it one."""
    assert status_in(message) == status


def test_no_pattern_takes_long() -> None:
    """Patterns made to keep a search busy for years give up within a moment."""
    conditions = [
        {"errorPattern": pattern, "action": "skip"}
        for pattern in ("(a+)+$", r"(a|a)*\1b", r"(?=(a+))\1b", "(x+x+)+y")
    ]
    began = time.monotonic()
    assert decide("a" * 1_900 + "!", conditions=conditions).action == "give_up"
    assert time.monotonic() - began < 2
