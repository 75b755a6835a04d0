"""Whether a message asks for an action, by the words of the action's condition.

Two ways. The usual one knows English letters only: everything else is deleted, short and common
words are dropped, and one whole word in common is enough. The other one knows the letters of all
scripts. Neither understands anything: a matcher of your own may.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Iterator
from functools import lru_cache
from typing import Final, Literal, TypeAlias

import msgspec

ConditionMatcher: TypeAlias = Callable[[str, str], bool]
"""Says whether a condition (first) is met by a message (second)."""

_COMMON: Final = (
    "a about an and any are as asks at be been being but by for from if in into is it its more of"
    " on or some that the this to user wants was were with"
)
STOP_WORDS: Final = frozenset(_COMMON.split())
"""Words that say nothing about what is asked for."""
SHORTEST_WORD: Final = 3

_DELETED: Final = re.compile(r"[^a-z0-9\s]")
_WORDS: Final = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")


class ConditionMatch(msgspec.Struct, frozen=True, omit_defaults=True):
    """Whether a condition was met, and by which words."""

    matched: bool
    words: tuple[str, ...] = ()
    """Words of the condition that stand in the message, in the condition's order."""
    wanted: tuple[str, ...] = ()
    """Words of the condition that were looked for."""


def default_condition_matcher(condition: str, message: str) -> bool:
    """Whether a content word of `condition` stands in `message`. For English."""
    return match_condition(condition, message).matched


def unicode_condition_matcher(
    condition: str, message: str, *, stop_words: Collection[str] = STOP_WORDS
) -> bool:
    """Like the usual matcher, for the letters of all scripts.

    Case and accents of Latin letters do not count. What is written without blanks is compared by
    pairs of characters. `stop_words` are the words that say nothing in the language of the texts.
    """
    return match_condition(condition, message, mode="unicode", stop_words=stop_words).matched


def match_condition(
    condition: str,
    message: str,
    *,
    mode: Literal["usual", "unicode"] = "usual",
    stop_words: Collection[str] = STOP_WORDS,
) -> ConditionMatch:
    """Either way of matching, with the words that decided."""
    split = _usual_words if mode == "usual" else _unicode_words
    dull = stop_words if mode == "usual" else {word for one in stop_words for word in split(one)}
    wanted = tuple(dict.fromkeys(word for word in split(condition) if word not in dull))
    present = set(split(message))
    words = tuple(word for word in wanted if word in present)
    return ConditionMatch(bool(words), words, wanted)


def _usual_words(text: str) -> Iterator[str]:
    # Deleted, not replaced by a blank: "follow-up" is one word.
    for word in _DELETED.sub("", text.lower()).split():
        if len(word) >= SHORTEST_WORD:
            yield word


def _unicode_words(text: str) -> Iterator[str]:
    folded = unicodedata.normalize("NFKC", text).casefold()
    for run in _WORDS.findall(unicodedata.normalize("NFC", _without_accents(folded))):
        if any(map(_has_no_blanks, run)):
            yield from _pairs(run)
        elif len(run) >= SHORTEST_WORD or run.isdecimal():
            yield run


def _without_accents(text: str) -> str:
    """Latin letters without their accents; other scripts as they are, where marks are letters."""
    plain: list[str] = []
    for one in unicodedata.normalize("NFD", text):
        if unicodedata.combining(one) and plain and plain[-1].isascii():
            continue
        plain.append(one)
    return "".join(plain)


@lru_cache(maxsize=4096)
def _has_no_blanks(one: str) -> bool:
    """Whether the character is of a script that puts no blanks between words."""
    name = unicodedata.name(one, "")
    return name.startswith(("CJK ", "HIRAGANA", "KATAKANA", "THAI ", "LAO ", "KHMER", "MYANMAR"))


def _pairs(run: str) -> Iterator[str]:
    if len(run) == 1:
        yield run
    for at in range(len(run) - 1):
        yield run[at : at + 2]
