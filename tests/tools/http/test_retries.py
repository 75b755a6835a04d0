"""Promise: what may pass by itself is tried again as often as the author says, under one key."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from saywhy.testing import FakeClock, StubServer
from tests.tools.http.calls import KEY, call_once, http_tool


@pytest.mark.parametrize(
    ("first", "count"),
    [
        ({"status": 503}, 2),
        ({"status": 500}, 2),
        ({"status": 429}, 2),
        ({"drop": "before"}, 2),
        ({"delay_ms": 3000}, 2),
        ({"status": 404}, 1),
        ({"status": 400}, 1),
        ({"status": 401}, 1),
        ({"body": "no json"}, 1),
    ],
)
def test_retries(web: StubServer, bird: Any, first: dict[str, Any], count: int) -> None:
    """What may pass by itself is tried again, under the same key; a refusal is not."""
    web.on("POST", "/birds", **first).on("POST", "/birds", body={"n": 1})
    answer = bird("POST", retries=1, retryDelay=10, timeout=300)
    assert len(web.requests) == len(answer.attempts) == count
    assert {request.headers["idempotency-key"] for request in web.requests} == {KEY}
    assert (answer.value == {"n": 1}) is (count == 2)


def test_retries_have_an_end(web: StubServer, bird: Any) -> None:
    """`retries: 2` makes three attempts, each of them listed."""
    web.on("GET", "/birds", status=503)
    answer = bird(retries=2, retryDelay=0)
    assert answer.fault_message == "HTTP 503 Service Unavailable"
    assert len(web.requests) == len(answer.attempts) == 3


@pytest.mark.parametrize(
    ("headers", "more", "seconds"),
    [
        ({"retry-after": "7"}, {}, [7, 7]),
        ({}, {"retryDelay": 250}, [0.25, 0.25]),
        ({}, {}, [1, 2]),
    ],
)
def test_pauses(
    web: StubServer, headers: dict[str, str], more: dict[str, Any], seconds: list[float]
) -> None:
    """What the server asks for, what the author wrote, else longer each time."""
    web.on("GET", "/birds", status=503, headers=headers)
    clock = _Waits()
    call_once(http_tool(web.base + "/birds", retries=2, **more), clock=clock)
    assert clock.waits == seconds


class _Waits(FakeClock):
    """Notes pauses instead of making them; time limits are real."""

    def __init__(self) -> None:
        super().__init__()
        self.waits: list[float] = []

    async def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)

    async def wait_for(self, awaitable: Any, timeout_seconds: float | None) -> Any:
        async with asyncio.timeout(timeout_seconds):
            return await awaitable


def test_a_pause_that_is_too_long(web: StubServer, bird: Any) -> None:
    """A server that wants an hour is not asked again; the conversation goes on."""
    web.on("GET", "/birds", status=429, headers={"Retry-After": "3600"})
    answer = bird(retries=3)
    assert len(web.requests) == 1
    assert answer.fault_hint == "the server asks to come back in 3600 seconds"
