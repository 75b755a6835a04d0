"""Which currencies can a word or a sign mean? The names are those of Babel, English and Spanish.

A word may mean several: `dollars` those of twenty countries, `US dollars` one. What becomes of an
answer that names another currency than the wanted one is for `money`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Final

from saywhy.errors import CallerError
from saywhy.helpers.words import Token, fold

_SIGNS: Final = "$€£¥₩₹₽₱₫₴₦฿₡₲₵₪₺"
_MOST_WORDS: Final = 4
_EXTRA: Final = {"bucks": "dollars", "buck": "dollars", "quid": "pounds"}
"""What people say, and the word that Babel knows."""

MINOR: Final = frozenset({"cent", "cents", "centavo", "centavos", "centimo", "centimos"})
"""The hundredth part, in any currency that has one."""


def precision_of(code: str) -> int:
    """How many decimals an amount has. Raises `CallerError`."""
    from babel.core import get_global
    from babel.numbers import list_currencies

    if code not in list_currencies():
        raise CallerError(f"{code!r} is no currency: write a code of three letters, such as USD")
    fractions = get_global("currency_fractions")
    return int(fractions.get(code, fractions["DEFAULT"])[0])


def sign_of(sign: str) -> frozenset[str] | None:
    """The currencies of what is written before or behind a number: `$`, `US$`, `EUR`."""
    return _signs().get(sign.upper())


def named_at(tokens: Sequence[Token], at: int) -> tuple[frozenset[str], int] | None:
    """The currencies that the words from `at` on name, and the token behind them."""
    names = _names()
    for size in range(min(_MOST_WORDS, len(tokens) - at), 0, -1):
        words = [token.word for token in tokens[at : at + size]]
        found = names.get(" ".join(_EXTRA.get(word, word) for word in words))
        if found is not None:
            return found, at + size
    written = sign_of(tokens[at].text) if at < len(tokens) else None
    return (written, at + 1) if written is not None else None


@cache
def _signs() -> Mapping[str, frozenset[str]]:
    from babel import Locale
    from babel.numbers import list_currencies

    found: dict[str, set[str]] = {code: {code} for code in list_currencies()}
    for language in ("en", "es", "en_US"):
        for code, sign in Locale.parse(language).currency_symbols.items():
            found.setdefault(sign.upper(), set()).add(code)
    families = _families()
    found["$"] |= families["dollars"] | families["pesos"]
    found["£"] |= families["pounds"]
    found["US$"] = {"USD"}
    found.setdefault("C$", set()).add("CAD")
    found["€"] = {"EUR"}
    found["¥"] |= {"JPY", "CNY"}
    return {sign: frozenset(codes) for sign, codes in found.items()}


def _codes(language: str) -> list[str]:
    from babel import Locale

    return [str(code) for code in Locale.parse(language).currencies]


@cache
def _families() -> Mapping[str, frozenset[str]]:
    """The noun of each currency: `dollars` and `dólares` without saying whose."""
    from babel.numbers import get_currency_name

    found: dict[str, set[str]] = {}
    for language, place in (("en", -1), ("es", 0)):
        for code in _codes(language):
            for count in (1, 2):
                words = fold(get_currency_name(code, count, language)).split()
                if words and words[place].isalpha() and len(words[place]) > 2:
                    found.setdefault(words[place], set()).add(code)
    return {noun: frozenset(codes) for noun, codes in found.items()}


@cache
def _names() -> Mapping[str, frozenset[str]]:
    from babel.numbers import get_currency_name

    found = {noun: set(codes) for noun, codes in _families().items()}
    for language in ("en", "es"):
        for code in _codes(language):
            for count in (1, 2):
                name = fold(get_currency_name(code, count, language))
                if " " in name:
                    found.setdefault(name, set()).add(code)
    for name, code in (("american dollars", "USD"), ("dolares americanos", "USD"),
                       ("american dollar", "USD"), ("dolar americano", "USD"),
                       ("u.s dollars", "USD")):  # fmt: skip
        found[name] = {code}
    return {name: frozenset(codes) for name, codes in found.items()}
