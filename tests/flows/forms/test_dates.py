"""Dates in an answer."""

from __future__ import annotations

import pytest

from saywhy.flows.forms.dates import dates
from tests.flows.conftest import NOW  # a Thursday, 1 January 2026

CASES = [
    ("2026-02-03", "en", "2026-02-03"),
    ("today", "en", "2026-01-01"),
    ("tomorrow", "en", "2026-01-02"),
    ("the day after tomorrow", "en", "2026-01-03"),
    ("yesterday", "en", "2025-12-31"),
    ("in 3 days", "en", "2026-01-04"),
    ("in two weeks", "en", "2026-01-15"),
    ("friday", "en", "2026-01-02"),
    ("next thursday", "en", "2026-01-08"),
    ("July 4", "en", "2026-07-04"),
    ("july 4th, 2031", "en", "2031-07-04"),
    ("the 4th of July 2031", "en", "2031-07-04"),
    ("Jan. 1", "en", "2026-01-01"),
    ("12/31", "en", "2026-12-31"),
    ("12/31/27", "en", "2027-12-31"),
    ("29 February", "en", "2028-02-29"),
    ("hoy", "es", "2026-01-01"),
    ("mañana", "es", "2026-01-02"),
    ("pasado mañana", "es", "2026-01-03"),
    ("ayer", "es", "2025-12-31"),
    ("en dos días", "es", "2026-01-03"),
    ("dentro de 2 semanas", "es", "2026-01-15"),
    ("el viernes", "es", "2026-01-02"),
    ("el jueves que viene", "es", "2026-01-08"),
    ("el 4 de julio", "es", "2026-07-04"),
    ("4 de julio de 2031", "es", "2031-07-04"),
    ("31/12", "es", "2026-12-31"),
    ("31.12.2031", "de", "2031-12-31"),
    ("04/07/2031", "fr", "2031-07-04"),
    ("07/04/2031", "en", "2031-07-04"),
]


@pytest.mark.parametrize(("text", "language", "wanted"), CASES)
def test_a_date_is_its_day(text: str, language: str, wanted: str) -> None:
    """A date alone and in a sentence is the same day, found where it stands."""
    (alone,) = dates(text, language, NOW)
    assert alone.value == wanted
    sentence = f"bob, {text}, ok"
    (within,) = dates(sentence, language, NOW)
    assert within.value == wanted
    assert text.removeprefix("the ") in sentence[within.start : within.end]


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("February 30", "en"),
        ("2026-13-01", "en"),
        ("31/12", "en"),
        ("12/31", "es"),
        ("3.5", "en"),
        ("mañana", "en"),
        ("por la mañana", "es"),
        ("in the days", "en"),
        ("5551234", "en"),
    ],
)
def test_what_is_no_date(text: str, language: str) -> None:
    """A day there is not, a decimal, a part of the day: no date."""
    assert dates(text, language, NOW) == []


def test_several_dates_in_the_order_of_the_text() -> None:
    """Each date once, in order."""
    found = dates("from July 4 to tomorrow", "en", NOW)
    assert [span.value for span in found] == ["2026-07-04", "2026-01-02"]
