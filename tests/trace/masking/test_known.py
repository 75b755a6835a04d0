"""Promise: a place that is known to be sensitive covers what stands at it, in it and around it."""

from __future__ import annotations

import pytest

from saywhy.trace.masking import known as module
from saywhy.trace.masking.known import KnownPlaces


def test_what_is_covered() -> None:
    """The place, what is in it and what is around it, but not what stands beside it."""
    places = KnownPlaces()
    assert places.add(("cargo", "customer", "ssn"))
    assert not places.add(("cargo", "customer", "ssn"))
    for key in (("cargo",), ("cargo", "customer"), ("cargo", "customer", "ssn", "part")):
        assert places.covers(key)
    assert not places.covers(("cargo", "customer", "city"))
    assert places.spots(("cargo", "customer")) == ((("ssn",), False),)


def test_a_declaration_counts_more_than_what_was_found() -> None:
    """It is new where the place was only found before, and not the other way round."""
    places = KnownPlaces()
    places.add(("v1", "a"))
    assert places.add(("v1", "a"), declared=True)
    assert not places.add(("v1", "a"))
    assert places.is_declared(("v1", "a"))
    assert places.spots(("v1", "a", "part")) == (((), True),)
    assert list(places) == [(("v1", "a"), True)]


def test_the_number_of_places_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond it whole variables are sensitive, so nothing is lost."""
    monkeypatch.setattr(module, "MAX_KEYS", 3)
    places = KnownPlaces()
    for number in range(10):
        places.add(("v1", "list", number))
    assert places.covers(("v1", "list", 9))
    assert len(list(places)) == 4
