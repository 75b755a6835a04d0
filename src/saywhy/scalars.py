"""What JavaScript adds to the values of JSON: undefined, NaN and the infinities, BigInt, dates."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime
from functools import lru_cache
from typing import Any, Final, Self

_FIRST_DAY: Final = date(1970, 1, 1).toordinal()
_DAY: Final = 86_400_000
_TWO: Final = [f"{number:02d}" for number in range(60)]


class _Undefined:
    """JavaScript's `undefined`: the absence of a value, which is not `null`."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "UNDEFINED"

    def __bool__(self) -> bool:
        return False

    def __reduce__(self) -> str:
        return "UNDEFINED"

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self


UNDEFINED: Final = _Undefined()


class NonFinite(float):
    """NaN or an infinity. A float in every respect, but one that a JSON writer hands back to us.

    JSON writers turn NaN into null without a word; a subclass is the only float they ask about.
    """

    __slots__ = ()


class BigInt:
    """A JavaScript BigInt, kept apart from numbers: `10n / 3n` is `3n`."""

    __slots__ = ("value",)

    def __init__(self, value: int) -> None:
        self.value: Final = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, BigInt) and self.value == other.value

    def __hash__(self) -> int:
        return hash(("BigInt", self.value))

    def __repr__(self) -> str:
        return f"BigInt({self.value})"

    def __str__(self) -> str:
        return str(self.value)


class Date:
    """A JavaScript Date: milliseconds since 1970 in UTC; NaN for an invalid date."""

    __slots__ = ("milliseconds",)

    def __init__(self, milliseconds: float) -> None:
        self.milliseconds: Final = milliseconds

    @classmethod
    def from_datetime(cls, moment: datetime) -> Date:
        """The date of `moment`; a moment without a time zone is taken as UTC."""
        aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return cls(math.floor(aware.timestamp() * 1000))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Date) and same_number(self.milliseconds, other.milliseconds)

    def __hash__(self) -> int:
        return hash(("Date", self.milliseconds))

    def __repr__(self) -> str:
        return f"Date({self.milliseconds!r})"

    def __str__(self) -> str:
        return iso_from_milliseconds(self.milliseconds) or "Invalid Date"


def iso_from_milliseconds(milliseconds: float) -> str | None:
    """`2026-01-31T12:00:00.000Z`, or None where no calendar date fits."""
    try:
        days, left = divmod(math.floor(milliseconds), _DAY)
        day = _day(days)
    except (ValueError, OverflowError):
        return None
    seconds, rest = divmod(left, 1000)
    minutes = seconds // 60
    time = f"{_TWO[minutes // 60]}:{_TWO[minutes % 60]}:{_TWO[seconds % 60]}"
    return f"{day}T{time}.{rest:03d}Z"


@lru_cache(maxsize=64)
def _day(days: int) -> str:
    """The date so many days after the first of 1970. Raises `ValueError`, `OverflowError`."""
    return date.fromordinal(_FIRST_DAY + days).isoformat()


def same_number(one: float, other: float) -> bool:
    """Whether two numbers are the same as a conversation sees it: NaN is NaN, 0 is not -0."""
    if math.isnan(one) or math.isnan(other):
        return math.isnan(one) and math.isnan(other)
    return one == other and math.copysign(1, one) == math.copysign(1, other)


def date_from_tag(text: str | float | None) -> Date:
    """The date behind what stands in a `$date` tag."""
    if text is None:
        return Date(math.nan)
    if isinstance(text, str):
        return Date.from_datetime(datetime.fromisoformat(text))
    return Date(text)


def date_tag(date: Date) -> Any:
    """What stands in a `$date` tag: ISO text, a number out of its range, None if invalid."""
    if math.isnan(date.milliseconds):
        return None
    return iso_from_milliseconds(date.milliseconds) or date.milliseconds


def number_from_tag(text: str) -> float:
    """The number behind what stands in a `$num` tag."""
    return -0.0 if text == "-0" else NonFinite(text.replace("Infinity", "inf"))


def number_tag(number: float) -> str:
    """What stands in the `$num` tag of NaN or an infinity."""
    if math.isnan(number):
        return "NaN"
    return "Infinity" if number > 0 else "-Infinity"
