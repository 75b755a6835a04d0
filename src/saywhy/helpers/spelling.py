"""Is an answer spelled out, and which letters, digits and signs does it say?

`B as in boy`, `jota o hache ene`, `four one three`, `dash`. Addresses, identifiers and spelled
fragments are read with this; what becomes of the letters is for those.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

import msgspec

from saywhy.helpers.numerals import cardinal, digits_at, tongue_of
from saywhy.helpers.words import Token, listed, text_of, tokens_of

_CLEAR: Final = {
    "aitch": "h", "zee": "z", "zed": "z", "hache": "h", "jota": "j", "efe": "f", "ele": "l",
    "eme": "m", "ene": "n", "enye": "ñ", "equis": "x", "zeta": "z", "uve": "v", "erre": "r",
    "ere": "r",
}  # fmt: skip
"""Names of letters that are hardly ever another word."""

_SHORT: Final = {
    "bee": "b", "cee": "c", "dee": "d", "eff": "f", "gee": "g", "jay": "j", "kay": "k", "ell": "l",
    "em": "m", "en": "n", "pee": "p", "cue": "q", "ar": "r", "ess": "s", "tee": "t", "vee": "v",
    "ex": "x", "wye": "y", "oh": "o",
    "be": "b", "ce": "c", "de": "d", "ge": "g", "ka": "k", "pe": "p", "cu": "q", "ese": "s",
    "te": "t", "ve": "v", "ye": "y",
}  # fmt: skip
"""Names of letters that are words as well: they count among others that are spelled."""

_RADIO: Final = listed(
    """alpha bravo charlie delta echo foxtrot golf hotel india juliet kilo lima mike november oscar
    papa quebec romeo sierra tango uniform victor whiskey xray yankee zulu alfa"""
)
"""Words that stand for their first letter, as on the radio; many are names of people."""

_PAIRS: Final = {
    ("double", "u"): "w", ("double", "you"): "w", ("doble", "u"): "w", ("doble", "ve"): "w",
    ("uve", "doble"): "w", ("doble", "uve"): "w", ("i", "griega"): "y", ("ye", "griega"): "y",
    ("be", "grande"): "b", ("be", "larga"): "b", ("ve", "chica"): "v", ("ve", "corta"): "v",
}  # fmt: skip

_LINKS: Final = (("as", "in"), ("like", "in"), ("as",), ("like",), ("for",), ("de",), ("como",))
_LINKS_OF_TWO: Final = (("como", "en"), ("como", "de"), *_LINKS)

_SOUNDS: Final = listed("um uh uhm erm hmm hm mm mmm")
"""Sounds between letters; others are names of letters as well."""

SIGNS: Final = {
    "dash": "-", "hyphen": "-", "minus": "-", "guion": "-", "menos": "-",
    "underscore": "_", "underline": "_",
    "dot": ".", "period": ".", "punto": ".", "point": ".",
    "plus": "+", "mas": "+", "slash": "/", "diagonal": "/", "-": "-", "_": "_", ".": ".", "+": "+",
}  # fmt: skip
"""Signs by the words for them."""

SIGN_PAIRS: Final = {
    ("guion", "bajo"): "_", ("raya", "baja"): "_", ("under", "score"): "_", ("guion", "medio"): "-",
}  # fmt: skip


class Unit(msgspec.Struct, frozen=True):
    """What the words from `start` up to and without `end` spell."""

    text: str
    start: int
    end: int
    kind: str
    """`letter`, `digits`, `sign`, or `name` for letters whose names are also words."""


def unit_at(tokens: Sequence[Token], at: int, tongue: str) -> Unit | None:
    """The letter, digits or sign that the words from `at` on spell."""
    word = tokens[at].word
    following = tokens[at + 1].word if at + 1 < len(tokens) else ""
    pair = _PAIRS.get((word, following))
    if pair is not None and not (word == "double" and _is_letter(following) and following != "u"):
        return Unit(pair, at, at + 2, "letter")
    sign = SIGN_PAIRS.get((word, following))
    if sign is not None:
        return Unit(sign, at, at + 2, "sign")
    if word in SIGNS:
        return Unit(SIGNS[word], at, at + 1, "sign")
    example = _with_example(tokens, at)
    if example is not None:
        return example
    if word in {"double", "doble", "triple"} and _is_letter(following):
        return Unit(following * (3 if word == "triple" else 2), at, at + 2, "letter")
    digits = digits_at(tokens, at, tongue)
    if digits is not None and not (_is_letter(word) and word != "o"):
        return Unit(digits[0], at, digits[1], "digits")
    if _is_letter(word):
        return Unit(word, at, at + 1, "letter")
    if word in _CLEAR:
        return Unit(_CLEAR[word], at, at + 1, "letter")
    name = _SHORT.get(word) or (word[0] if word in _RADIO else None)
    return Unit(name, at, at + 1, "name") if name else None


def _is_letter(word: str) -> bool:
    return len(word) == 1 and word.isalpha()


def _with_example(tokens: Sequence[Token], at: int) -> Unit | None:
    """`b as in boy`, `b de burro`: the letter that the example begins with."""
    word = tokens[at].word
    letter = word if _is_letter(word) else _CLEAR.get(word) or _SHORT.get(word)
    if letter is None or tokens[at].ends_clause:
        return None
    for link in _LINKS_OF_TWO:
        end = at + 1 + len(link)
        if end >= len(tokens) or tuple(t.word for t in tokens[at + 1 : end]) != link:
            continue
        example = tokens[end].word
        if len(example) > 1 and example.isalpha() and example[0] == letter:
            return Unit(letter, at, end + 1, "letter")
    return None


def split_tokens(text: str) -> tuple[Token, ...]:
    """The tokens of an answer, letters and digits joined by dashes taken apart: `J-O-H-N`."""
    return tokens_of(re.sub(r"(?<=\b[^\W_])-(?=[^\W_]\b)", " ", text))


def is_spelled_fragment(text: Any = None, language: Any = "") -> bool:
    """Whether the answer is a piece of something that is being spelled, and nothing else.

    `B as in boy`, `j o h n`, `four one three, four one`, `jota u a ene`. A number as it is written,
    and an ordinary word, are not.
    """
    tokens = [t for t in split_tokens(text_of(text)) if t.word not in _SOUNDS]
    tongue = tongue_of(tokens, text_of(language))
    units: list[Unit] = []
    at = 0
    while at < len(tokens):
        if tokens[at].word in {"and", "then", "luego", "despues", "eh"}:
            at += 1
            continue
        unit = unit_at(tokens, at, tongue)
        if unit is None or not _is_spelled(unit, tokens):
            return False
        units.append(unit)
        at = unit.end
    spelled = [unit for unit in units if unit.kind in {"letter", "digits"}]
    names = [unit for unit in units if unit.kind == "name"]
    return bool(spelled) or len(names) > 1


def _is_spelled(unit: Unit, tokens: Sequence[Token]) -> bool:
    """Digits one by one, as `four` or `4`, or a repeated one."""
    if unit.kind != "digits":
        return True
    word = tokens[unit.start].word
    return (
        len(unit.text) == 1
        or (unit.end - unit.start > 1 and len(set(unit.text)) == 1)
        or (
            word not in {"hundred"}
            and not word.isdigit()
            and cardinal(word, "en") == int(unit.text) < 10
        )
    )
