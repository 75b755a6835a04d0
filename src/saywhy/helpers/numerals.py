"""Which numbers do the words of an answer say? English and Spanish, spoken and written.

A spoken number is read by the library `text2num`, the longest one that begins at a word. What the
numbers mean (an amount, a telephone number) is for the readers of those.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Final

import msgspec

from saywhy.helpers.words import Token, listed

TONGUES: Final = ("en", "es")
LONGEST: Final = 14
"""Words of the longest number that is looked for."""

_SPELLING: Final = {
    "veintiun": "veintiuno",
    "veintiuna": "veintiuno",
    "veintidos": "veintidós",
    "veintitres": "veintitrés",
    "veintiseis": "veintiséis",
}
"""Words that the library knows only as a dictionary writes them."""

_BOTH: Final = frozenset({"once"})
"""Words of the other language that are no numbers in the one: `call me once`."""

_NO_NUMBERS: Final = frozenset({"", "o", "ones", "unos", "unas"})
"""What the library takes for numbers: `the red ones`, and `o`, which is `or` in Spanish."""

_SPANISH: Final = listed(
    """el la los las un una de del con por para en es y que mi mis su tu yo no se lo me quiero
    quisiera pagar numero correo telefono celular cuenta pedido orden arroba punto guion
    dolares centavos pesos euros gracias favor"""
)
_ENGLISH: Final = listed(
    """the a an of with for in is and that my your i it me to want would like pay number email
    phone cell account order at dot dash dollars cents bucks please thanks call only"""
)

_LINKS: Final = frozenset({"and", "y"})
_REPEATS: Final = {"double": 2, "triple": 3, "doble": 2}
_ZEROS: Final = frozenset({"oh", "o"})


class Spoken(msgspec.Struct, frozen=True):
    """A number that words say, from token `start` up to and without `end`."""

    value: int
    start: int
    end: int


def tongue_of(tokens: Sequence[Token], language: str = "") -> str:
    """The language whose numbers these are: the one with more of its words, else `language`."""
    words = [part for token in tokens for part in token.word.split("-")]
    own = language[:2].lower()
    preferred = own if own in TONGUES else "en"
    scores = {
        "en": sum(word in _ENGLISH for word in words) + 2 * _count(words, "en"),
        "es": sum(word in _SPANISH for word in words) + 2 * _count(words, "es"),
    }
    if words == ["once"] and own != "en":
        return "es"
    other = "es" if preferred == "en" else "en"
    return other if scores[other] > scores[preferred] else preferred


def _count(words: Sequence[str], tongue: str) -> int:
    return sum(word not in _BOTH and cardinal(word, tongue) is not None for word in words)


def cardinal(words: str, tongue: str) -> int | None:
    """The number that `words` say, all of them; None where they say none."""
    # Only single words are kept in a cache: several may be the number of a card.
    return _read(words, tongue) if " " in words else _remembered(words, tongue)


def _read(words: str, tongue: str) -> int | None:
    if (
        words in _NO_NUMBERS
        or len(words) > 200
        or not words.replace(" ", "").replace("-", "").isalpha()
    ):
        return None
    from text_to_num import text2num

    spelled = " ".join(_SPELLING.get(word, word) for word in words.split(" "))
    with suppress(ValueError):
        return int(text2num(spelled, tongue))
    return None


_remembered = lru_cache(maxsize=4_000)(_read)


def spoken_at(tokens: Sequence[Token], at: int, tongue: str) -> Spoken | None:
    """The longest number that the words from `at` on say; it goes over no comma."""
    value = cardinal(tokens[at].word, tongue)
    if value is None:
        return None
    end = at + 1
    # "Cero uno" are two numbers, though the library takes them for one.
    while value and end < min(len(tokens), at + LONGEST) and not tokens[end - 1].ends_clause:
        behind = end + 1 + (tokens[end].word in _LINKS)
        longer = " ".join(token.word for token in tokens[at:behind])
        said = cardinal(longer, tongue) if behind <= len(tokens) else None
        if said is None:
            break
        value, end = said, behind
    return Spoken(value, at, end)


def digits_at(tokens: Sequence[Token], at: int, tongue: str) -> tuple[str, int] | None:
    """The digits that the words from `at` on stand for, and the token behind them.

    `forty one` is 41, `double five` is 55, `oh` between digits is 0; `eight hundred` before a digit
    is 800, as people say telephone numbers.
    """
    word = tokens[at].word
    if re.fullmatch(r"[0-9]+", word):
        return word, at + 1
    if word in _REPEATS:
        once = _digit_of(tokens[at + 1].word, tongue) if at + 1 < len(tokens) else None
        return (once * _REPEATS[word], at + 2) if once is not None else None
    if word in _ZEROS:
        # In Spanish `o` is a word of its own, as in "uno o dos".
        return (
            ("0", at + 1)
            if (tongue == "en" or word == "oh") and _beside_digits(tokens, at, tongue)
            else None
        )
    round_one = _round_hundred(tokens, at, tongue)
    if round_one is not None:
        return round_one
    found = spoken_at(tokens, at, tongue)
    return (str(found.value), found.end) if found is not None else None


def _beside_digits(tokens: Sequence[Token], at: int, tongue: str) -> bool:
    beside = [tokens[place].word for place in (at - 1, at + 1) if 0 <= place < len(tokens)]
    return any(
        word in _ZEROS or word.isdigit() or cardinal(word, tongue) is not None for word in beside
    )


def _round_hundred(tokens: Sequence[Token], at: int, tongue: str) -> tuple[str, int] | None:
    """`eight hundred five five five` begins with 800, and does not make 805."""
    size = 2 if tongue == "en" else 1
    behind = [token.word for token in tokens[at + size : at + size + 2]]
    first = cardinal(" ".join(token.word for token in tokens[at : at + size]), tongue)
    if first is None or not 0 < first < 1000 or first % 100 or len(behind) < 2:
        return None
    return (str(first), at + size) if all(_digit_of(word, tongue) for word in behind) else None


def _digit_of(word: str, tongue: str) -> str | None:
    """The one digit that a word says or is."""
    if word in _ZEROS:
        return "0"
    value = int(word) if word.isascii() and word.isdigit() and len(word) == 1 else None
    value = cardinal(word, tongue) if value is None else value
    return str(value) if value is not None and value < 10 else None
