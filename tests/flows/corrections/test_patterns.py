"""The plain forms of a correction: what is one, what is none, and how long it takes to tell."""

from __future__ import annotations

import time

import pytest

from saywhy.flows.corrections.patterns import MAX_LENGTH, built_in, cleaned, fold

EN = ("amount", "due date", "sum")
ES = ("monto", "fecha", "dirección")


def first(text: str, language: str, names: tuple[str, ...]) -> tuple[str, str] | None:
    return next(built_in(text, language, names), None)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("no, the amount is 80", ("amount", "80")),
        ("No the amount should be 80!", ("amount", "80")),
        ("actually, change the due date to Friday", ("due date", "Friday")),
        ("The amount is 80, not 50", ("amount", "80")),
        ("the amount should be 80", ("amount", "80")),
        ("sorry, I meant the sum was 80.50.", ("sum", "80.50")),
        ("make the amount 80 please", ("amount", "80")),
        ("could you set my amount to 1,000?", ("amount", "1,000")),
        ("wait, amount: 80", ("amount", "80")),
        ('no, the amount is "80"', ("amount", "80")),
    ],
)
def test_english_forms(text: str, found: tuple[str, str]) -> None:
    """A name, a word that corrects, and the value without the marks of the sentence."""
    assert first(text, "en", EN) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("el monto es 80, no 50", ("monto", "80")),
        ("el monto es de $80, no de 50", ("monto", "$80")),
        ("no, el monto es de 80", ("monto", "80")),
        ("no, la dirección es de la Vega 3", ("direccion", "de la Vega 3")),
        ("No, la fecha es el viernes", ("fecha", "el viernes")),
        ("¡Perdón, el monto es 80!", ("monto", "80")),
        ("cambia la fecha al viernes", ("fecha", "viernes")),
        ("en realidad la direccion es Calle Ñ 3", ("direccion", "Calle Ñ 3")),
        ("pon el monto en 80, por favor", ("monto", "80")),
        ("el monto debe ser 80", ("monto", "80")),
        ("corrige el monto a 80", ("monto", "80")),
    ],
)
def test_spanish_forms(text: str, found: tuple[str, str]) -> None:
    """With and without accents; the value keeps the letters it was written with."""
    assert first(text, "es", ES) == found


@pytest.mark.parametrize(
    "text",
    [
        "the amount is 80",
        "no",
        "80",
        "no, the amount is wrong",
        "no, the amount is not 50",
        "no, the colour is red",
        "is the amount 80?",
        "no, the amount",
        "x" * (MAX_LENGTH + 1),
    ],
)
def test_what_is_no_correction(text: str) -> None:
    """Without a word that corrects, a known name and a value it is none."""
    assert first(text, "en", EN) is None


def test_other_languages_have_no_forms() -> None:
    """They go by patterns of the author's, or by a model."""
    assert first("non, amount: 80", "fr", EN) is None
    assert first("no, the amount is 80", "en", ()) is None


def test_folding_keeps_places() -> None:
    """What is found in the folded text stands at the same place in the text itself."""
    for text in ("ÁÉ ñ", "straße İ", "日本", "e\u0301"):
        assert len(fold(text)) == len(text)
    assert fold("DIRECCIÓN") == "direccion"
    assert cleaned(' "80". ') == "80"


def test_no_message_takes_long() -> None:
    """The worst of what fits is told in well under a second."""
    hostile = ["no, " * 70, "no no " * 49, "the amount is " * 21, "make the amount " * 18]
    began = time.perf_counter()
    for text in hostile:
        list(built_in(text[:MAX_LENGTH], "en", EN))
        list(built_in(text[:MAX_LENGTH], "es", EN))
    assert time.perf_counter() - began < 2
