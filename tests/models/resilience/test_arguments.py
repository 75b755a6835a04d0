"""Promise: what makes no sense is refused when a wrapper is made, naming wrapper and argument."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from typing import Any

import pytest

from saywhy.errors import CallerError
from saywhy.models.resilience.budget import Budget
from saywhy.models.resilience.budgeted import with_budget
from saywhy.models.resilience.circuit_breaker import with_circuit_breaker
from saywhy.models.resilience.fallback import resilient, with_fallback
from saywhy.models.resilience.rate_limit import with_rate_limit
from saywhy.models.resilience.retries import with_retries
from saywhy.models.resilience.timeout import with_timeout
from saywhy.models.scripted import ScriptedModel
from tests.models.resilience.steps import GOOD, Steps, taken, text_of

P = Steps(GOOD)
WRAPPERS: dict[str, Callable[[Any], Any]] = {
    "with_retries": with_retries,
    "with_circuit_breaker": with_circuit_breaker,
    "with_timeout": lambda provider: with_timeout(provider, 1),
    "with_rate_limit": lambda provider: with_rate_limit(provider, requests=1, per_seconds=1),
    "with_budget": with_budget,
}
LISTS: dict[str, Callable[[Any], Any]] = {"with_fallback": with_fallback, "resilient": resilient}


@pytest.mark.parametrize("name", WRAPPERS)
@pytest.mark.parametrize(
    ("given", "problem"),
    [
        (7, "provider is int, which cannot be asked anything"),
        ([], "provider is list, which cannot be asked anything"),
        (None, "provider is None, which cannot be asked anything"),
        (ScriptedModel, "provider is the class ScriptedModel, not a provider"),
    ],
)
def test_what_is_no_provider(name: str, given: Any, problem: str) -> None:
    """Something that cannot be asked, and a class in place of an instance."""
    with pytest.raises(CallerError) as error:
        WRAPPERS[name](given)
    assert str(error.value) == f"{name}: {problem}"
    assert error.value.hint


@pytest.mark.parametrize("name", LISTS)
@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ([], "providers is empty"),
        (P, "providers is a list, not Steps"),
        (None, "providers is a list, not None"),
        ("ab", "providers is a list, not str"),
        ([P, 7], "providers[1] is int, which cannot be asked anything"),
    ],
)
def test_what_is_no_list_of_providers(name: str, given: Any, problem: str) -> None:
    """The number of the one that is wrong is told."""
    with pytest.raises(CallerError) as error:
        LISTS[name](given)
    assert str(error.value) == f"{name}: {problem}"


BAD: list[tuple[Callable[[], Any], str]] = [
    (
        lambda: with_retries(P, 0),
        "with_retries: attempts is a whole number from 1, not 0",
    ),
    (
        lambda: with_retries(P, True),
        "with_retries: attempts is a whole number from 1, not True",
    ),
    (
        lambda: with_retries(P, 2.5),  # pyright: ignore[reportArgumentType]
        "with_retries: attempts is a whole number from 1, not 2.5",
    ),
    (
        lambda: with_retries(P, backoff=-1),
        "with_retries: backoff is a number from 0, not -1",
    ),
    (
        lambda: with_retries(P, backoff=math.nan),
        "with_retries: backoff is a number from 0, not nan",
    ),
    (
        lambda: with_retries(P, jitter=1.5),
        "with_retries: jitter is a number from 0 to 1, not 1.5",
    ),
    (
        lambda: with_retries(P, longest_wait=math.inf),
        "with_retries: longest_wait is a number from 0, not inf",
    ),
    (
        lambda: with_fallback([P], 7),  # pyright: ignore[reportArgumentType]
        "with_fallback: should_fallback is a function, not int",
    ),
    (
        lambda: with_fallback([P], None, "x"),  # pyright: ignore[reportArgumentType]
        "with_fallback: on_fallback is a function, not str",
    ),
    (
        lambda: resilient([P], 0),
        "resilient: threshold is a whole number from 1, not 0",
    ),
    (
        lambda: resilient([P], on_fallback=7),  # pyright: ignore[reportArgumentType]
        "resilient: on_fallback is a function, not int",
    ),
    (
        lambda: with_circuit_breaker(P, "5"),  # pyright: ignore[reportArgumentType]
        "with_circuit_breaker: threshold is a whole number from 1, not str",
    ),
    (
        lambda: with_circuit_breaker(P, 5, -1),
        "with_circuit_breaker: reset_after_ms is a number from 0, not -1",
    ),
    (
        lambda: with_timeout(P, 0),
        "with_timeout: seconds is a number above 0, not 0",
    ),
    (
        lambda: with_timeout(P, 5, 0),
        "with_timeout: first_piece_seconds is a number above 0, not 0",
    ),
    (
        lambda: with_timeout(P, 5, stall_seconds=-2),
        "with_timeout: stall_seconds is a number above 0, not -2",
    ),
    (
        lambda: with_rate_limit(P, requests=0, per_seconds=1),
        "with_rate_limit: requests is a whole number from 1, not 0",
    ),
    (
        lambda: with_rate_limit(P, requests=1, per_seconds=0),
        "with_rate_limit: per_seconds is a number above 0, not 0",
    ),
    (
        lambda: with_rate_limit(P, requests=1, per_seconds=1, tokens=0),
        "with_rate_limit: tokens is a whole number from 1, not 0",
    ),
    (
        lambda: with_rate_limit(P, requests=1, per_seconds=1, max_waiting=-1),
        "with_rate_limit: max_waiting is a whole number from 0, not -1",
    ),
    (
        lambda: Budget(calls=-1),
        "budget: calls is a whole number from 0, not -1",
    ),
    (
        lambda: with_budget(P, tokens=1.5),  # pyright: ignore[reportArgumentType]
        "budget: tokens is a whole number from 0, not 1.5",
    ),
    (
        lambda: with_budget(P, seconds=-0.5),
        "budget: seconds is a number from 0, not -0.5",
    ),
    (
        lambda: with_budget(P, cost=1),
        "budget: cost needs prices, or nobody knows what a call costs",
    ),
    (
        lambda: with_budget(P, prices={"a": (1,)}),  # pyright: ignore[reportArgumentType]
        'budget: prices["a"] is a pair of numbers',
    ),
    (
        lambda: with_budget(P, prices={"a": (1, -2)}),
        'budget: prices["a"][1] is a number from 0, not -2',
    ),
    (
        lambda: with_budget(P, prices=[1, 2]),  # pyright: ignore[reportArgumentType]
        "budget: prices is an object, not list",
    ),
    (
        lambda: with_budget(P, Budget(calls=1), tokens=5),
        "with_budget: tokens and a budget are both given",
    ),
    (
        lambda: with_budget(P, 7),  # pyright: ignore[reportArgumentType]
        "with_budget: budget is a Budget, not int",
    ),
]


@pytest.mark.parametrize(("make", "problem"), BAD, ids=[problem for _, problem in BAD])
def test_an_argument_that_makes_no_sense(make: Callable[[], Any], problem: str) -> None:
    """Each is named, with what it should be and what it is."""
    with pytest.raises(CallerError) as error:
        make()
    assert str(error.value) == problem


@pytest.mark.parametrize("name", [*WRAPPERS, *LISTS])
def test_a_function_is_a_provider_too(name: str) -> None:
    """A host's own function can be wrapped as it is."""

    async def model(system: str, user: str) -> str:
        return f"you said {user}"

    made = WRAPPERS[name](model) if name in WRAPPERS else LISTS[name]([model])
    assert text_of(asyncio.run(taken(made))) == "you said hi"


def test_what_else_may_stand_for_a_model() -> None:
    """A function of the whole ask, and a name, as for an agent."""
    assert text_of(asyncio.run(taken(with_retries(lambda ask: ask.user)))) == "hi"
    with pytest.raises(CallerError, match='"nobody:x" names no model'):
        with_retries("nobody:x")


@pytest.mark.parametrize("name", [*WRAPPERS, *LISTS])
def test_closing_closes_what_is_within(name: str) -> None:
    """Whoever holds the outermost provider can let go of all connections."""
    inner = Steps(GOOD)
    made = WRAPPERS[name](inner) if name in WRAPPERS else LISTS[name]([inner])
    asyncio.run(made.close())
    assert inner.closed
