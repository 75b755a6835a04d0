"""Which e-mail address does an answer say, written or spoken?

`john dot doe at gmail dot com`. Whether the letters make an address is decided by the library
`email-validator`, which asks no name server.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Final

from saywhy.helpers.identifiers import Reading
from saywhy.helpers.numerals import tongue_of
from saywhy.helpers.spelling import Unit, split_tokens, unit_at
from saywhy.helpers.words import Token, listed, text_of

_SHAPE: Final = re.compile(r"[^\s@]+@[^\s@]+\.[^\s@]+")
_WRITTEN: Final = re.compile(r"[^\s@<>()\[\],;:\"“”¿¡!?]+@[^\s@<>()\[\],;:\"“”¿¡!?]+\.[^\W\d_]{2,}")
LONGEST: Final = 64
"""Words of a name or a domain that is spelled letter by letter."""
MAX_SIGNS: Final = 20
"""Words for `@` in an answer that are looked at."""
MAX_NAME_WORDS: Final = 4
"""Words that people say one after the other before `at`; more are a sentence."""
_AT: Final = listed("at arroba @ aroba")
_ENDS_LEAD: Final = listed(
    """is it's its es e-mail email mail address correo electronico direccion use try to sea seria
    that's thats son esta a"""
)
"""Words behind which an address begins: all up to the last of them is not part of it."""
_SKIPPED: Final = listed(
    """all lowercase lower case uppercase together junto todo minuscula minusculas mayuscula
    capital letter letra word um uh eh er hmm then luego and the"""
)
_LEADS: Final = listed(
    """my mi i'm yes si sure ok okay well so please the el la um uh eh claro hello hola you can send
    reach me it that would be puede escribirme pues bueno con de le"""
)
_SENTENCE: Final = listed(
    """live lives am are was were work works look looked looking went bought ordered saw found shop
    vivo estoy trabajo compre vi encontre esta estaba"""
)
"""Words of a sentence about a place, where `at` is no sign."""
_BREAKS: Final = listed("please thanks thank gracias por favor and y or o")


def validate_email(text: Any = None) -> bool:
    """Whether the text has the form `x@y.z`, without spaces."""
    return _SHAPE.fullmatch(text_of(text)) is not None


def read_email(text: Any = None, language: Any = "") -> str | None:
    """The one address that the answer says, written or spoken; else null.

    `juan punto pérez arroba gmail punto com` is `juan.perez@gmail.com`. Two addresses are none.
    """
    found = {one.value for one in emails_in(text_of(text), text_of(language))}
    return found.pop() if len(found) == 1 else None


def mask_email(text: Any = None) -> str:
    """An address of which the name cannot be guessed: `j***@example.com`.

    What is no address becomes `***`; nothing stays nothing.
    """
    address = text_of(text).strip()
    if not address:
        return ""
    name, _, domain = address.rpartition("@")
    if not validate_email(address) or not name:
        return "***"
    return f"{name[0] if len(name) > 2 else ''}***@{domain}"


# ------------------------------------------------------------------ finding


def emails_in(text: str, language: str = "") -> list[Reading]:
    """Every address of an answer, with its place; written ones make spoken ones needless."""
    written = [
        Reading(_checked(match.group()), match.start(), match.end())
        for match in _WRITTEN.finditer(text)
    ]
    return [one for one in written if one.value] if written else _spoken(text, language)


def _checked(address: str) -> str:
    """The address in its usual form; empty for one that cannot be."""
    from email_validator import EmailNotValidError, validate_email

    with suppress(EmailNotValidError):
        found = validate_email(address, check_deliverability=False)
        return f"{found.local_part}@{found.domain}"
    return ""


def _spoken(text: str, language: str) -> list[Reading]:
    apart = _Padded(text)
    tokens = split_tokens(apart.text)
    tongue = tongue_of(tokens, language)
    found: list[Reading] = []
    begin = 0
    signs = [at for at, token in enumerate(tokens) if token.word in _AT]
    for at in signs[:MAX_SIGNS]:
        if not begin <= at < len(tokens) - 1:
            continue
        domain, end = _domain_after(tokens, at + 1, tongue)
        if not domain:
            continue
        name, first = _name_before(tokens, max(begin, at - LONGEST), at, tongue)
        address = _checked(f"{name}@{domain}") if name and domain else ""
        if address:
            begin = end
            start, stop = apart.place(tokens[first].start), apart.place(tokens[end - 1].end)
            found.append(Reading(address, start, stop))
    return found


def _is_dot(text: str, at: int) -> bool:
    """Whether a full stop stands within an address: a letter follows, at once or as after a space
    that also stands before it."""
    if text[at + 1 : at + 2].isalnum():
        return True
    return (
        text[at - 1 : at] == " "
        and text[at + 1 : at + 2] == " "
        and text[at + 2 : at + 3].isalnum()
    )


class _Padded:
    """A text with spaces around `@` and `.` between words, and where its characters were."""

    def __init__(self, text: str) -> None:
        self.places: list[int] = []
        parts: list[str] = []
        for at, mark in enumerate(text):
            piece = mark
            if mark == "@":
                piece = " at "
            elif mark == "." and _is_dot(text, at):
                piece = " dot "
            parts.append(piece)
            self.places += [at] * len(piece)
        self.places.append(len(text))
        self.text = "".join(parts)

    def place(self, at: int) -> int:
        return self.places[min(at, len(self.places) - 1)]


def _name_before(tokens: Sequence[Token], begin: int, at: int, tongue: str) -> tuple[str, int]:
    """The part before the `at`, and its first token."""
    first = place = begin
    was_spelled = False
    while place < at:
        unit = unit_at(tokens, place, tongue)
        is_spelled = unit is not None and unit.end <= at
        if not is_spelled and tokens[place].word in _ENDS_LEAD:
            first, was_spelled = place + 1, False
        elif tokens[place].word in _ENDS_LEAD and not was_spelled:
            first = place if _is_spelled_a(tokens, place, at) else place + 1
        # A comma ends what does not belong to the name, but not letters that are spelled.
        elif place > first and tokens[place - 1].ends_clause and not (was_spelled and is_spelled):
            first = place
        was_spelled = is_spelled
        place = unit.end if unit is not None and is_spelled else place + 1
    if first < at and tokens[at - 1].ends_clause and not was_spelled:
        return "", at
    while first < at and tokens[first].word in _LEADS:
        first += 1
    return _spelled(tokens, first, at, tongue) or _joined(tokens, first, at, tongue), first


def _is_spelled_a(tokens: Sequence[Token], place: int, at: int) -> bool:
    """Whether an `a` is a letter of the name: it stands before another letter or the sign."""
    following = tokens[place + 1].word if place + 1 <= at else ""
    return len(following) == 1 or following in _AT or following in {"as", "de", "like", "dot"}


def _spelled(tokens: Sequence[Token], first: int, end: int, tongue: str) -> str:
    """A name of which each letter is spelled, names of letters among them: `ce a ere ele o ese`."""
    units: list[Unit] = []
    at = first
    while at < end:
        unit = unit_at(tokens, at, tongue)
        if unit is None or unit.end > end:
            return ""
        units.append(unit)
        at = unit.end
    is_spelled = len(units) > 2 and any(unit.kind == "letter" for unit in units)
    return "".join(unit.text for unit in units) if is_spelled else ""


def _joined(tokens: Sequence[Token], first: int, end: int, tongue: str) -> str:
    """The words of a name in one; empty when there are more than a name has."""
    parts: list[str] = []
    at, count = first, 0
    while at < end:
        unit = unit_at(tokens, at, tongue)
        if unit is not None and unit.kind != "name" and unit.end <= end:
            parts.append(unit.text)
            at = unit.end
            continue
        word = tokens[at].word
        at += 1
        if word in _SKIPPED:
            continue
        if word in _SENTENCE or not re.fullmatch(r"[a-z0-9._+\-ñ]+", word):
            return ""
        parts.append(word)
        count += 1
    return "".join(parts) if count <= MAX_NAME_WORDS else ""


def _domain_after(tokens: Sequence[Token], first: int, tongue: str) -> tuple[str, int]:
    """The part behind the `at`, and the token behind it. It ends with the word after a dot."""
    parts: list[str] = []
    at, dots = first, 0
    while at < min(len(tokens), first + LONGEST):
        word = tokens[at].word
        unit = unit_at(tokens, at, tongue)
        if dots and parts[-1] != "." and not (unit is not None and unit.text == "."):
            spells_on = len(parts[-1]) == 1 and unit is not None and unit.kind == "letter"
            if not spells_on:
                break
        if word in _BREAKS and not (unit is not None and parts and len(parts[-1]) == 1):
            break
        if unit is not None and unit.kind != "name":
            dots += unit.text == "."
            parts.append(unit.text)
            at = unit.end
        elif re.fullmatch(r"[a-z0-9\-]+", word):
            parts += [] if word in _SKIPPED else [word]
            at += 1
        else:
            break
    domain = "".join(parts).strip(".")
    return (domain if "." in domain else ""), at
