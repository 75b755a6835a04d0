"""Is an answer an amount of money in the currency that was asked for? Nothing is ever converted."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from saywhy.errors import CallerError
from saywhy.helpers.amounts import (
    AROUND,
    Amount,
    amounts_in,
    as_number,
    is_range,
    words_beside,
)
from saywhy.helpers.currencies import MINOR, precision_of
from saywhy.helpers.options import flag_of, options_of, word_of
from saywhy.helpers.words import Token, fold, listed, text_of, tokens_of

INTENTS: Final[Mapping[str, frozenset[str]]] = {
    "payment": listed(
        """pay paying payment pays towards toward on my bill balance account
        pagar pago pague pagaria abonar abono abonare hacer cuenta factura saldo mi"""
    ),
    "transfer": listed(
        """transfer transferring send sending move wire
        transferir transferencia transfiera enviar envie mandar mande pasar"""
    ),
    "deposit": listed("deposit depositing put add in into depositar deposito ingresar en"),
    "withdrawal": listed("withdraw withdrawing withdrawal take out cash retirar retiro sacar"),
    "refund": listed("refund refunded back return reembolso reembolsar devolver devolucion"),
}
"""What an amount is for → the words that may then stand around a bare number."""

_DENIED: Final = re.compile(r"\b(?:don't|do not|not|never|won't|can't|cannot|no|nunca|jamas)\b")


def read_money_amount(
    text: Any = None, options: Any = None, language: Any = ""
) -> int | float | None:
    """The one amount in the currency of `options` that the answer says; else null.

    `currency`: a code such as `USD`, which is meant when nothing is said. `cardinals`: whether a
    bare number is an amount, when nothing else is said. `intent`: what the amount is for, such as
    `payment`; words such as `pay` may then stand around a bare number. An amount in another
    currency, a negative one, one with too many decimals, and one of several are refused.
    """
    found = money_in(text_of(text), options, text_of(language))
    return as_number(found[0].value) if len({one.value for one in found}) == 1 else None


def is_money_amount(text: Any = None, options: Any = None, language: Any = "") -> bool:
    """Whether `readMoneyAmount` reads an amount, with the same options."""
    return read_money_amount(text, options, text_of(language)) is not None


def money_in(text: str, options: Any = None, language: str = "") -> list[Amount]:
    """The amounts of an answer that count under the options, empty when one of them is refused.

    Raises `CallerError` for an unknown currency or intent.
    """
    asked = options_of(options)
    code = (word_of(asked, "currency") or "USD").upper()
    decimals = precision_of(code)
    around = _around(word_of(asked, "intent"))
    found = amounts_in(text, language)
    if not found or any(one.refused or _is_foreign(one, code) for one in found):
        return []
    tokens = tokens_of(text)
    named = [one for one in found if one.codes is not None or _is_minor(one, tokens)]
    meant = named or (list(found) if flag_of(asked, "cardinals") else [])
    if not meant or any(not _fits(one, decimals) for one in meant):
        return []
    if _is_denied(text, tokens, meant[0]):
        return []
    if named:
        return [] if is_range(tokens, found) else meant
    return [] if words_beside(text, meant, around) else meant


def _around(intent: str) -> frozenset[str]:
    if not intent:
        return AROUND
    if intent not in INTENTS:
        known = ", ".join(INTENTS)
        raise CallerError(f"no intent is called {intent!r}: write one of {known}, or none")
    return AROUND | INTENTS[intent]


def _is_foreign(one: Amount, code: str) -> bool:
    return one.codes is not None and code not in one.codes


def _is_minor(one: Amount, tokens: Sequence[Token]) -> bool:
    """Whether it was said in cents, which names money as well as a currency does."""
    return tokens[one.end - 1].word in MINOR


def _fits(one: Amount, decimals: int) -> bool:
    exponent = one.value.normalize().as_tuple().exponent
    return isinstance(exponent, int) and -exponent <= decimals


def _is_denied(text: str, tokens: Sequence[Token], one: Amount) -> bool:
    """Whether a `not` stands before it in its clause; the `no` of `no, 80 dollars` does not."""
    first = one.start
    while first and not tokens[first - 1].ends_clause:
        first -= 1
    before = fold(text[tokens[first].start : tokens[one.start].start]).replace("’", "'")
    return _DENIED.search(before) is not None
