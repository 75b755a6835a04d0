"""Promise: what takes too long is cut off and says so; nothing is left of it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from saywhy.clock import SystemClock
from saywhy.errors import ModelError
from saywhy.models.provider import Ask, ModelReply, TextPiece
from saywhy.models.resilience.timeout import with_timeout
from saywhy.testing.clock import FakeClock
from tests.models.resilience.steps import (
    GOOD,
    HI,
    STOP,
    STREAMED,
    Steps,
    cancelled_everywhere,
    taken,
    taken_until_error,
    text_of,
)

HANG = 1e6


def ended(*script: Any, ask: Ask = STREAMED, **options: Any) -> tuple[str, str, float]:
    """The text that came, the error, and the seconds it took."""
    steps = Steps(script)
    began = steps.clock.now()
    made = with_timeout(steps, options.pop("seconds", 30), **options, clock=steps.clock)
    pieces, error = asyncio.run(taken_until_error(made, ask))
    assert steps.open == 0
    return text_of(pieces), error, (steps.clock.now() - began) / 1000


def test_what_comes_in_time() -> None:
    """It is passed on as it is."""
    assert ended(5, *GOOD[:1], 5, *GOOD[1:]) == ("hello", "", 10)


def test_no_answer() -> None:
    """After so many seconds there is an error that may pass."""
    assert ended(HANG) == ("", "ModelError: the model did not answer within 30 seconds", 30)


def test_half_a_stream_and_then_nothing() -> None:
    """What came was given; then the time for the whole is up."""
    assert ended(10, TextPiece("he"), HANG) == (
        "he",
        "ModelError: the answer of the model was not complete within 30 seconds",
        30,
    )


def test_the_first_piece_has_its_own_time() -> None:
    """In a stream somebody looks at."""
    why = "ModelError: the model did not begin to answer within 4 seconds"
    assert ended(HANG, first_piece_seconds=4) == ("", why, 4)
    assert ended(3, *GOOD, first_piece_seconds=4) == ("hello", "", 3)
    assert ended(3, TextPiece("a"), 20, STOP, first_piece_seconds=4) == ("a", "", 23)


def test_from_piece_to_piece() -> None:
    """A long answer that flows goes on, one that falls silent does not."""
    flowing = [part for _ in range(9) for part in (3, TextPiece("x"))]
    assert ended(*flowing, STOP, stall_seconds=4) == ("x" * 9, "", 27)
    assert ended(*flowing[:4], HANG, stall_seconds=4) == (
        "xx",
        "ModelError: the model fell silent in its answer for 4 seconds",
        10,
    )


def test_without_a_stream_only_the_whole_counts() -> None:
    """It comes at once at the end, however soon its first piece was made."""
    assert ended(9, *GOOD, ask=HI, first_piece_seconds=4) == ("hello", "", 9)


def test_the_shorter_of_two_limits_counts() -> None:
    """A first piece that may take longer than the whole does not."""
    assert ended(HANG, seconds=5, first_piece_seconds=9)[2] == 5


def test_it_is_an_error_that_may_pass() -> None:
    """So that it can be tried again, or somebody else asked."""
    steps = Steps([HANG])
    with pytest.raises(ModelError) as error:
        asyncio.run(taken(with_timeout(steps, 1, clock=steps.clock)))
    assert (error.value.code, error.value.retryable) == ("timeout", True)


def test_only_the_models_time_counts() -> None:
    """Who reads slowly does not run into the limit."""
    clock = FakeClock()

    async def run() -> str:
        text = ""
        provider = with_timeout(Steps(GOOD, clock=clock), 5, clock=clock)
        async for piece in provider.ask(STREAMED):
            text += text_of([piece])
            await clock.sleep(20)
        return text

    assert asyncio.run(run()) == "hello"


def test_a_timeout_of_the_provider_is_its_own() -> None:
    """It is raised as it is, also in time."""
    assert ended(TimeoutError("the socket's")) == ("", "TimeoutError: the socket's", 0)


def test_a_provider_that_gives_no_stream() -> None:
    """A plain coroutine has the same limit."""
    clock = FakeClock()

    class Plain:
        async def ask(self, ask: Ask) -> ModelReply:
            await clock.sleep(3 if ask.stream else 99)
            return ModelReply("done")

    made = with_timeout(Plain(), 10, clock=clock)
    assert text_of(asyncio.run(taken(made, STREAMED))) == "done"
    assert asyncio.run(taken_until_error(made, HI)) == (
        [],
        "ModelError: the model did not answer within 10 seconds",
    )


def test_one_that_does_not_listen() -> None:
    """What it gives after it was told to stop comes too late."""
    clock = FakeClock()

    class Deaf:
        async def ask(self, ask: Ask) -> ModelReply:
            try:
                await clock.sleep(99)
            except asyncio.CancelledError:
                await clock.sleep(5)
            return ModelReply("late")

    assert asyncio.run(taken_until_error(with_timeout(Deaf(), 10, clock=clock))) == (
        [],
        "ModelError: the model did not answer within 10 seconds",
    )


def test_on_the_machines_clock() -> None:
    """The same with real time, for both ends of the limit."""
    clock = SystemClock()

    class Slow:
        async def ask(self, ask: Ask) -> ModelReply:
            await clock.sleep(30 if ask.stream else 0.001)
            return ModelReply("done")

    made = with_timeout(Slow(), 0.05)
    assert asyncio.run(taken_until_error(made, STREAMED))[1] == (
        "ModelError: the model did not answer within 0.05 seconds"
    )
    assert text_of(asyncio.run(taken(with_timeout(Slow(), 20), HI))) == "done"


@pytest.mark.parametrize("provider", ["stream", "hanging"])
def test_cancelled_at_any_moment_it_lets_go(provider: str) -> None:
    """No task is left, and the stream within is closed."""
    clock = FakeClock(auto=False)
    steps = [Steps()]

    async def ask() -> None:
        script = [0.1, *GOOD] if provider == "stream" else [TextPiece("he"), HANG]
        steps[0] = Steps(script, clock=clock)
        await taken_until_error(with_timeout(steps[0], 2, clock=clock), STREAMED)

    def after() -> None:
        assert steps[0].open == 0

    assert asyncio.run(cancelled_everywhere(ask, after, clock)) > 3
