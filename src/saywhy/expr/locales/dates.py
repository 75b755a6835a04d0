"""How does a language write a date and a time of day?

In parts, pairs of kind and text, as `formatToParts` gives them. The calendar is the Gregorian one
in every language. Which pattern fits the options is found in `skeletons`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from functools import lru_cache
from typing import Any, Final
from zoneinfo import ZoneInfo, available_timezones

from babel.core import get_global
from babel.dates import DateTimeFormat as Fields

from saywhy.expr.locales.digits import Refused
from saywhy.expr.locales.numbers import Part, Parts, merged
from saywhy.expr.locales.skeletons import (
    Field,
    Token,
    is_date,
    kind_of,
    pattern_for,
    tokens_of,
)
from saywhy.expr.locales.tables import has_true_minus, joined_at
from saywhy.expr.locales.tags import tongue_of

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST: Final = -62_135_510_400_000
_LAST: Final = 253_402_214_400_000
"""The milliseconds of the years that Python knows, 1 to 9999, in any zone."""

DATE: Final = ("weekday", "year", "month", "day")
TIME: Final = ("hour", "minute", "second", "dayPeriod", "fractionalSecondDigits")
_BESIDE_STYLES: Final = ("era", *DATE, *TIME, "timeZoneName")

_LENGTHS: Final = {"numeric": 1, "2-digit": 2, "short": 3, "long": 4, "narrow": 5}
_LETTERS: Final = {
    "era": "G",
    "year": "y",
    "month": "M",
    "weekday": "E",
    "day": "d",
    "dayPeriod": "B",
    "hour": "h",
    "minute": "m",
    "second": "s",
}
_ZONES: Final[dict[str, Field]] = {
    "short": ("z", 1),
    "long": ("z", 4),
    "shortOffset": ("O", 1),
    "longOffset": ("O", 4),
    "shortGeneric": ("v", 1),
    "longGeneric": ("v", 4),
}
_CYCLES: Final = {"h11": "K", "h12": "h", "h23": "H", "h24": "k"}
_TYPES: Final = {
    "G": "era",
    "y": "year",
    "M": "month",
    "E": "weekday",
    "d": "day",
    "a": "dayPeriod",
    "h": "hour",
    "m": "minute",
    "s": "second",
    "S": "fractionalSecond",
    "z": "timeZoneName",
}


class DateTimeFormat:
    """A way to write dates, settled once for its options."""

    def __init__(self, tags: list[str], options: Mapping[str, Any]) -> None:
        self.tongue = tongue_of(tags, options.get("numberingSystem", ""))
        self.options = dict(options)
        self._check_calendar()
        self.zone_name, self.zone = zone_of(self.options.get("timeZone", "UTC"))
        self._check_styles()
        self._complete()
        self.cycle = self._hour_cycle()
        self.tokens = tuple(self._tokens())

    # --------------------------------------------------------------- options

    def _check_calendar(self) -> None:
        asked = self.options.get("calendar", "gregory")
        if asked not in ("gregory", "gregorian"):
            raise Refused(f"the calendar {asked} is not available in expressions; gregory is")

    def _check_styles(self) -> None:
        styles = [name for name in ("dateStyle", "timeStyle") if name in self.options]
        needed = self.options.get("needed", "any")
        wrong = {"date": "timeStyle", "time": "dateStyle"}.get(needed, "")
        for name in _BESIDE_STYLES if styles else ():
            if name in self.options:
                raise Refused(f"Can't set option {name} when {styles[0]} is used", "TypeError")
        if wrong in styles:
            raise Refused(f"Invalid option : {wrong}", "TypeError")

    def _complete(self) -> None:
        """Say what is to be written where the options say nothing."""
        options = self.options
        if "dateStyle" in options or "timeStyle" in options:
            return
        needed, usual = options.get("needed", "any"), options.get("usual", "date")
        asked = {"date": DATE, "time": TIME}.get(needed, (*DATE, *TIME))
        if any(name in options for name in asked):
            return
        if usual in ("date", "all"):
            options.update(dict.fromkeys(("year", "month", "day"), "numeric"))
        if usual in ("time", "all"):
            options.update(dict.fromkeys(("hour", "minute", "second"), "numeric"))

    def _hour_cycle(self) -> str:
        short = tokens_of(self.tongue.locale.time_formats["short"].pattern)
        usual = next((token[0] for token in short if token[0][:1] in "hHkK"), "H")
        if "hour12" in self.options:
            # Node counts from nought where the language usually does, also on a clock of twelve.
            if self.options["hour12"]:
                return "h" if usual in "hk" else "K"
            return "k" if usual in "hk" else "H"
        asked = self.options.get("hourCycle") or self.tongue.keyword("hc")
        return _CYCLES.get(asked, usual)

    def resolved(self) -> dict[str, Any]:
        """What `resolvedOptions` gives."""
        told: dict[str, Any] = {
            "locale": self.tongue.tag,
            "calendar": "gregory",
            "numberingSystem": self.tongue.digits,
            "timeZone": self.zone_name,
        }
        if any(isinstance(token, tuple) and token[0] in "hHkK" for token in self.tokens):
            told["hourCycle"] = next(key for key, value in _CYCLES.items() if value == self.cycle)
            told["hour12"] = self.cycle in "hK"
        names = (*_BESIDE_STYLES, "dateStyle", "timeStyle")
        return told | {name: self.options[name] for name in names if name in self.options}

    # --------------------------------------------------------------- patterns

    def _tokens(self) -> list[Token]:
        if "dateStyle" in self.options or "timeStyle" in self.options:
            return self._styled()
        fields = self._fields()
        whole = pattern_for(self.tongue.locale, fields)
        if whole is not None:
            return self._with_fraction(whole)
        days = [field for field in fields if is_date(field)]
        times = [field for field in fields if not is_date(field)]
        if not days or not times:
            return self._with_fraction(self._pattern(fields))
        month = self.options.get("month")
        length = {"long": "long", "short": "medium"}.get(str(month), "short")
        length = "full" if length == "long" and "weekday" in self.options else length
        return self._joined(self._pattern(days), self._with_fraction(self._pattern(times)), length)

    def _fields(self) -> list[Field]:
        """What the options ask for, as the letters of a pattern."""
        fields: list[Field] = []
        for name, letter in _LETTERS.items():
            if name not in self.options or (name == "dayPeriod" and "hour" not in self.options):
                continue
            if name == "dayPeriod" and self.cycle not in "hK":
                continue
            length = _LENGTHS[self.options[name]]
            if name == "era":
                length = {3: 1, 4: 4, 5: 5}[length]
            fields.append((self.cycle if name == "hour" else letter, length))
        if "timeZoneName" in self.options:
            fields.append(_ZONES[self.options["timeZoneName"]])
        return fields

    def _pattern(self, fields: Sequence[Field]) -> list[Token]:
        """A pattern for the fields, put together where the language has none for all of them."""
        found = pattern_for(self.tongue.locale, fields)
        if found is not None:
            return found
        if len(fields) == 1:
            letter, length = fields[0]
            return [("L", length) if letter == "M" else (letter, length)]
        for left_out in ("z", "G", "E", "a", "s", "m", "y", "d"):
            rest = [field for field in fields if kind_of(field[0]) != left_out]
            if rest and len(rest) < len(fields):
                missing = next(field for field in fields if kind_of(field[0]) == left_out)
                return [*self._pattern(rest), " ", missing]
        return [token for field in fields for token in (field, " ")][:-1]

    def _with_fraction(self, tokens: list[Token]) -> list[Token]:
        digits = self.options.get("fractionalSecondDigits")
        if digits not in (1, 2, 3):
            return tokens
        fraction: Field = ("S", digits)
        made: list[Token] = []
        for token in tokens:
            made.append(token)
            if token[0] == "s" and isinstance(token, tuple):
                made += [str(self.tongue.symbols["decimal"]), fraction]
        return made if fraction in made else [*made, fraction]

    def _styled(self) -> list[Token]:
        locale = self.tongue.locale
        date, time = self.options.get("dateStyle"), self.options.get("timeStyle")
        if time is None:
            return tokens_of(locale.date_formats[date].pattern)
        clock = self._clock(tokens_of(locale.time_formats[time].pattern))
        if date is None:
            return clock
        return self._joined(tokens_of(locale.date_formats[date].pattern), clock, date)

    def _clock(self, tokens: list[Token]) -> list[Token]:
        """The pattern of a time of day on the clock that is wanted."""
        own = next(token for token in tokens if token[0][:1] in "hHkK" and len(token) == 2)
        assert isinstance(own, tuple)
        if (own[0] in "hK") != (self.cycle in "hK"):
            fields = [
                token for token in tokens if isinstance(token, tuple) and token[0] not in "abB"
            ]
            wanted = [
                (self.cycle, 1) if letter in "hHkK" else (letter, 1 if letter in "ms" else length)
                for letter, length in fields
            ]
            tokens = self._pattern(wanted)
        return [
            (self.cycle, own[1]) if isinstance(token, tuple) and token[0] in "hHkK" else token
            for token in tokens
        ]

    def _joined(self, date: list[Token], time: list[Token], length: str) -> list[Token]:
        locale = self.tongue.locale
        pattern = joined_at(locale, length) if length in ("full", "long") else None
        pattern = pattern or str(locale.datetime_formats[length])
        made: list[Token] = []
        rest = pattern.replace("''", "\0").replace("'", "").replace("\0", "'")
        while rest:
            at = (
                min(rest.find(mark) for mark in ("{0}", "{1}") if mark in rest)
                if ("{0}" in rest or "{1}" in rest)
                else len(rest)
            )
            made.append(rest[:at])
            made += {"{0}": time, "{1}": date}.get(rest[at : at + 3], [])
            rest = rest[at + 3 :]
        return made

    # --------------------------------------------------------------- writing

    def parts(self, at_ms: float) -> Parts:
        """The moment in parts."""
        if not _FIRST <= at_ms <= _LAST:
            raise Refused("in this language, dates go from the year 1 to the year 9999")
        moment = (_EPOCH + timedelta(milliseconds=int(at_ms // 1))).astimezone(self.zone)
        fields = Fields(moment, self.tongue.locale)
        made = [
            ("literal", token) if isinstance(token, str) else self._field(fields, moment, token)
            for token in self.tokens
        ]
        return merged(made)

    def _field(self, fields: Fields, moment: datetime, token: Field) -> Part:
        letter, length = token
        kind = kind_of(letter)
        if letter in "zvO":
            text = zone_text(self.tongue.locale, fields, moment, token)
        elif letter in "Eec" and length < 3:
            text = fields["EEE"] if letter == "E" else fields["ccc"]
        else:
            text = fields[letter * length]
        return _TYPES.get(kind, "literal"), self.tongue.in_digits(text)


# ---------------------------------------------------------------------- zones


def zone_of(name: str) -> tuple[str, tzinfo]:
    """The zone of this name, however its capitals are, and its usual spelling."""
    spelled = _zone_names().get(name.lower())
    if spelled is None:
        raise Refused(f"Invalid time zone specified: {name}")
    return ("UTC" if spelled in _UTC else spelled), _zone(spelled)


_UTC: Final = frozenset({"UTC", "Etc/UTC", "Etc/GMT", "GMT", "Etc/Universal", "Etc/Zulu"})


@lru_cache(maxsize=1)
def _zone_names() -> dict[str, str]:
    return {name.lower(): name for name in ("UTC", *available_timezones())}


@lru_cache(maxsize=128)
def _zone(name: str) -> tzinfo:
    return UTC if name in _UTC else ZoneInfo(name)


def zone_text(locale: Any, fields: Fields, moment: datetime, token: Field) -> str:
    """The zone's name, or how far it is from Greenwich where the language has no name for it."""
    letter, length = token
    if letter == "O":
        return _offset_text(locale, moment, is_long=length == 4)
    if length == 4:
        return fields[letter * length]
    if moment.tzinfo is UTC and letter == "z":
        return "UTC"
    name = _short_name(locale, moment, is_generic=letter == "v")
    return name or _offset_text(locale, moment, is_long=False)


def _short_name(locale: Any, moment: datetime, *, is_generic: bool) -> str:
    """An abbreviation such as CET, where people who speak the language use it."""
    zone = getattr(moment.tzinfo, "key", "UTC")
    known: Any = get_global("meta_zones")
    names = locale.meta_zones.get(known.get(zone, ""), {}).get("short", {})
    names = {**names, **locale.time_zones.get(zone, {}).get("short", {})}
    form = "generic" if is_generic else "daylight" if moment.dst() else "standard"
    return str(names.get(form) or "")


def _offset_text(locale: Any, moment: datetime, *, is_long: bool) -> str:
    offset = moment.utcoffset() or timedelta()
    form = str(locale.zone_formats["gmt"])
    if not offset:
        return form.replace("%s", "").strip()
    minutes = abs(int(offset.total_seconds())) // 60
    sign = "+" if offset > timedelta() else "\u2212" if has_true_minus(locale) else "-"
    if is_long:
        return form % f"{sign}{minutes // 60:02}:{minutes % 60:02}"
    return form % (f"{sign}{minutes // 60}" + (f":{minutes % 60:02}" if minutes % 60 else ""))
