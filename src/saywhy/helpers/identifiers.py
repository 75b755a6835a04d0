"""Which identifier does an answer say: an order number, the code of a booking, an account?"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from saywhy.helpers.numerals import tongue_of
from saywhy.helpers.options import flag_of, least_and_most
from saywhy.helpers.spelling import Unit, split_tokens, unit_at
from saywhy.helpers.words import Token, text_of

_WRITTEN: Final = re.compile(r"#?(?=.*[0-9])[A-Za-z0-9]+(?:[-_/.][A-Za-z0-9]+)*")
_NO_CODES: Final = frozenset({"ID", "NO", "NUM", "OK", "PIN", "ZIP", "TV"})
"""Words in capitals that say what the digits behind them are."""
MIN_IDENTIFIER: Final = 3
MAX_IDENTIFIER: Final = 40


class Reading(msgspec.Struct, frozen=True):
    """What a reader found in an answer, and in which characters of it."""

    value: Any
    start: int
    end: int


def read_identifier(text: Any = None, options: Any = None, language: Any = "") -> str | None:
    """The one identifier that the answer says, in capitals and without spaces; else null.

    It holds a digit or is spelled: `A B one two three` is `AB123`, `my order is #1001` is `1001`.
    `options`: `min` and `max` characters (3 and 40), `digits` alone, `letters`: a lone word counts.
    """
    found = {one.value for one in identifiers_in(text_of(text), options, text_of(language))}
    return found.pop() if len(found) == 1 else None


def identifiers_in(text: str, options: Any = None, language: str = "") -> list[Reading]:
    """Every identifier of an answer that fits the options, with its place."""
    tokens = split_tokens(text)
    tongue = tongue_of(tokens, language)
    asked = options if isinstance(options, Mapping) else {}
    only_digits = flag_of(asked, "digits")
    found: list[Reading] = []
    at = 0
    while at < len(tokens):
        run = _run_at(tokens, at, tongue)
        if not run:
            at += 1
            continue
        value = _value_of(run, only_digits=only_digits)
        if value and _fits(value, asked):
            found.append(Reading(value, tokens[run[0].start].start, tokens[run[-1].end - 1].end))
        at = run[-1].end
    if not found and flag_of(asked, "letters") and len(tokens) == 1:
        word = tokens[0].text.upper()
        if word.isalnum() and _fits(word, asked):
            found = [Reading(word, tokens[0].start, tokens[0].end)]
    return found


def _run_at(tokens: Sequence[Token], at: int, tongue: str) -> list[Unit]:
    """Units one after the other, from `at` on."""
    run: list[Unit] = []
    while at < len(tokens):
        unit = _unit_at(tokens, at, tongue)
        if unit is None or (unit.kind == "sign" and not run):
            break
        run.append(unit)
        at = unit.end
    while run and run[-1].kind in {"sign"}:
        run.pop()
    # "I have a 12": the article belongs to the sentence, unless the answer begins with it.
    if len(run) > 1 and run[0].start and tokens[run[0].start].text in {"a", "y", "o", "e"}:
        is_alone = all(unit.kind == "digits" for unit in run[1:])
        return run[1:] if is_alone else run
    return run


def _unit_at(tokens: Sequence[Token], at: int, tongue: str) -> Unit | None:
    text = tokens[at].text
    if len(text) > 1 and _WRITTEN.fullmatch(text) and not text.isdigit():
        return Unit(text.lstrip("#"), at, at + 1, "digits")
    if re.fullmatch(r"[A-Z]{2,4}", text) and text not in _NO_CODES and at + 1 < len(tokens):
        behind = unit_at(tokens, at + 1, tongue)
        if behind is not None and behind.kind == "digits":
            return Unit(text, at, at + 1, "letter")
    unit = unit_at(tokens, at, tongue)
    if unit is None or unit.kind == "name" or unit.text in {"+", "."}:
        return None
    return unit


def _value_of(run: Sequence[Unit], *, only_digits: bool) -> str:
    text = "".join(unit.text for unit in run).upper()
    has_digit = any(letter in "0123456789" for letter in text)
    letters = sum(unit.kind == "letter" for unit in run)
    if only_digits:
        bare = re.sub(r"[-_/. ]", "", text)
        return bare if re.fullmatch(r"[0-9]+", bare) else ""
    return text if has_digit or letters > 1 else ""


def _fits(value: str, asked: Mapping[str, Any]) -> bool:
    least, most = least_and_most(asked, MIN_IDENTIFIER, MAX_IDENTIFIER)
    return least <= len(value) <= most
