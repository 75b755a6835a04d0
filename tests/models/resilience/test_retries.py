"""Promise: what may pass is tried again in its time, and nothing that was given out begins anew."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from saywhy.errors import CallerError, ModelError
from saywhy.models.provider import Ask, TextPiece, ThinkingPiece, ToolCallPiece, UsagePiece
from saywhy.models.resilience.retries import with_retries
from saywhy.testing.clock import FakeClock
from tests.models.resilience.steps import (
    GOOD,
    HI,
    STREAMED,
    Steps,
    cancelled_everywhere,
    taken,
    taken_until_error,
    text_of,
)

DOWN = ModelError("down", code="server")
BUSY = ModelError("busy", code="rate_limit", retry_after=7)


def waits(*scripts: Any, ask: Ask = HI, **options: Any) -> tuple[str, list[float]]:
    """The text or the error, and the seconds before each further attempt."""
    steps = Steps(*scripts)
    pieces, error = asyncio.run(
        taken_until_error(with_retries(steps, clock=steps.clock, **options), ask)
    )
    seconds = [(later - at) / 1000 for at, later in zip(steps.at, steps.at[1:], strict=False)]
    return error or text_of(pieces), [round(wait, 6) for wait in seconds]


def test_it_doubles_the_wait() -> None:
    """Three attempts unless said otherwise, half a second before the second one."""
    assert waits([DOWN], [DOWN], GOOD) == ("hello", [0.5, 1])
    assert waits([DOWN]) == ("ModelError: down", [0.5, 1])
    assert waits([DOWN], attempts=5, backoff=2) == ("ModelError: down", [2, 4, 8, 16])
    assert waits([DOWN], attempts=1) == ("ModelError: down", [])


def test_a_wait_never_exceeds_the_longest() -> None:
    """Doubling ends there, however many attempts there are."""
    text, seconds = waits([DOWN], attempts=50, backoff=1, longest_wait=5)
    assert text == "ModelError: down"
    assert seconds == [1, 2, 4, *[5] * 46]


def test_a_function_says_how_long() -> None:
    """It is given the number of attempts so far."""
    assert waits([DOWN], attempts=4, backoff=lambda made: made * 3)[1] == [3, 6, 9]


def test_a_function_that_says_nonsense() -> None:
    """It is told of like any other wrong argument."""
    with pytest.raises(CallerError, match="with_retries: backoff is a number from 0, not -1"):
        asyncio.run(taken(with_retries(Steps([DOWN]), backoff=lambda made: -1)))


@pytest.mark.parametrize(
    "code", ["auth", "invalid_request", "context_length", "aborted", "unknown"]
)
def test_what_will_not_pass_is_raised_at_once(code: Any) -> None:
    """Asking again would change nothing."""
    assert waits([ModelError("no", code=code)]) == ("ModelError: no", [])


@pytest.mark.parametrize("code", ["rate_limit", "server", "timeout", "network"])
def test_what_may_pass_is_tried_again(code: Any) -> None:
    """By the code of the error alone."""
    assert waits([ModelError("no", code=code)], GOOD) == ("hello", [0.5])


@pytest.mark.parametrize("error", [ValueError("bug"), CallerError("odd"), OSError("disk")])
def test_other_errors_are_raised_at_once(error: Exception) -> None:
    """Nobody knows whether they pass."""
    assert waits([error]) == (f"{type(error).__name__}: {error}", [])


@pytest.mark.parametrize("error", [ConnectionError("gone"), TimeoutError("late")])
def test_a_network_that_fails_may_pass(error: Exception) -> None:
    """A provider of somebody's own raises these; the last one is raised as it is."""
    assert waits([error], GOOD) == ("hello", [0.5])
    assert waits([error]) == (f"{type(error).__name__}: {error}", [0.5, 1])


def test_the_models_own_wish_is_kept_to() -> None:
    """It waits as long as it was told to, and longer where the backoff is longer."""
    assert waits([BUSY], GOOD) == ("hello", [7])
    assert waits([BUSY], GOOD, backoff=9) == ("hello", [9])


def test_a_wish_that_is_too_long() -> None:
    """Then nobody waits; the error still says how long it would have been."""
    assert waits([BUSY], longest_wait=6) == ("ModelError: busy", [])


def test_jitter_is_the_same_each_time() -> None:
    """It shortens a wait by a share that follows from the ask and the seed."""
    first, second = (waits([DOWN], attempts=4, jitter=0.5, seed="a")[1] for _ in range(2))
    assert first == second
    assert all(whole / 2 <= wait <= whole for whole, wait in zip([0.5, 1, 2], first, strict=True))
    assert first != waits([DOWN], attempts=4, jitter=0.5, seed="b")[1]
    assert waits([DOWN], attempts=4, jitter=1.0, seed="a")[1] != first


@pytest.mark.parametrize(
    "piece", [TextPiece("he"), ThinkingPiece("hm"), ToolCallPiece("1", "look", {})]
)
def test_a_stream_that_gave_something_does_not_begin_anew(piece: Any) -> None:
    """Half an answer, then the same one from its beginning, would be read as one text."""
    steps = Steps([piece, DOWN], GOOD)
    pieces, error = asyncio.run(taken_until_error(with_retries(steps), STREAMED))
    assert (pieces, error, len(steps.asked)) == ([piece], "ModelError: down", 1)


def test_a_stream_that_only_told_its_usage_may_begin_anew() -> None:
    """Nobody has read anything of it."""
    steps = Steps([UsagePiece(9, 0), DOWN], GOOD)
    pieces = asyncio.run(taken(with_retries(steps, backoff=0, clock=steps.clock), STREAMED))
    assert text_of(pieces) == "hello"
    assert [piece for piece in pieces if isinstance(piece, UsagePiece)] == [
        UsagePiece(9, 0),
        UsagePiece(19, 2),
    ]


def test_without_a_stream_half_an_answer_is_asked_for_again() -> None:
    """It was held back, so nobody sees it twice."""
    assert waits([TextPiece("he"), DOWN], GOOD) == ("hello", [0.5])
    assert waits([TextPiece("he")], GOOD) == ("hello", [0.5])  # cut off without an error


def test_cancelled_at_any_moment_it_lets_go() -> None:
    """In an attempt and between two: no task, nothing open, nobody asked again."""
    clock = FakeClock(auto=False)
    steps = [Steps()]

    async def ask() -> None:
        steps[0] = Steps([0.1, DOWN], [0.1, DOWN], GOOD, clock=clock)
        await taken(with_retries(steps[0], clock=clock))

    def after() -> None:
        assert steps[0].open == 0
        assert clock.sleeping == 0

    assert asyncio.run(cancelled_everywhere(ask, after, clock)) > 10
