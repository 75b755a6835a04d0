"""Promise: a provider that keeps failing is left alone, then tried by one call at a time."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from saywhy.errors import CircuitOpen, ModelError
from saywhy.models.provider import TextPiece
from saywhy.models.resilience.circuit_breaker import CircuitBreaker, with_circuit_breaker
from saywhy.testing.clock import FakeClock
from tests.models.resilience.steps import (
    GOOD,
    STREAMED,
    Steps,
    cancelled_everywhere,
    taken,
    taken_until_error,
    text_of,
)

DOWN = ModelError("down", code="server")
OPEN = "CircuitOpen: Circuit breaker is open"


def a_breaker(*scripts: Any, threshold: int = 2) -> tuple[CircuitBreaker, Steps]:
    clock = FakeClock(auto=False)
    steps = Steps(*scripts, clock=clock)
    return with_circuit_breaker(steps, threshold, 30_000, clock=clock), steps


def errors(breaker: CircuitBreaker, times: int) -> list[str]:
    return [asyncio.run(taken_until_error(breaker))[1] for _ in range(times)]


def test_it_opens_and_closes() -> None:
    """Nobody is asked while it is open; a success afterwards closes it."""
    breaker, steps = a_breaker([DOWN], [DOWN], GOOD)
    assert errors(breaker, 4) == ["ModelError: down", "ModelError: down", OPEN, OPEN]
    assert (breaker.state, len(steps.asked)) == ("open", 2)
    steps.clock.advance(29.999)
    with pytest.raises(CircuitOpen) as error:
        asyncio.run(taken(breaker))
    assert error.value.retry_after == pytest.approx(0.001)
    steps.clock.advance(0.001)
    assert breaker.state == "half_open"
    assert text_of(asyncio.run(taken(breaker))) == "hello"
    assert breaker.state == "closed"


def test_a_probe_that_fails_opens_it_anew() -> None:
    """For the whole time again."""
    breaker, steps = a_breaker([DOWN])
    errors(breaker, 2)
    steps.clock.advance(30)
    assert errors(breaker, 2) == ["ModelError: down", OPEN]
    steps.clock.advance(29)
    assert errors(breaker, 1) == [OPEN]


@pytest.mark.parametrize("script", [[TextPiece("he")], [TextPiece("he"), ConnectionError("gone")]])
def test_half_an_answer_is_a_failure(script: Any) -> None:
    """Whether it says so or only ends."""
    breaker, _ = a_breaker(script)
    errors(breaker, 2)
    assert breaker.state == "open"


@pytest.mark.parametrize("code", ["invalid_request", "context_length", "aborted"])
def test_an_error_about_the_ask_tells_nothing(code: Any) -> None:
    """Who refuses a wrong request works."""
    breaker, steps = a_breaker([DOWN], *[[ModelError("no", code=code)]] * 3, [DOWN], GOOD)
    errors(breaker, 4)
    assert breaker.state == "closed"
    errors(breaker, 1)
    assert breaker.state == "open"  # it is no success either
    assert len(steps.asked) == 5


def test_who_has_read_the_end_may_stop_reading() -> None:
    """An answer was whole once its end was given."""
    breaker, steps = a_breaker([DOWN], GOOD)
    errors(breaker, 1)
    steps.clock.advance(1)

    async def until_the_end() -> None:
        stream = breaker.ask(STREAMED)
        async for piece in stream:
            if piece == GOOD[-1]:
                break
        await stream.aclose()

    asyncio.run(until_the_end())
    steps.scripts = [[DOWN]]
    errors(breaker, 1)
    assert breaker.state == "closed"


def test_one_probe_however_many_come() -> None:
    """Twenty at once: one is let through, the others are refused at once."""
    breaker, steps = a_breaker([DOWN])
    errors(breaker, 2)
    steps.clock.advance(30)

    async def run() -> list[str]:
        gate = asyncio.Event()
        steps.scripts = [[gate, *GOOD]]
        asks = [asyncio.create_task(taken_until_error(breaker)) for _ in range(20)]
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert steps.open == 1
        assert sum(ask.done() for ask in asks) == 19
        gate.set()
        return [error for _, error in await asyncio.gather(*asks)]

    assert sorted(asyncio.run(run())) == ["", *[OPEN] * 19]
    assert (len(steps.asked), breaker.state) == (3, "closed")


def test_a_cancelled_probe_makes_room_for_the_next() -> None:
    """It tells nothing; nothing hangs on it."""
    breaker, steps = a_breaker([DOWN])
    errors(breaker, 2)
    steps.clock.advance(30)
    steps.scripts = [[0.1, *GOOD]]

    async def ask() -> None:
        await taken_until_error(breaker)

    def after() -> None:
        assert steps.open == 0
        assert breaker.state in {"half_open", "closed"}

    assert asyncio.run(cancelled_everywhere(ask, after, steps.clock)) > 2
    assert breaker.state == "closed"
