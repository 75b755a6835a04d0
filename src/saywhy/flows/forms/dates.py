"""Dates in an answer as ISO texts: `2026-07-04`, "July 4", "el 4 de julio", "tomorrow".

What "tomorrow" is goes by the time the turn runs at, in UTC. A weekday is the first such day after
today, a date without a year the first such day from today on. What is no day (30 February) is no
date.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, timedelta
from functools import partial
from typing import Final

from saywhy.flows.forms.spans import Span

_MONTHS: Final = {
    "en": "january february march april may june july august september october november december",
    "es": "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre "
    "diciembre",
}
_DAYS: Final = {
    "en": "monday tuesday wednesday thursday friday saturday sunday",
    "es": "lunes martes miércoles jueves viernes sábado domingo",
}
_NEAR: Final = {
    "en": {"day after tomorrow": 2, "tomorrow": 1, "today": 0, "tonight": 0, "yesterday": -1},
    "es": {"pasado mañana": 2, "mañana": 1, "hoy": 0, "anteayer": -2, "ayer": -1},
}
_COUNTS: Final = {
    "en": ["a", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"],
    "es": ["un", "dos", "tres", "cuatro", "cinco", "seis", "siete", "ocho", "nueve", "diez"],
}
_IN: Final = {
    "en": re.compile(r"\bin (\d{1,3}|[a-z]+) (day|week)s?\b", re.IGNORECASE),
    "es": re.compile(r"\b(?:en|dentro de) (\d{1,3}|[a-z]+) (d[ií]a|semana)s?\b", re.IGNORECASE),
}
_ISO: Final = re.compile(r"(?<!\d)(\d{4})-(\d{1,2})-(\d{1,2})(?!\d)")
_NUMERIC: Final = re.compile(r"(?<![\d/.])(\d{1,2})[/.](\d{1,2})(?:[/.](\d{4}|\d{2}))?(?![\d/])")
_MORNING: Final = re.compile(r"(?:por|de|en|esta) (?:la )?$", re.IGNORECASE)

Made = tuple[int, int, date]


def dates(text: str, language: str, now_ms: float) -> list[Span]:
    """The dates in a text, in its order."""
    day_first = language[:2] != "en"
    language = "es" if language[:2] == "es" else "en"
    today = datetime.fromtimestamp(now_ms / 1000, UTC).date()
    found: list[Span] = []
    numeric = [_numeric(text, day_first=day_first, today=today)]
    for made in [*(reader(text, language, today) for reader in _READERS), *numeric]:
        for start, end, day in made:
            span = Span(start, end, day.isoformat(), plain=False)
            if not any(span.overlaps(other) for other in found):
                found.append(span)
    return sorted(found, key=lambda span: span.start)


def _iso(text: str, language: str, today: date) -> Iterator[Made]:
    for match in _ISO.finditer(text):
        day = _day(int(match[1]), int(match[2]), int(match[3]))
        if day is not None:
            yield match.start(), match.end(), day


def _numeric(text: str, *, day_first: bool, today: date) -> Iterator[Made]:
    """`12/31` in English, `31/12` and `31.12.2031` in other languages."""
    for match in _NUMERIC.finditer(text):
        if match[3] is None and "." in match[0]:
            continue  # 3.5 is a number
        first, second = int(match[1]), int(match[2])
        month, day = (second, first) if day_first else (first, second)
        made = _dated(match[3], month, day, today)
        if made is not None:
            yield match.start(), match.end(), made


def _spelled(text: str, language: str, today: date) -> Iterator[Made]:
    months = _MONTHS[language].split()
    names = "|".join(rf"{name}|{name[:3]}\.?" for name in months)
    year = r"(?:,? (?:de |del )?(\d{4}))?"
    day = r"(\d{1,2})(?:st|nd|rd|th|º)?"
    if language == "es":
        forms = [(rf"\b(?:el )?{day} de ({names}){year}(?!\w)", 1, 2)]
    else:
        forms = [
            (rf"\b({names}) (?:the )?{day}(?!\w){year}(?!\w)", 2, 1),
            (rf"\b(?:the )?{day} (?:of )?({names}){year}(?!\w)", 1, 2),
        ]
    for form, at_day, at_month in forms:
        for match in re.finditer(form, text, re.IGNORECASE):
            word = match[at_month].lower().rstrip(".")[:3]
            month = [name[:3] for name in months].index(word) + 1
            made = _dated(match[3], month, int(match[at_day]), today)
            if made is not None:
                yield match.start(), match.end(), made


def _near(text: str, language: str, today: date) -> Iterator[Made]:
    for words, days in _NEAR[language].items():
        for match in re.finditer(rf"(?<!\w)(?:the )?{words}(?!\w)", text, re.IGNORECASE):
            if words == "mañana" and _MORNING.search(text, 0, match.start()):
                continue
            yield match.start(), match.end(), today + timedelta(days)


def _in_some_days(text: str, language: str, today: date) -> Iterator[Made]:
    counts = _COUNTS[language]
    for match in _IN[language].finditer(text):
        word = match[1].lower()
        if not word.isdecimal() and word not in counts:
            continue
        number = int(word) if word.isdecimal() else counts.index(word) + (language == "es")
        if language == "en" and not word.isdecimal():
            number = max(number, 1)
        days = number * (7 if match[2].lower() in ("week", "semana") else 1)
        yield match.start(), match.end(), today + timedelta(days)


def _weekday(text: str, language: str, today: date) -> Iterator[Made]:
    lead = r"(?:el |este |el próximo |próximo )?" if language == "es" else r"(?:this |next |on )?"
    tail = r"(?: que viene| próximo)?" if language == "es" else ""
    for number, name in enumerate(_DAYS[language].split()):
        for match in re.finditer(rf"(?<!\w){lead}{name}{tail}(?!\w)", text, re.IGNORECASE):
            ahead = (number - today.weekday() - 1) % 7 + 1
            yield match.start(), match.end(), today + timedelta(ahead)


_READERS: Final[tuple[Callable[[str, str, date], Iterator[Made]], ...]] = (
    _iso,
    _spelled,
    _near,
    _in_some_days,
    _weekday,
)


def _dated(year: str | None, month: int, day: int, today: date) -> date | None:
    """The day; without a year the next one from today on."""
    if year is not None:
        return _day(int(year) + (2000 if len(year) == 2 else 0), month, day)
    tried = map(partial(_in_year, month, day), range(today.year, today.year + 9))
    return next((made for made in tried if made is not None and made >= today), None)


def _in_year(month: int, day: int, year: int) -> date | None:
    return _day(year, month, day)


def _day(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None
