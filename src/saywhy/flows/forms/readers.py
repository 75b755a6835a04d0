"""What each kind of input finds in an answer: stretches with the value they would give.

A reader says what is there, not whom it belongs to; that is `matching`'s. `text` and `name` have no
reader: they are what the others leave.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

from saywhy.flows.forms import dates, numbers
from saywhy.flows.forms.model import Input
from saywhy.flows.forms.spans import Span
from saywhy.flows.forms.words import bare, pattern, yes_or_no

REGION: Final = "US"
"""Where a phone number without a country code belongs, unless the input says otherwise."""

_DIGITS: Final = re.compile(r"(?<![\w.,$€£])\d(?:[ .-]?\d)*(?![\w%])")
_NOT_DIGIT: Final = re.compile(r"\D")
_TOKEN: Final = re.compile(r"(?<![\w@.-])[A-Za-z0-9]+(?:-[A-Za-z0-9]+)*(?![\w@-])")
_EMAIL: Final = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}")
_SPOKEN: Final = re.compile(
    r"(?<![\w@.])[\w+-]{1,64}(?: (?:dot|punto|guion|guión|underscore) [\w+-]{1,64}){0,4}"
    r" (?:at|arroba) [\w-]{1,63}(?: (?:dot|punto) [\w-]{1,63}){1,4}(?![\w@])",
    re.IGNORECASE,
)
_SAID: Final = {
    r" (?:at|arroba) ": "@",
    r" (?:dot|punto) ": ".",
    r" (?:guion|guión) ": "-",
    r" underscore ": "_",
}
_DIGIT_WORDS: Final[Mapping[str, Mapping[str, str]]] = {
    "en": {
        word: str(value % 10)
        for value, word in enumerate(
            ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "oh"]
        )
    },
    "es": {
        word: str(value)
        for value, word in enumerate(
            ["cero", "uno", "dos", "tres", "cuatro", "cinco", "seis", "siete", "ocho", "nueve"]
        )
    },
}


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
    return numbers.numbers(given.text, given.language, in_words=True)


def _date(entry: Input, given: Given, asked: bool) -> list[Span]:
    return dates.dates(given.text, given.language, given.now_ms)


def _digits(entry: Input, given: Given, asked: bool) -> list[Span]:
    """Runs of as many digits as the keypad would take; spoken one by one where they are asked."""
    least, most = _bound(entry, "min", 1), _bound(entry, "max", 64)
    spans = [
        Span(match.start(), match.end(), _NOT_DIGIT.sub("", match[0]))
        for match in _DIGITS.finditer(given.text)
        if not given.text[: match.start()].rstrip().endswith(")")  # "(202) 555-0143" is one number
    ]
    if asked and not spans:
        spans = _spoken_digits(given)
    return [span for span in spans if least <= len(span.value) <= most]


def _bound(entry: Input, key: str, otherwise: int) -> int:
    value = entry.digits.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) else otherwise


def _spoken_digits(given: Given) -> list[Span]:
    known = _DIGIT_WORDS.get(given.language[:2], _DIGIT_WORDS["en"])
    words = bare(given.text).lower().split()
    if not words or any(word not in known for word in words):
        return []
    return [Span(0, len(given.text), "".join(known[word] for word in words))]


def _identifier(entry: Input, given: Given, asked: bool) -> list[Span]:
    """Words with a digit in them; asked for, also letters and digits spelled one by one."""
    spans = [
        Span(match.start(), match.end(), match[0])
        for match in _TOKEN.finditer(given.text)
        if len(match[0]) >= 3 and any(character.isdigit() for character in match[0])
    ]
    if not asked or spans:
        return spans
    tokens = bare(given.text).split()
    is_spelled = len(tokens) > 1 and all(len(one) == 1 and one.isalnum() for one in tokens)
    if is_spelled or (len(tokens) == 1 and _TOKEN.fullmatch(tokens[0])):
        return [Span(0, len(given.text), "".join(tokens).upper() if is_spelled else tokens[0])]
    return []


def _phone(entry: Input, given: Given, asked: bool) -> list[Span]:
    """Numbers that can be dialled, in the international form E.164."""
    if not any(character.isdigit() for character in given.text):
        return []
    import phonenumbers  # its tables are large, and few conversations need them

    region = str(entry.raw.get("region") or REGION)
    found = phonenumbers.PhoneNumberMatcher(
        given.text, region, leniency=phonenumbers.Leniency.POSSIBLE
    )
    return [
        Span(
            match.start,
            match.end,
            phonenumbers.format_number(match.number, phonenumbers.PhoneNumberFormat.E164),
            plain=match.raw_string.isdecimal(),
        )
        for match in found
    ]


def _email(entry: Input, given: Given, asked: bool) -> list[Span]:
    found = [
        Span(match.start(), match.end(), match[0].rstrip(".").lower(), plain=False)
        for match in _EMAIL.finditer(given.text)
    ]
    return found or [
        Span(match.start(), match.end(), _written(match[0]), plain=False)
        for match in _SPOKEN.finditer(given.text)
    ]


def _written(spoken: str) -> str:
    """ "ann dot doe at example dot com" as it is typed."""
    for said, sign in _SAID.items():
        spoken = re.sub(said, sign, spoken, flags=re.IGNORECASE)
    return spoken.replace(" ", "").lower()


def _choice(entry: Input, given: Given, asked: bool) -> list[Span]:
    """The choice whose words are said; none where several are, and where it is asked its number."""
    choices = entry.choices(given.language)
    found: dict[int, Span] = {}
    for place, choice in enumerate(choices):
        match = pattern(choice.words).search(given.text)
        if match is not None:
            found[place] = Span(match.start(), match.end(), choice.value)
    longest = [
        span
        for span in found.values()
        if not any(
            span.overlaps(other) and span.end - span.start < other.end - other.start
            for other in found.values()
        )
    ]
    if len(longest) == 1:
        return longest
    number = bare(given.text)
    if asked and not longest and number.isdecimal() and 0 < int(number) <= len(choices):
        return [Span(0, len(given.text), choices[int(number) - 1].value)]
    return []


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
