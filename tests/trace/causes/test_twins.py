"""Tools that a model can hardly tell apart."""

from __future__ import annotations

import pytest

from saywhy.trace.causes.twins import ALIKE, alike, twins_of


@pytest.mark.parametrize(
    ("one", "other", "are"),
    [
        ("Finds an order by its number.", "Gets an order by its number", True),
        ("Account balance", "Account balance", True),
        ("Finds an order by its number.", "Opening hours of the shop", False),
        ("", "", False),
    ],
)
def test_descriptions_that_say_the_same(one: str, other: str, are: bool) -> None:
    """Verbs of asking and small words tell nothing apart."""
    assert (alike(one, other) >= ALIKE) is are


def test_twins_of_a_tool() -> None:
    """Only other tools are twins, and only of a tool that is there."""
    tools = [
        {"name": "a", "description": "Order by number"},
        {"name": "b", "description": "Finds the order of a number"},
        {"name": "c", "description": "Opening hours"},
    ]
    assert [one["name"] for one in twins_of("a", tools)] == ["b"]
    assert twins_of("c", tools) == []
    assert twins_of("d", tools) == []
