"""Numbers and amounts of money in an answer.

How they are written and said is the catalogue's; here is what counts for an input. An amount is a
number: which currency it is in is the author's to say, another one is refused and nothing is ever
converted.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from saywhy.errors import CallerError
from saywhy.flows.forms.spans import Span
from saywhy.helpers.amounts import Amount, amounts_in, as_number
from saywhy.helpers.currencies import MINOR, precision_of
from saywhy.helpers.money import INTENTS
from saywhy.helpers.words import Token, tokens_of

MAX_VALUE: Final = 2**53
"""Beyond this a number is no longer exact in an expression."""
DECIMALS: Final = 2
"""Of an amount whose currency nobody knows."""

_SIGN: Final = re.compile(r"(?:^|[^\w])(?:[-−]|minus |menos )$", re.IGNORECASE)
_ARTICLES: Final = frozenset({"a", "un", "una", "one", "uno"})
_PERCENT: Final = re.compile(r"%|\s*(?:percent|por ?ciento)", re.IGNORECASE)


def numbers(text: str, language: str) -> list[Span]:
    """The numbers in a text, in digits and in words, negative ones included."""
    tokens = tokens_of(text)
    spans: list[Span] = []
    for one in amounts_in(text, language):
        start, end = _extent(one, tokens)
        if one.codes is not None or _PERCENT.match(text, end) or text[start:end].endswith("%"):
            continue
        value = as_number(one.value)
        if one.refused:
            written = text[start:end].lstrip("-−")
            is_signed = written != text[start:end] or _SIGN.search(text, 0, start) is not None
            if not is_signed:
                continue
            value = -value
        if abs(value) < MAX_VALUE and not _is_article(one, tokens):
            spans.append(Span(start, end, value))
    return spans


def amounts(text: str, language: str, money: Mapping[str, Any]) -> list[Span]:
    """The amounts of money in a text, with the signs and words of their currency.

    Without a currency in the profile any is taken, and the amount is its number. With one, an
    amount in another is refused, and a bare number is one only with `cardinals`, or right behind a
    word of the `intent`.
    """
    code = str(money.get("currency") or "").upper()
    intent = INTENTS.get(str(money.get("intent") or ""), frozenset[str]())
    takes_bare = not code or bool(money.get("cardinals"))
    tokens = tokens_of(text)
    spans: list[Span] = []
    for one in amounts_in(text, language):
        start, end = _extent(one, tokens)
        if one.refused or not 0 <= one.value < MAX_VALUE or _is_article(one, tokens):
            continue
        value = as_number(one.value)
        if one.codes is not None and code and code not in one.codes:
            spans.append(Span(start, end, value, plain=False, refused=text[start:end]))
        elif not code or _fits(one, code):
            is_meant = one.start > 0 and tokens[one.start - 1].word in intent
            is_clear = one.codes is not None or is_meant or tokens[one.end - 1].word in MINOR
            if is_clear or takes_bare:
                spans.append(Span(start, end, value, plain=not is_clear))
    return spans


def _extent(one: Amount, tokens: Sequence[Token]) -> tuple[int, int]:
    return tokens[one.start].start, tokens[one.end - 1].end


def _is_article(one: Amount, tokens: Sequence[Token]) -> bool:
    """The "one" of "to the one" is no number, unless it is the whole answer."""
    alone = len(tokens) == 1
    return one.end - one.start == 1 and tokens[one.start].word in _ARTICLES and not alone


def _fits(one: Amount, code: str) -> bool:
    """Whether an amount has no more decimals than its currency."""
    try:
        decimals = precision_of(code)
    except CallerError:
        decimals = DECIMALS
    exponent = one.value.normalize().as_tuple().exponent
    return isinstance(exponent, int) and -exponent <= decimals
