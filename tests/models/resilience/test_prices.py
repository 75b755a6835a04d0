"""Promise: a call costs what the price of its model says, and never too little."""

from __future__ import annotations

import pytest

from saywhy.models.resilience.prices import Prices, cost_of

TABLE = Prices("budget", {"small": (1, 2), "large-2": (10, 20), "small-pro": (5, 5)})


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("small", (1, 2)),
        ("small-20261101", (1, 2)),
        ("small-2026-11-01", (1, 2)),
        ("small@20261101", (1, 2)),
        ("small-0613", (1, 2)),
        ("small-latest", (1, 2)),
        ("small-pro", (5, 5)),
        ("large-2", (10, 20)),
        ("small-mini", None),
        ("large", None),
        ("", None),
    ],
)
def test_a_dated_name_is_the_same_model(name: str, expected: tuple[float, float] | None) -> None:
    """Another model whose name only begins alike is not."""
    assert TABLE.find(name) == expected


def test_a_price_for_all_others() -> None:
    """Under a star."""
    assert Prices("budget", {"a": (1, 1), "*": (3, 4)}).find("b") == (3, 4)


def test_the_first_name_that_has_a_price() -> None:
    """What the model calls itself comes before what was asked for."""
    assert TABLE.of(("small-pro", "small")) == (5, 5)
    assert TABLE.of(("unheard-of", "small")) == (1, 2)
    assert TABLE.of(("unheard-of", "")) is None


def test_a_call_without_a_name_costs_the_most() -> None:
    """One that was cut off may never have said who it was."""
    assert TABLE.of(("", "")) == (10, 20)
    assert Prices("budget", {}).of(("",)) is None


def test_prices_are_for_a_million() -> None:
    """Read and written apart."""
    assert cost_of((1, 2), 500_000, 250_000) == 1.0
