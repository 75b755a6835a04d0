"""Promise: a provider is asked only while its budget lasts, whosever call used it up."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from saywhy.errors import BudgetExceeded, CallerError, ModelError
from saywhy.models.provider import Ask, Provider, TextPiece, UsagePiece
from saywhy.models.resilience.budget import Budget
from saywhy.models.resilience.budgeted import Budgeted, with_budget
from saywhy.models.resilience.fallback import with_fallback
from saywhy.models.resilience.purse import Spent
from saywhy.models.resilience.retries import with_retries
from saywhy.testing.clock import FakeClock
from tests.amount import examples
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
PRICES = {"small": (1.0, 2.0)}


def budgeted(
    provider: Provider, budget: Budget | None = None, clock: FakeClock | None = None, **limits: Any
) -> Budgeted:
    """With a clock by which no time passes on its own."""
    return with_budget(provider, budget, clock=clock or FakeClock(), **limits)


def test_nobody_is_asked_once_it_is_used_up() -> None:
    """The refused ask reaches no provider."""
    steps = Steps(GOOD)
    model = budgeted(steps, tokens=24)
    for _ in range(2):
        assert text_of(asyncio.run(taken(model))) == "hello"
    assert asyncio.run(taken_until_error(model)) == (
        [],
        "BudgetExceeded: the budget for models is used up: 24 of 24 tokens",
    )
    assert len(steps.asked) == 2
    assert model.spent == Spent(calls=2, tokens_in=20, tokens_out=4)


def test_what_failed_and_what_was_cut_off_counts() -> None:
    """As far as it had told."""
    model = budgeted(
        Steps([UsagePiece(10, 0), UsagePiece(10, 3), DOWN], [DOWN], GOOD), prices=PRICES
    )
    for _ in range(3):
        asyncio.run(taken_until_error(model))
    assert model.spent == Spent(3, 20, 5, pytest.approx(30e-6), 0.0, uncounted=1)


def test_a_stream_that_is_left_counts() -> None:
    """With what it had told by then, at the price of the model that was asked for."""
    model = budgeted(Steps(GOOD), prices={**PRICES, "other": (100, 100)})
    ask = Ask("chat", settings={"model": "small"}, stream=True)

    async def leave() -> None:
        stream = model.ask(ask)
        async for piece in stream:
            if isinstance(piece, UsagePiece):
                break
        await stream.aclose()

    asyncio.run(leave())
    assert model.spent == Spent(1, 10, 2, pytest.approx(14e-6))


def test_the_cost_is_that_of_the_model_that_answered() -> None:
    """It answers under a dated name."""
    model = budgeted(Steps(GOOD), cost=20e-6, prices=PRICES)
    assert [asyncio.run(taken_until_error(model))[1] for _ in range(3)] == [
        "",
        "",
        "BudgetExceeded: the budget for models is used up: 2.8e-05 of 2e-05 cost",
    ]


def test_a_call_that_outlasts_the_budget_is_cut_off() -> None:
    """Time is the one thing that can be stopped; what came before was given."""
    clock = FakeClock()
    steps = Steps([3, *GOOD], [3, TextPiece("he"), 999], clock=clock)
    model, began = budgeted(steps, seconds=10, clock=clock), clock.now()
    assert asyncio.run(taken_until_error(model))[1] == ""
    assert asyncio.run(taken_until_error(model)) == (
        [TextPiece("he")],
        "BudgetExceeded: the budget for models is used up: 10 of 10 seconds",
    )
    assert (clock.now() - began, model.spent.seconds, steps.open) == (10_000, 10, 0)
    assert asyncio.run(taken_until_error(model))[1].endswith("10 of 10 seconds")
    assert len(steps.asked) == 2


def test_a_call_is_cut_off_by_the_machines_clock_too() -> None:
    """What was waited for is counted, and the next call is refused."""

    async def model(system: str, user: str) -> str:
        await asyncio.sleep(30)
        return "late"

    limited = with_budget(model, seconds=0.05)
    for _ in range(2):
        error = asyncio.run(taken_until_error(limited))[1]
        assert error.startswith("BudgetExceeded: the budget for models is used up: 0.0")
        assert error.endswith("of 0.05 seconds")
    assert limited.spent.calls == 1
    assert 0.04 < limited.spent.seconds < 20


def test_two_providers_share_a_budget() -> None:
    """What one uses the other does not have."""
    budget = Budget(calls=2)
    one, other = budgeted(Steps(GOOD), budget), budgeted(Steps(GOOD), budget)
    assert asyncio.run(taken_until_error(one))[1] == ""
    assert asyncio.run(taken_until_error(other))[1] == ""
    for model in (one, other):
        assert asyncio.run(taken_until_error(model))[1].endswith("2 of 2 calls")
    assert one.spent == other.spent == budget.spent


def test_a_run_has_a_budget_of_its_own() -> None:
    """It counts for all tasks inside, beside the provider's own, and for nobody outside."""
    model = budgeted(Steps(GOOD), tokens=1000)

    async def run() -> list[str]:
        with Budget(calls=3).applied() as budget:
            asks = await asyncio.gather(*[taken_until_error(model) for _ in range(5)])
        assert budget.spent.calls == 3
        assert (await taken_until_error(model))[1] == ""
        return [error for _, error in asks]

    refused = "BudgetExceeded: the budget for models is used up: 3 of 3 calls"
    assert asyncio.run(run()) == ["", "", "", refused, refused]
    assert model.spent.calls == 4


def test_runs_at_the_same_time_do_not_mix() -> None:
    """Each has what it was given."""
    model = budgeted(Steps(GOOD))

    async def run(calls: int) -> Spent:
        with Budget(calls=calls).applied() as budget:
            with suppress(BudgetExceeded):
                while True:
                    await taken(model)
            return budget.spent

    async def both() -> list[int]:
        return [spent.calls for spent in await asyncio.gather(run(2), run(5))]

    assert asyncio.run(both()) == [2, 5]


def test_nested_budgets_all_count() -> None:
    """A part of a run may have less than the run."""
    model = budgeted(Steps(GOOD))

    async def run() -> tuple[int, int]:
        with Budget(calls=5).applied() as outer:
            with Budget(calls=1).applied() as inner:
                await taken(model)
                assert (await taken_until_error(model))[1].endswith("1 of 1 calls")
            await taken(model)
        return outer.spent.calls, inner.spent.calls

    assert asyncio.run(run()) == (2, 1)


def test_a_call_is_charged_once_however_often_it_is_wrapped() -> None:
    """A budget around a fallback whose parts have the same or budgets of their own."""
    shared, own = Budget(), Budget()
    parts = [budgeted(Steps([UsagePiece(5, 0), DOWN]), shared), budgeted(Steps(GOOD), own)]
    model = budgeted(with_fallback(parts), shared)

    async def run() -> Spent:
        with Budget().applied() as around:
            assert text_of(await taken(model)) == "hello"
        return around.spent

    around = asyncio.run(run())
    assert around == shared.spent == Spent(calls=1, tokens_in=15, tokens_out=2)
    assert own.spent == Spent(calls=1, tokens_in=10, tokens_out=2)


def test_attempts_are_paid_for() -> None:
    """A budget around retries sees what all of them used; one within counts each as a call."""
    clock = FakeClock()
    within = budgeted(Steps([UsagePiece(5, 1), DOWN], GOOD, clock=clock))
    around = budgeted(with_retries(within, clock=clock))
    asyncio.run(taken(around))
    assert (around.spent.calls, around.spent.tokens) == (1, 18)
    assert (within.spent.calls, within.spent.tokens) == (2, 18)


def test_a_refusal_charges_nobody() -> None:
    """All budgets agree before one of them counts a call."""
    model = budgeted(Steps(GOOD))

    async def run() -> None:
        with Budget(calls=0).applied():
            await taken_until_error(model)

    asyncio.run(run())
    assert model.spent == Spent()


def test_a_model_without_a_price_is_not_asked() -> None:
    """Where its name is known beforehand."""
    steps = Steps(GOOD)
    model = budgeted(steps, cost=1, prices=PRICES)
    with pytest.raises(CallerError, match='no price for the model "huge"'):
        asyncio.run(taken(model, Ask("chat", settings={"model": "huge"})))
    assert steps.asked == []


def test_cancelled_at_any_moment_it_is_paid_and_lets_go() -> None:
    """What the call had told by then is counted, and no task is left."""
    clock = FakeClock(auto=False)
    script = [UsagePiece(3, 0), 0.1, TextPiece("he"), 0.1, *GOOD]
    steps = Steps(script, clock=clock)
    budget = Budget(seconds=1000)
    model = budgeted(steps, budget, clock=clock)
    seen: list[int] = []

    async def ask() -> None:
        await taken(model, STREAMED)

    def after() -> None:
        assert steps.open == 0
        seen.append(budget.spent.tokens - sum(seen))
        assert budget.spent.calls == len(seen) or budget.spent.calls == len(seen) - 1

    asyncio.run(cancelled_everywhere(ask, after, clock))
    assert set(seen) == {0, 3, 12}
    assert seen == sorted(seen)


played = st.lists(
    st.tuples(
        st.sampled_from(["good", "fails", "left", "hangs"]), st.integers(0, 9), st.integers(0, 9)
    ),
    min_size=1,
    max_size=15,
)


@settings(max_examples=examples(60, 1000))
@given(calls=played, at_once=st.integers(1, 4), limit=st.integers(0, 60))
def test_it_counts_every_call_whatever_becomes_of_it(
    calls: list[tuple[str, int, int]], at_once: int, limit: int
) -> None:
    """Groups of calls at the same time, of which some fail, are left or cancelled."""
    clock = FakeClock()
    budget = Budget(tokens=limit)
    made: list[int] = []

    async def call(what: str, tokens_in: int, tokens_out: int) -> None:
        usage = UsagePiece(tokens_in, tokens_out)
        end: Any = {"fails": DOWN, "hangs": 99}.get(what, GOOD[-1])
        steps = Steps([0.1, usage, TextPiece("x"), 0.1, end], clock=clock)
        model = budgeted(steps, budget, clock=clock)
        with suppress(ModelError, TimeoutError):
            await clock.wait_for(taken(model, HI if what == "good" else STREAMED), 5)
        assert steps.open == 0
        if steps.asked:
            made.append(tokens_in + tokens_out)

    async def run() -> None:
        for first in range(0, len(calls), at_once):
            was_used_up = budget.spent.tokens >= limit
            before = len(made)
            await asyncio.gather(*[call(*one) for one in calls[first : first + at_once]])
            if was_used_up:
                assert len(made) == before

    asyncio.run(run())
    assert (budget.spent.tokens, budget.spent.calls) == (sum(made), len(made))
