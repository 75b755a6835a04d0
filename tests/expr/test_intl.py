"""Promise: numbers, dates and the order of texts are those of Node for American English.

Expected values were printed by Node 20 with `TZ=UTC`.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from .conftest import Runner

NUMBERS: list[tuple[str, dict[str, Any] | None, str]] = [
    ("1234567.891", None, "1,234,567.891"),
    ("1234.5678", None, "1,234.568"),
    ("999", None, "999"),
    ("-1234.567", None, "-1,234.567"),
    ("1.005", {"maximumFractionDigits": 2}, "1.01"),
    ("1e21", None, "1,000,000,000,000,000,000,000"),
    ("0.000001", None, "0"),
    ("-0", None, "-0"),
    ("NaN", None, "NaN"),
    ("Infinity", None, "∞"),
    ("12345678901234567890n", None, "12,345,678,901,234,567,890"),
    ("1234.5", {"style": "currency", "currency": "USD"}, "$1,234.50"),
    ("-5", {"style": "currency", "currency": "USD"}, "-$5.00"),
    ("-Infinity", {"style": "currency", "currency": "USD"}, "-$∞"),
    ("1234.5", {"style": "currency", "currency": "eur"}, "€1,234.50"),
    ("1234.5", {"style": "currency", "currency": "JPY"}, "¥1,235"),
    ("1234.5", {"style": "currency", "currency": "MXN"}, "MX$1,234.50"),
    ("12", {"style": "currency", "currency": "CHF"}, "CHF\u00a012.00"),
    ("12", {"style": "currency", "currency": "KWD"}, "KWD\u00a012.000"),
    ("1234.5", {"style": "currency", "currency": "USD", "minimumFractionDigits": 0}, "$1,234.5"),
    ("1234.5", {"style": "currency", "currency": "USD", "maximumFractionDigits": 0}, "$1,235"),
    (
        "1234.5",
        {"style": "currency", "currency": "USD", "currencyDisplay": "code"},
        "USD\u00a01,234.50",
    ),
    (
        "-1.25",
        {"style": "currency", "currency": "USD", "currencySign": "accounting"},
        "($1.25)",
    ),
    ("0.256", {"style": "percent"}, "26%"),
    ("0.256", {"style": "percent", "maximumFractionDigits": 1}, "25.6%"),
    ("1234.5", {"useGrouping": False}, "1234.5"),
    ("5", {"minimumIntegerDigits": 2}, "05"),
    ("123456", {"maximumSignificantDigits": 3}, "123,000"),
    ("1234567.891", {"minimumSignificantDigits": 9}, "1,234,567.891"),
    ("2.5", {"maximumFractionDigits": 0}, "3"),
    ("-2.5", {"maximumFractionDigits": 0}, "-3"),
    ("-0.001", {"maximumFractionDigits": 2}, "-0"),
    ("5", {"minimumFractionDigits": 3}, "5.000"),
    ("0.1 + 0.2", {"maximumFractionDigits": 20}, "0.30000000000000004"),
    ("1e15 + 0.5", None, "1,000,000,000,000,000.5"),
    ("3", {"signDisplay": "always"}, "+3"),
]

DATES: list[tuple[str, dict[str, Any], str]] = [
    ("Date", {}, "2/29/2024"),
    ("Date", {"month": "long"}, "February"),
    ("Date", {"month": "short", "day": "numeric"}, "Feb 29"),
    ("Date", {"weekday": "long"}, "Thursday"),
    ("Date", {"weekday": "short", "month": "short", "day": "numeric"}, "Thu, Feb 29"),
    ("Date", {"year": "numeric", "month": "2-digit", "day": "2-digit"}, "02/29/2024"),
    ("Date", {"year": "numeric", "month": "long", "day": "numeric"}, "February 29, 2024"),
    ("Date", {"dateStyle": "full"}, "Thursday, February 29, 2024"),
    ("Date", {"dateStyle": "medium"}, "Feb 29, 2024"),
    ("Date", {"dateStyle": "short"}, "2/29/24"),
    ("Date", {"month": "long", "year": "numeric"}, "February 2024"),
    ("Date", {"month": "numeric", "year": "numeric"}, "2/2024"),
    ("Date", {"weekday": "long", "day": "numeric"}, "29 Thursday"),
    ("Date", {"month": "short", "year": "2-digit"}, "Feb 24"),
    ("Time", {}, "12:04:06 AM"),
    ("Time", {"hour": "numeric"}, "12 AM"),
    ("Time", {"hour": "2-digit", "minute": "2-digit"}, "12:04 AM"),
    ("Time", {"hour": "numeric", "minute": "2-digit", "hour12": False}, "24:04"),
    ("Time", {"hourCycle": "h23"}, "00:04:06"),
    ("Time", {"timeStyle": "short"}, "12:04 AM"),
    ("Time", {"timeStyle": "full"}, "12:04:06 AM Coordinated Universal Time"),
    ("Time", {"minute": "2-digit", "second": "2-digit"}, "04:06"),
    ("Time", {"timeZoneName": "short"}, "12:04:06 AM UTC"),
    ("", {}, "1/5/2024, 12:04:06 AM"),
    ("", {"dateStyle": "full", "timeStyle": "short"}, "Friday, January 5, 2024 at 12:04 AM"),
    ("", {"dateStyle": "medium", "timeStyle": "short"}, "Jan 5, 2024, 12:04 AM"),
    ("", {"month": "long", "day": "numeric", "hour": "numeric"}, "January 5 at 12 AM"),
    ("", {"weekday": "long", "hour": "numeric"}, "Friday 12 AM"),
    ("", {"hour": "numeric"}, "12 AM"),
]


@pytest.mark.parametrize(("number", "options", "expected"), NUMBERS)
def test_numbers(run: Runner, number: str, options: dict[str, Any] | None, expected: str) -> None:
    """`toLocaleString` and `Intl.NumberFormat` write numbers, percentages and money."""
    given = "undefined" if options is None else json.dumps(options)
    assert run.value(f"({number}).toLocaleString('en-US', {given})") == expected
    assert run.value(f"new Intl.NumberFormat('en-US', {given}).format({number})") == expected


@pytest.mark.parametrize(("part", "options", "expected"), DATES)
def test_dates(run: Runner, part: str, options: dict[str, Any], expected: str) -> None:
    """`toLocaleString` and its two relatives write dates and times, in UTC."""
    when = "2024-02-29T12:34:56.789Z" if part == "Date" else "2024-01-05T00:04:06Z"
    source = f"new Date('{when}').toLocale{part}String('en-US', {json.dumps(options)})"
    assert run.value(source) == expected


def test_texts_are_sorted_as_a_reader_expects(run: Runner) -> None:
    """Marks before digits before letters; accents and capitals count only between equals."""
    characters = (
        "_-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$0123456789aAbBzZ éèñßæøåÀçüöäł–—…“”‘’¿¡«»§¶©®°±×÷"
        "€£¥¢½²³αβΑЖжא日あア가"
    )
    expected = (
        " _-–—,;:!¡?¿.…'‘’\"“”«»()[]{}§¶@*/\\&#%`^°©®+±÷×<=>|~¢$£¥€01½2²3³456789"
        "aAÀåäæbBçéèłñöøßüzZαΑβжЖאあア가日"
    )
    found = run.value("[...c].sort((a, b) => a.localeCompare(b)).join('')", {"c": characters})
    assert found == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("'a'.localeCompare('B')", -1),
        ("'résumé'.localeCompare('resume')", 1),
        ("'a'.localeCompare('A')", -1),
        ("'a'.localeCompare('a')", 0),
        ("'a'.localeCompare('b', 'en')", -1),
        ("'ab'.localeCompare('a')", 1),
        ("'日本語'.localeCompare('日本')", 1),
        ("'a'.localeCompare('á', 'en', {sensitivity: 'base'})", 0),
        ("'a'.localeCompare('A', undefined, {sensitivity: 'accent'})", 0),
        ("'item 10'.localeCompare('item 9', undefined, {numeric: true})", 1),
        ("'Straße'.localeCompare('Strasse')", 1),
        ("['b', 'a', 'C'].sort(new Intl.Collator().compare).join('')", "abC"),
        ("'İ'.localeCompare('i') !== 0", True),
    ],
)
def test_order(run: Runner, source: str, expected: Any) -> None:
    """`localeCompare` and `Intl.Collator` order texts, with the usual options."""
    assert run.value(source) == expected


def test_a_currency_needs_its_code(run: Runner) -> None:
    """Options that cannot be are errors of the kind that Node raises."""
    raised = run.raised("(1).toLocaleString('en-US', {style: 'currency'})")
    assert (raised.kind, raised.message) == (
        "TypeError",
        "Currency code is required with currency style.",
    )


def test_lists(run: Runner) -> None:
    """A list writes its items with the same language and options."""
    assert run.value("[1234.5, null, 'a'].toLocaleString('en-US')") == "1,234.5,,a"
    assert run.value("new Date(NaN).toLocaleString()") == "Invalid Date"
