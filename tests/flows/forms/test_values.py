"""The values of inputs: from elsewhere, and as people are shown them."""

from __future__ import annotations

from typing import Any

import pytest

from saywhy.flows.forms.model import Input, read_form, words_of_name
from saywhy.flows.forms.values import shown_value, typed
from saywhy.values import UNDEFINED
from tests.flows.conftest import NOW


def entry(kind: str, **keys: Any) -> Input:
    return read_form({"inputs": [{"name": "it", "kind": kind, **keys}]}).inputs[0]


@pytest.mark.parametrize(
    ("kind", "value", "wanted"),
    [
        ("amount", 80, 80),
        ("amount", "$80", 80),
        ("amount", -80, UNDEFINED),
        ("amount", "80 or so many", 80),
        ("amount", float("inf"), UNDEFINED),
        ("number", float("nan"), UNDEFINED),
        ("number", -3, -3),
        ("number", "three", 3),
        ("yes-no", False, False),
        ("yes-no", "yes please", True),
        ("yes-no", "perhaps", UNDEFINED),
        ("date", "2031-07-04", "2031-07-04"),
        ("date", "tomorrow", "2026-01-02"),
        ("date", 5, UNDEFINED),
        ("digits", 4711, "4711"),
        ("phone", "202 555 0143", "+12025550143"),
        ("email", "Ann@EXAMPLE.com", "Ann@example.com"),
        ("name", " Ann. ", "Ann"),
        ("text", " so it is ", "so it is"),
        ("text", ["a"], UNDEFINED),
        ("text", "", UNDEFINED),
        ("text", None, UNDEFINED),
        ("name", UNDEFINED, UNDEFINED),
    ],
)
def test_a_value_from_elsewhere(kind: str, value: Any, wanted: Any) -> None:
    """A value of the right type is taken, a text is read like an answer, the rest is nothing."""
    kept = typed(entry(kind), value, "en", NOW)
    assert kept is wanted or kept == wanted
    assert type(kept) is type(wanted)


def test_a_choice_keeps_the_type_of_its_value() -> None:
    """A number among the choices stays one, and true is not 1."""
    choice = entry("choice", choices=["one", 2, True])
    assert typed(choice, 2, "en", NOW) == 2
    assert typed(choice, "2", "en", NOW) == 2
    assert typed(choice, True, "en", NOW) is True
    assert typed(choice, 3.5, "en", NOW) is UNDEFINED


def test_how_values_are_shown() -> None:
    """Amounts with their currency, yes and no in words."""
    assert shown_value(entry("amount", money={"currency": "USD"}), 80.5, "en") == "80.5 USD"
    assert shown_value(entry("amount"), 80, "en") == "80"
    assert shown_value(entry("yes-no"), True, "en") == "yes"
    assert shown_value(entry("yes-no"), False, "es") == "no"
    assert shown_value(entry("yes-no"), True, "es") == "sí"


@pytest.mark.parametrize(
    ("name", "label"),
    [("order_number", "order number"), ("orderNumber", "order number"), ("on", "on")],
)
def test_a_name_in_words(name: str, label: str) -> None:
    """What an input is called where it has no label."""
    assert words_of_name(name) == label
