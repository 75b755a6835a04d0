"""Which telephone number does an answer say, and where can the caller of a conversation be texted?

Digits are read as people say them; which of them make a number is decided by `phonenumbers`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from saywhy.helpers.identifiers import Reading
from saywhy.helpers.numerals import digits_at, tongue_of
from saywhy.helpers.words import Token, text_of, tokens_of

_PUNCTUATED: Final = re.compile(r"\+?[0-9\s().\-/]*")
_NATIONAL: Final = 10
_WRITTEN: Final = re.compile(r"\+?[(]?[0-9][0-9().\-/]*")
_PLUS: Final = frozenset({"plus", "mas", "+"})
_BETWEEN: Final = frozenset(
    {"dash", "hyphen", "guion", "-", "dot", "punto", "/", "number", "numero", "then", "luego"}
)
"""Words that may stand among the digits of a number."""
_EXTENSION: Final = re.compile(r"(?:extension|extn?|x|anexo|interno)")


def validate_phone(text: Any = None, accept_international: Any = False) -> bool:
    """Whether the text is a number of 10 digits, or of 11 that begin with 1.

    With `acceptInternational`, 11 to 15 digits will do. Spaces, dashes, dots, brackets and a plus
    may stand among them, words may not.
    """
    said = text_of(text).translate(_DASHES).strip()
    if not _PUNCTUATED.fullmatch(said):
        return False
    digits = re.sub(r"[^0-9]", "", said)
    if len(digits) == _NATIONAL or (len(digits) == _NATIONAL + 1 and digits[0] == "1"):
        return True
    return bool(accept_international) and 11 <= len(digits) <= 15


_DASHES: Final = dict.fromkeys(range(0x2010, 0x2015), "-")
"""What word processors make of a hyphen."""


def read_phone(text: Any = None, language: Any = "") -> str | None:
    """The one North American number that the answer says, as ten digits; else null.

    `four one five, five five five, oh one two three` is `4155550123`. Two numbers are none.
    """
    found = {one.value for one in phones_in(text_of(text), text_of(language))}
    return found.pop() if len(found) == 1 else None


def read_international_phone(text: Any = None, country: Any = "", language: Any = "") -> str | None:
    """The one number that the answer says, with plus and country code; else null.

    Without a plus, `00` or the country code, `country` says where the number is from: `ES`.
    """
    found = {
        one.value for one in international_in(text_of(text), text_of(country), text_of(language))
    }
    return found.pop() if len(found) == 1 else None


# ------------------------------------------------------------------ finding


def phones_in(text: str, language: str = "") -> list[Reading]:
    """Every North American number of an answer, with its place."""
    found: list[Reading] = []
    for run in _runs(text, language):
        digits = run.value.lstrip("+")
        if len(digits) == _NATIONAL + 1 and digits[0] == "1":
            digits = digits[1:]
        is_foreign = run.value.startswith("+") and not run.value.startswith("+1")
        if len(digits) == _NATIONAL and not is_foreign and _is_possible(digits, "US"):
            found.append(Reading(digits, run.start, run.end))
    return found


def international_in(text: str, country: str = "", language: str = "") -> list[Reading]:
    """Every number of any country in an answer, with its place."""
    found: list[Reading] = []
    for run in _runs(text, language):
        number = _with_country(run.value, country.upper())
        if number:
            found.append(Reading(number, run.start, run.end))
    return found


def _is_possible(digits: str, country: str) -> bool:
    import phonenumbers

    try:
        return phonenumbers.is_possible_number(phonenumbers.parse(digits, country))
    except phonenumbers.NumberParseException:
        return False


def _with_country(digits: str, country: str) -> str:
    import phonenumbers

    bare = digits.lstrip("+")
    bare = bare[2:] if bare.startswith("00") else bare
    tried = [(f"+{bare}", None)]
    if country and not digits.startswith(("+", "00")):
        tried = [(bare, country), *tried]
    elif not digits.startswith(("+", "00")) and not 11 <= len(bare) <= 15:
        return ""
    for number, home in tried:
        try:
            parsed = phonenumbers.parse(number, home)
        except phonenumbers.NumberParseException:
            continue
        if phonenumbers.is_valid_number(parsed):
            return str(phonenumbers.format_number(parsed, phonenumbers.PhoneNumberFormat.E164))
    return ""


def _runs(text: str, language: str) -> list[Reading]:
    """The runs of digits of an answer, as long as people pause within a number, with their places.

    A run longer than a number is one that says something else as well, and of no use.
    """
    tokens = tokens_of(text.translate(_DASHES))
    tongue = tongue_of(tokens, language)
    found: list[Reading] = []
    at = 0
    while at < len(tokens):
        digits, end = _run_at(tokens, at, tongue)
        if digits:
            found.append(Reading(digits, tokens[at].start, tokens[end - 1].end))
        at = max(end, at + 1)
        at = _behind_extension(tokens, at, tongue) if digits else at
    return found


def _run_at(tokens: Sequence[Token], at: int, tongue: str) -> tuple[str, int]:
    digits, end = "", at
    while at < len(tokens):
        token = tokens[at]
        if not digits and token.word in _PLUS:
            digits, at = "+", at + 1
            continue
        # Two numbers, one after the other, each written as a whole.
        if len(digits.lstrip("+")) >= _NATIONAL and len(re.sub(r"[^0-9]", "", token.text)) >= 7:
            break
        if token.text.startswith("+") and digits.strip("+"):
            break
        if _WRITTEN.fullmatch(token.text):
            digits += re.sub(r"[^0-9+]", "", token.text)
            at += 1
        elif digits and token.word in _BETWEEN:
            at += 1
            continue
        else:
            said = digits_at(tokens, at, tongue)
            if said is None:
                break
            digits, at = digits + said[0], said[1]
        end = at
    return (digits, end) if digits.strip("+") else ("", end)


def _behind_extension(tokens: Sequence[Token], at: int, tongue: str) -> int:
    """Behind `extension 4`, which is no part of the number and no number of its own."""
    if at >= len(tokens) or not _EXTENSION.fullmatch(tokens[at].word):
        return at
    said = digits_at(tokens, at + 1, tongue) if at + 1 < len(tokens) else None
    return said[1] if said is not None else at + 1


# ------------------------------------------------------------------ the caller


def caller_text_number(cargo: Any = None) -> str:
    """The caller's own number in `cargo.callerId`, where it can be sent a text; else empty.

    A North American number is ten digits, another one has plus and country code.
    """
    return _as_number(cargo.get("callerId") if isinstance(cargo, Mapping) else None)


def text_destination(cargo: Any = None) -> str:
    """The number a text would go to: the one given for codes, `cargo.otp_cell_number`, else the
    caller's; empty when there is none."""
    if not isinstance(cargo, Mapping):
        return ""
    return _as_number(cargo.get("otp_cell_number")) or caller_text_number(cargo)


def caller_is_international(cargo: Any = None) -> bool:
    """Whether `cargo.callerId` is a number of a country outside the North American plan."""
    return caller_text_number(cargo).startswith("+")


def _as_number(value: Any) -> str:
    text = text_of(value).strip()
    if not _PUNCTUATED.fullmatch(text):
        return ""
    return read_phone(text) or read_international_phone(text) or ""
