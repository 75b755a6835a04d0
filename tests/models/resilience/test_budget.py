"""Promise: what was spent is counted as far as known, and a limit is a limit."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from saywhy.errors import BudgetExceeded, CallerError
from saywhy.models.resilience.budget import Budget
from saywhy.models.resilience.purse import Spent
from tests.amount import examples

PRICES = {"small": (1.0, 2.0), "large": (10.0, 20.0)}


def spend(budget: Budget, tokens_in: int, tokens_out: int, name: str = "small") -> None:
    """A call from beginning to end."""
    budget.purse.check(name)
    account = budget.purse.begin()
    budget.purse.used(account, tokens_in, 0)
    budget.purse.used(account, tokens_in, tokens_out)
    budget.purse.end(account, (name,))


def test_it_counts() -> None:
    """What a call tells of itself replaces what it told before."""
    budget = Budget(prices=PRICES)
    spend(budget, 1000, 500)
    spend(budget, 1000, 0, "large-2026-01-01")
    budget.purse.waited(1.5)
    assert budget.spent == Spent(2, 2000, 500, 0.001 + 0.001 + 0.01, 1.5)
    assert budget.spent.tokens == 2500


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ({"calls": 2}, "the budget for models is used up: 2 of 2 calls"),
        ({"tokens": 25}, "the budget for models is used up: 30 of 25 tokens"),
        (
            {"cost": 3e-05, "prices": PRICES},
            "the budget for models is used up: 4e-05 of 3e-05 cost",
        ),
        ({"seconds": 0.75}, "the budget for models is used up: 1 of 0.75 seconds"),
        ({"calls": 0}, "the budget for models is used up: 0 of 0 calls"),
    ],
)
def test_what_is_used_up(limits: dict[str, Any], message: str) -> None:
    """The error says what, how much there was and how much is gone."""
    budget = Budget(**limits)
    with pytest.raises(BudgetExceeded) as error:
        for _ in range(3):
            spend(budget, 10, 5)
            budget.purse.waited(0.5)
    assert str(error.value) == message
    limited = next(iter(limits))
    assert (error.value.limited, error.value.limit) == (limited, limits[limited])
    assert (error.value.code, error.value.retryable) == ("aborted", False)


def test_a_call_that_never_told() -> None:
    """It is among those nobody knows the tokens of."""
    budget = Budget(prices=PRICES)
    account = budget.purse.begin()
    budget.purse.end(account, ("small",))
    assert budget.spent == Spent(calls=1, uncounted=1)


def test_a_model_without_a_price() -> None:
    """With a limit of cost, nobody is asked whose cost nobody could tell."""
    budget = Budget(cost=1, prices=PRICES)
    with pytest.raises(CallerError) as error:
        budget.purse.check("huge")
    assert str(error.value) == 'the budget has no price for the model "huge"'
    assert error.value.hint == 'add it to prices, or a price for "*", all that are not named'
    account = budget.purse.begin()
    budget.purse.used(account, 10, 5)
    budget.purse.end(account, ("huge", ""))  # it said so only when it answered
    assert budget.spent.unpriced == ("huge",)
    with pytest.raises(CallerError, match='no price for the model "huge"'):
        budget.purse.check("")


def test_without_a_limit_of_cost_a_missing_price_stops_nobody() -> None:
    """It is only named."""
    budget = Budget(tokens=1000, prices=PRICES)
    spend(budget, 10, 5, "huge")
    spend(budget, 10, 5, "huge")
    assert budget.spent.unpriced == ("huge",)


calls = st.lists(
    st.tuples(st.integers(0, 50), st.integers(0, 50), st.sampled_from(["small", "large"])),
    max_size=30,
)


@settings(max_examples=examples(100, 2000))
@given(played=calls, tokens=st.integers(0, 400), most=st.integers(0, 20))
def test_it_refuses_from_the_first_moment_on(
    played: list[tuple[int, int, str]], tokens: int, most: int
) -> None:
    """Exactly the calls are made before which nothing was used up."""
    budget = Budget(tokens=tokens, calls=most, prices=PRICES)
    made: list[tuple[int, int, str]] = []
    for call in played:
        used = sum(one[0] + one[1] for one in made)
        may = used < tokens and len(made) < most
        if may:
            spend(budget, *call)
            made.append(call)
        else:
            with pytest.raises(BudgetExceeded):
                spend(budget, *call)
    spent = budget.spent
    assert (spent.calls, spent.tokens) == (len(made), sum(one[0] + one[1] for one in made))
    costs = [(one[0] * PRICES[one[2]][0] + one[1] * PRICES[one[2]][1]) / 1e6 for one in made]
    assert spent.cost == pytest.approx(sum(costs))
