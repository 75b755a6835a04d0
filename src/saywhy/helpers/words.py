"""What are the words of an answer? Tokens with their places, and the words that say nothing.

Every reader of an answer begins here, so that what two of them found can be compared by place.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Sequence
from typing import Any, Final

import msgspec

MAX_TEXT: Final = 2_000
"""Characters of an answer that are looked at. Nobody says an address after that many."""

_EDGES: Final = ".,;:!?¿¡\"'“”‘’()[]{}<>…"
_CLAUSE: Final = frozenset(".,;:!?…")


_MARKS: Final = (
    *range(0x200B, 0x2010),
    *range(0x202A, 0x202F),
    *range(0x2060, 0x206A),
    0xAD,
    0xFEFF,
)
_SPACED: Final = dict.fromkeys(_MARKS, " ")
_REMOVED: Final = dict.fromkeys(_MARKS)


class Token(msgspec.Struct, frozen=True):
    """One word as it was written, and as it is compared: without case and accents."""

    text: str
    word: str
    start: int
    end: int
    ends_clause: bool = False
    """Whether a comma, a full stop or the like follows."""


def text_of(value: Any) -> str:
    """An answer as text: a number as it is written, and nothing for what is neither."""
    if isinstance(value, str):
        text = unicodedata.normalize("NFC", value[:MAX_TEXT])
        return text if text.isascii() else text.translate(_REMOVED)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return ""
    if isinstance(value, float) and value.is_integer():
        return f"{value:.0f}"
    return str(value) if abs(value) < 10**40 else ""


def visible(text: str) -> str:
    """A text with a space for each mark that nobody sees, such as the marks of a direction that
    come with a number pasted from a list of contacts. Every other character keeps its place."""
    return text if text.isascii() else text.translate(_SPACED)


def fold(text: str) -> str:
    """A text as it is compared: `Pérez` and `PEREZ` are the same."""
    if text.isascii():
        return text.lower()
    apart = unicodedata.normalize("NFD", text.casefold())
    return "".join(letter for letter in apart if not unicodedata.combining(letter))


def tokens_of(text: str) -> tuple[Token, ...]:
    """The words of a text, punctuation at their edges taken off."""
    found: list[Token] = []
    for match in re.finditer(r"\S+", text):
        raw = match.group()
        inner = raw.strip(_EDGES)
        is_last = any(mark in _CLAUSE for mark in raw[len(raw.rstrip(_EDGES)) :])
        if not inner:
            if found and any(mark in _CLAUSE for mark in raw):
                found[-1] = msgspec.structs.replace(found[-1], ends_clause=True)
            continue
        start = match.start() + raw.index(inner)
        word = fold(inner).replace("’", "'")
        found.append(Token(inner, word, start, start + len(inner), is_last))
    return tuple(found)


def plain_words(text: str) -> list[str]:
    """The words of a text alone: letters, digits and `'`, folded."""
    return re.findall(r"[^\W_]+(?:'[^\W_]+)*|\*|#", fold(text).replace("’", "'"))


def listed(words: str) -> frozenset[str]:
    """The words of a text, as a set to look words up in."""
    return frozenset(words.split())


FILLERS: Final = listed(
    """um uh er erm hmm hm mm ah oh eh em well so like okay ok yeah yes yep sure please thanks
    thank you hello hi hey sorry actually just kindly now then alright right basically este
    pues bueno mmm aja ajá si claro por favor gracias hola oye oiga mire disculpe perdon
    entonces ahora vale"""
)
"""Words around an answer that say nothing of their own."""

NOISE: Final = listed("um uh uhm er erm hmm hm mm mmm ah eh em este pues bueno well so like")
"""Sounds that are no answer to anything."""


def without(words: Sequence[str], dropped: Collection[str]) -> list[str]:
    """`words` that are not among `dropped`."""
    return [word for word in words if word not in dropped]
