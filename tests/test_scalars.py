"""Moments as texts: the same as a calendar says, wherever it has a date."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta

import pytest

from saywhy.scalars import iso_from_milliseconds

FIRST = datetime(1970, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("milliseconds", "text"),
    [
        (0, "1970-01-01T00:00:00.000Z"),
        (-1, "1969-12-31T23:59:59.999Z"),
        (-1e-7, "1969-12-31T23:59:59.999Z"),
        (1_709_251_199_999.9, "2024-02-29T23:59:59.999Z"),
        (-62_135_596_800_000, "0001-01-01T00:00:00.000Z"),
        (253_402_300_799_999, "9999-12-31T23:59:59.999Z"),
    ],
)
def test_a_moment(milliseconds: float, text: str) -> None:
    """To the millisecond, never rounded up; before 1970 as well."""
    assert iso_from_milliseconds(milliseconds) == text


def test_many_moments() -> None:
    """Each as the standard library writes it."""
    for number in range(2000):
        moment = FIRST + timedelta(milliseconds=number * 7_654_321_987 - 9_000_000_000_000)
        expected = moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
        assert iso_from_milliseconds((moment - FIRST) / timedelta(milliseconds=1)) == expected


@pytest.mark.parametrize(
    "milliseconds",
    [-62_135_596_800_001, 253_402_300_800_000, 1e300, -1e300, math.inf, -math.inf, math.nan],
)
def test_no_moment(milliseconds: float) -> None:
    """Where no calendar has a date there is none."""
    assert iso_from_milliseconds(milliseconds) is None
