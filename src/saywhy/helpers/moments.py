"""What time is it for a helper, and how is a day said?

Who calls hands in the time as `context`: the engine that of the step, so that a step says the
same again. A caller without an engine gets the machine's clock, or says `At(milliseconds)`.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from typing import Any, Final, Protocol

import msgspec

from saywhy.clock import SystemClock
from saywhy.helpers.wording import cardinal_words, ordinal_words
from saywhy.helpers.words import text_of
from saywhy.values import Date

_ISO: Final = re.compile(r"(\d{4})-(\d{2})-(\d{2})(?![\d])(.*)", re.DOTALL)
_YEAR: Final = re.compile(r"(?:\s*'[^']*')?[\s,]*y+\W?(?:年|년)?")
"""The year in a pattern of a language, with what links it to the rest."""
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


class HasTime(Protocol):
    """Whoever knows the time of a call."""

    def now(self) -> float:
        """Milliseconds since 1970, UTC."""
        ...


class At(msgspec.Struct, frozen=True):
    """A fixed time, for calls from Python and for tests."""

    milliseconds: float

    def now(self) -> float:
        """Milliseconds since 1970, UTC."""
        return self.milliseconds


def now_of(context: HasTime | None) -> float:
    """The time of a call, in milliseconds since 1970."""
    return (context or SystemClock()).now()


def day_of(milliseconds: float) -> date | None:
    """The day of a moment, in UTC; None for what is no moment."""
    try:
        return (_EPOCH + timedelta(milliseconds=milliseconds)).date()
    except (OverflowError, ValueError):
        return None


def date_to_words(
    value: Any = None, language: Any = "en", *, context: HasTime | None = None
) -> str:
    """A day as it is said: `Monday, November thirtieth`, `lunes treinta de noviembre`.

    Takes a date, a text such as `2026-11-30`, or milliseconds. The year follows when it is another
    than that of the conversation. English and Spanish are in words, other languages as they write a
    day. What is no day is given back as it is.
    """
    day = _day(value)
    if day is None:
        return text_of(value)
    own = text_of(language)[:2].lower() or "en"
    today = day_of(now_of(context))
    with_year = today is None or day.year != today.year
    if own not in {"en", "es"}:
        return _written(day, text_of(language), with_year=with_year)
    from babel.dates import get_day_names, get_month_names

    weekday = get_day_names("wide", locale=own)[day.weekday()]
    month = get_month_names("wide", locale=own)[day.month]
    if own == "en":
        said = f"{weekday}, {month} {ordinal_words(day.day)}"
        return f"{said}, {_english_year(day.year)}" if with_year else said
    number = "primero" if day.day == 1 else cardinal_words(day.day, "es")
    said = f"{weekday} {number} de {month}"
    return f"{said} de {cardinal_words(day.year, 'es')}" if with_year else said


def _day(value: Any) -> date | None:
    if isinstance(value, datetime):
        return value.date()
    if isinstance(value, date):
        return value
    if isinstance(value, Date):
        return day_of(value.milliseconds)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return day_of(value)
    found = _ISO.fullmatch(text_of(value).strip())
    if found is None or not (found[4] == "" or found[4][0] in "T "):
        return None
    try:
        return date(int(found[1]), int(found[2]), int(found[3]))
    except ValueError:
        return None


def _english_year(year: int) -> str:
    """`twenty twenty-six`, `nineteen oh five`, `two thousand seven`."""
    first, last = divmod(year, 100)
    if not 1100 <= year < 10_000 or (first % 10 == 0 and last < 10):
        return cardinal_words(year, "en")
    if last == 0:
        return f"{cardinal_words(first, 'en')} hundred"
    said = f"oh {cardinal_words(last, 'en')}" if last < 10 else cardinal_words(last, "en")
    return f"{cardinal_words(first, 'en')} {said}"


def _written(day: date, language: str, *, with_year: bool) -> str:
    from babel import Locale, UnknownLocaleError
    from babel.dates import format_date

    try:
        locale = Locale.parse(language.replace("-", "_"))
    except (UnknownLocaleError, ValueError):
        locale = Locale.parse("en")
    if with_year:
        return str(format_date(day, "full", locale=locale))
    pattern = _YEAR.sub("", locale.date_formats["full"].pattern)
    return str(format_date(day, pattern.strip(" ,"), locale=locale))
