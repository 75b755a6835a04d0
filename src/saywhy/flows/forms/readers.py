"""What each kind of input finds in an answer: stretches with the value they would give.

A reader says what is there, not whom it belongs to; that is `matching`'s. Most of them are those
of the helper catalogue, so that a form and an expression read alike. `text` and `name` have no
reader: they are what the others leave.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from saywhy.flows.forms import dates, numbers
from saywhy.flows.forms.model import Input
from saywhy.flows.forms.spans import Span
from saywhy.flows.forms.words import bare, pattern, yes_or_no
from saywhy.helpers.choices import picked
from saywhy.helpers.emails import emails_in
from saywhy.helpers.identifiers import identifiers_in
from saywhy.helpers.phones import international_in
from saywhy.helpers.words import fold

REGION: Final = "US"
"""Where a phone number without a country code belongs, unless the input says otherwise."""

_LAID_OUT: Final = re.compile(r"[+()/.-]")
"""What only numbers to be dialled have in them."""


class Given:
    """An answer with what is known of it while it is read."""

    __slots__ = ("language", "now_ms", "text")

    def __init__(self, text: str, language: str, now_ms: float) -> None:
        self.text = text
        self.language = language
        self.now_ms = now_ms


Reader = Callable[[Input, Given, bool], list[Span]]
"""Input, answer, and whether the answer is one to this input's question."""


def spans_of(entry: Input, given: Given, *, asked: bool) -> list[Span]:
    """What an answer may hold for an input."""
    reader = READERS.get(entry.kind)
    return reader(entry, given, asked) if reader else []


# ------------------------------------------------------------------ one a kind


def _amount(entry: Input, given: Given, asked: bool) -> list[Span]:
    return numbers.amounts(given.text, given.language, entry.money)


def _number(entry: Input, given: Given, asked: bool) -> list[Span]:
    return numbers.numbers(given.text, given.language)


def _date(entry: Input, given: Given, asked: bool) -> list[Span]:
    return dates.dates(given.text, given.language, given.now_ms)


def _digits(entry: Input, given: Given, asked: bool) -> list[Span]:
    """Runs of as many digits as the keypad would take, written or spoken."""
    bounds = {key: entry.digits[key] for key in ("min", "max") if _is_count(entry.digits.get(key))}
    found = identifiers_in(given.text, {**bounds, "digits": True}, given.language)
    return [Span(one.start, one.end, one.value) for one in found]


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _identifier(entry: Input, given: Given, asked: bool) -> list[Span]:
    """Words with a digit in them, and spelled ones; asked for, also a word alone."""
    found = identifiers_in(given.text, {"letters": asked}, given.language)
    return [Span(one.start, one.end, one.value) for one in found]


def _phone(entry: Input, given: Given, asked: bool) -> list[Span]:
    """Numbers that can be dialled, in the international form E.164."""
    region = str(entry.raw.get("region") or REGION)
    spans: list[Span] = []
    for one in international_in(given.text, region, given.language):
        written = given.text[max(one.start - 1, 0) : one.end]
        spans.append(Span(one.start, one.end, one.value, plain=not _LAID_OUT.search(written)))
    return spans


def _email(entry: Input, given: Given, asked: bool) -> list[Span]:
    found = emails_in(given.text, given.language)
    return [Span(one.start, one.end, one.value, plain=False) for one in found]


def _choice(entry: Input, given: Given, asked: bool) -> list[Span]:
    """The choice whose words are said; none where several are, and where it is asked its place."""
    choices = entry.choices(given.language)
    offered = [{"value": one.value, "words": list(one.words)} for one in choices]
    place = picked(given.text, offered)
    if place is None:
        return []
    said = pattern(tuple(map(fold, choices[place].words))).search(fold(given.text))
    if said is None:
        return [Span(0, len(given.text), choices[place].value)] if asked else []
    end = min(said.end(), len(given.text))
    return [Span(min(said.start(), end), end, choices[place].value)]


def _yes_no(entry: Input, given: Given, asked: bool) -> list[Span]:
    """A yes or no means only the question that was asked. With a keypad 1 is yes and 2 is no."""
    if not asked:
        return []
    meant = yes_or_no(given.text, given.language)
    if meant is None and entry.digits:
        meant = {"1": True, "2": False}.get(bare(given.text))
    return [] if meant is None else [Span(0, len(given.text), meant)]


READERS: Final[Mapping[str, Reader]] = {
    "amount": _amount,
    "number": _number,
    "date": _date,
    "digits": _digits,
    "identifier": _identifier,
    "phone": _phone,
    "email": _email,
    "choice": _choice,
    "yes-no": _yes_no,
}
