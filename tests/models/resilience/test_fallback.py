"""Promise: where one fails the next is asked, unless something was given out already."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from saywhy.errors import AuthorError, BudgetExceeded, CallerError, CircuitOpen, ModelError
from saywhy.models.provider import TextPiece, UsagePiece
from saywhy.models.resilience.circuit_breaker import with_circuit_breaker
from saywhy.models.resilience.fallback import may_fall_back, resilient, with_fallback
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


def failing(text: str, code: Any = "server") -> Steps:
    return Steps([ModelError(text, code=code)])


def told(*providers: Any, **options: Any) -> tuple[str, list[str]]:
    """The text or the error of a fallback, and what `on_fallback` heard."""
    heard: list[str] = []
    made = with_fallback(
        providers, on_fallback=lambda i, j, error: heard.append(f"{i}→{j} {error}"), **options
    )
    pieces, error = asyncio.run(taken_until_error(made))
    return error or text_of(pieces), heard


def test_the_first_one_that_answers() -> None:
    """Those after it are not asked."""
    last = Steps(GOOD)
    assert told(failing("a"), failing("b"), Steps(GOOD), last) == ("hello", ["0→1 a", "1→2 b"])
    assert last.asked == []


def test_the_last_error_is_raised() -> None:
    """When nobody answers."""
    assert told(failing("a"), failing("b")) == ("ModelError: b", ["0→1 a"])


def test_a_host_decides_what_is_worth_it() -> None:
    """An error it does not want to fall back on is raised as it is."""
    only_busy = {"should_fallback": lambda error: error.code == "rate_limit"}
    assert told(failing("a"), Steps(GOOD), **only_busy) == ("ModelError: a", [])
    assert told(failing("a", "rate_limit"), Steps(GOOD), **only_busy) == ("hello", ["0→1 a"])


def test_a_question_that_raises() -> None:
    """Its error is raised, and the model's own stands behind it; nobody else is asked."""
    other = Steps(GOOD)

    def should(error: Exception) -> bool:
        raise RuntimeError("no rule")

    with pytest.raises(RuntimeError, match="no rule") as raised:
        asyncio.run(taken(with_fallback([failing("a"), other], should)))
    assert str(raised.value.__context__) == "a"
    assert other.asked == []


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (DOWN, True),
        (ModelError("x", code="invalid_request"), True),
        (ModelError("x", code="context_length"), True),
        (ModelError("x", code="aborted"), False),
        (BudgetExceeded("calls", 1, 1), True),
        (ConnectionError("x"), True),
        (CallerError("x"), False),
        (AuthorError("x"), False),
    ],
)
def test_what_falls_back_by_itself(error: Exception, expected: bool) -> None:
    """Not what is wrong in the program around: somebody else would be asked the same nonsense."""
    assert may_fall_back(error) is expected


def test_a_stream_that_gave_something_stays_where_it_is() -> None:
    """Two halves of two models are no answer."""
    other = Steps(GOOD)
    made = with_fallback([Steps([TextPiece("he"), DOWN]), other])
    assert asyncio.run(taken_until_error(made, STREAMED)) == (
        [TextPiece("he")],
        "ModelError: down",
    )
    assert other.asked == []


def test_without_a_stream_half_an_answer_does_not_matter() -> None:
    """It was held back; what it used is counted."""
    first = Steps([TextPiece("he"), UsagePiece(5, 1), DOWN])
    pieces = asyncio.run(taken(with_fallback([first, Steps(GOOD)])))
    assert text_of(pieces) == "hello"
    assert [one for one in pieces if isinstance(one, UsagePiece)][-1] == UsagePiece(15, 3)


def test_a_host_that_raises_when_told(caplog: pytest.LogCaptureFixture) -> None:
    """It is logged; the ask goes on."""

    async def tell(i: int, j: int, error: Exception) -> None:
        raise RuntimeError("no disk")

    made = with_fallback([failing("a"), Steps(GOOD)], on_fallback=tell)
    assert text_of(asyncio.run(taken(made))) == "hello"
    assert [record.message for record in caplog.records] == ["on_fallback raised"]


# ------------------------------------------------------------------ with circuit breakers


def test_who_keeps_failing_is_skipped() -> None:
    """After so many failures in a row only the next one is asked, until the time is up."""
    clock = FakeClock(auto=False)
    first, second = Steps([DOWN], clock=clock), Steps(GOOD, clock=clock)
    made = resilient([first, second], 2, 30_000, clock=clock)
    for _ in range(5):
        assert text_of(asyncio.run(taken(made))) == "hello"
    assert len(first.asked) == 2
    clock.advance(30)
    first.scripts = [list(GOOD)]
    assert text_of(asyncio.run(taken(made))) == "hello"
    assert (len(first.asked), len(second.asked)) == (3, 5)


def test_all_are_left_alone() -> None:
    """Then nobody is asked, and the error says why."""
    one, other = failing("a"), failing("b")
    made = resilient([one, other])
    errors = [asyncio.run(taken_until_error(made))[1] for _ in range(4)]
    assert errors == [
        *["ModelError: b"] * 3,
        "ModelError: All providers failed (circuit breakers open)",
    ]
    assert (len(one.asked), len(other.asked)) == (3, 3)


def test_a_real_failure_says_more_than_an_open_circuit() -> None:
    """Whoever was asked is told of, wherever the open ones stand in the list."""
    clock = FakeClock(auto=False)
    dead = with_circuit_breaker(failing("dead"), 1, clock=clock)
    asyncio.run(taken_until_error(dead))
    for providers in ([dead, failing("a")], [failing("a"), dead], [dead, failing("a"), dead]):
        assert asyncio.run(taken_until_error(with_fallback(providers)))[1] == "ModelError: a"


def test_an_open_circuit_is_passed_by_whatever_the_host_says() -> None:
    """Its question is about failures, and this is none."""
    clock = FakeClock(auto=False)
    dead = with_circuit_breaker(failing("dead"), 1, clock=clock)
    asyncio.run(taken_until_error(dead))
    assert told(dead, Steps(GOOD), should_fallback=lambda error: False) == (
        "hello",
        ["0→1 Circuit breaker is open"],
    )


def test_an_open_circuit_is_not_tried_again() -> None:
    """It says when it may be."""
    error = CircuitOpen(12.5)
    assert (str(error), error.retryable, error.retry_after) == (
        "Circuit breaker is open",
        False,
        12.5,
    )


def test_cancelled_at_any_moment_it_lets_go() -> None:
    """Whichever of them is being asked."""
    clock = FakeClock(auto=False)
    both = [Steps(), Steps()]

    async def ask() -> None:
        both[:] = Steps([0.1, DOWN], clock=clock), Steps([0.1, *GOOD], clock=clock)
        assert text_of(await taken(resilient(both, clock=clock))) == "hello"

    def after() -> None:
        assert [one.open for one in both] == [0, 0]

    assert asyncio.run(cancelled_everywhere(ask, after, clock)) > 5
