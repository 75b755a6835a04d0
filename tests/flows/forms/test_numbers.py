"""Numbers and amounts in an answer."""

from __future__ import annotations

from typing import Any

import pytest

from saywhy.flows.forms.numbers import amounts, numbers

DOLLARS = {"currency": "USD", "cardinals": True, "intent": "payment"}


def values(text: str, language: str = "en") -> list[Any]:
    return [span.value for span in numbers(text, language)]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("80", [80]),
        ("1,234", [1234]),
        ("1,234.50", [1234.5]),
        ("1.234,50", [1234.5]),
        ("12.5", [12.5]),
        ("20 30", [20, 30]),
        ("-5 and minus 7", [-5, -7]),
        ("minus five", [-5]),
        ("one hundred and twenty three", [123]),
        ("to the one", []),
        ("one", [1]),
        ("20%", []),
        ("$80", []),
        ("no digits", []),
    ],
)
def test_numbers_in_english(text: str, wanted: list[Any]) -> None:
    """Digits with either decimal sign, words, signs; no shares, no money, no article."""
    assert values(text) == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("ochenta y cinco", [85]),
        ("mil doscientos", [1200]),
        ("menos cinco", [-5]),
        ("un amigo", []),
        ("cien", [100]),
    ],
)
def test_numbers_in_spanish(text: str, wanted: list[Any]) -> None:
    """The same in Spanish."""
    assert values(text, "es") == wanted


@pytest.mark.parametrize("text", ["2031-07-04", "12/31", "10:30", "abc80", "2025550143"])
def test_parts_of_other_things_are_no_numbers(text: str) -> None:
    """A date, a time, a word with digits or a number to be dialled holds no number."""
    assert values(text) == []


def found(text: str, language: str = "en", **money: Any) -> list[tuple[Any, bool, str]]:
    profile = money or DOLLARS
    return [(one.value, one.plain, one.refused) for one in amounts(text, language, profile)]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("$80", (80, False, "")),
        ("80 dollars", (80, False, "")),
        ("80 USD", (80, False, "")),
        ("80 bucks", (80, False, "")),
        ("eighty dollars and 50 cents", (80.5, False, "")),
        ("50 cents", (0.5, False, "")),
        ("pay 80", (80, False, "")),
        ("80", (80, True, "")),
        ("80 euros", (80, False, "80 euros")),
        ("€80", (80, False, "€80")),
        ("80 pesos", (80, False, "80 pesos")),
    ],
)
def test_amounts_of_a_profile(text: str, wanted: tuple[Any, bool, str]) -> None:
    """A sign, a name or a verb says that a number is an amount; another currency is refused."""
    assert found(text) == [wanted]


def test_without_cardinals() -> None:
    """A bare number is no amount, unless a word of the intent stands before it."""
    assert found("80", currency="USD") == []
    assert found("$80", currency="USD") == [(80, False, "")]
    assert found("pay 80", currency="USD", intent="payment") == [(80, False, "")]


def test_a_sign_that_several_currencies_share() -> None:
    """`$` and dollars are of each country that writes them so."""
    assert found("$80", currency="MXN") == [(80, False, "")]
    assert found("80 dollars", currency="CAD") == [(80, False, "")]
    assert found("80 pesos", currency="MXN") == [(80, False, "")]
    assert found("80 dólares", "es", currency="MXN") == [(80, False, "80 dólares")]


def test_without_a_profile() -> None:
    """Any currency is taken, and a negative amount is none."""
    assert found("80 euros", kind="none") == [(80, False, "")]
    assert found("80", kind="none") == [(80, True, "")]
    assert found("-80", kind="none") == []


def test_more_decimals_than_the_currency_has() -> None:
    """Such an amount is none."""
    assert found("80.125 dollars") == []
    assert found("80.5 yen", currency="JPY") == []
    assert found("80 yen", currency="JPY") == [(80, False, "")]


def test_spanish_amounts() -> None:
    """The words of currencies are understood in Spanish."""
    assert found("ochenta dólares con 50 centavos", "es") == [(80.5, False, "")]
