"""Which of the choices that were offered does an answer name?"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from saywhy.helpers.words import FILLERS, fold, listed, plain_words, text_of, without

_WORD: Final = re.compile(r"(?:[^\W_]|\*)+")

_NUMBERS: Final = (
    ("one", "first", "1st", "uno", "una", "primero", "primera", "primer"),
    ("two", "second", "2nd", "dos", "segundo", "segunda"),
    ("three", "third", "3rd", "tres", "tercero", "tercera", "tercer"),
    ("four", "fourth", "4th", "cuatro", "cuarto", "cuarta"),
    ("five", "fifth", "5th", "cinco", "quinto", "quinta"),
    ("six", "sixth", "6th", "seis", "sexto", "sexta"),
    ("seven", "seventh", "7th", "siete", "septimo", "septima"),
    ("eight", "eighth", "8th", "ocho", "octavo", "octava"),
    ("nine", "ninth", "9th", "nueve", "noveno", "novena"),
    ("ten", "tenth", "10th", "diez", "decimo", "decima"),
)
_POSITION: Final = {word: number for number, words in enumerate(_NUMBERS, 1) for word in words}
_ORDINALS: Final = frozenset(
    word for words in _NUMBERS for word in words if word not in {words[0], "uno", "una"}
)
_LAST: Final = listed("""last ultimo ultima""")
_AROUND: Final = FILLERS | listed(
    """the a number option choice item i i'd i'll want take would like pick choose go with prefer
    la el lo los las numero opcion quiero quisiera prefiero escojo elijo tomo me quedo con
    press say marque oprima"""
)
_NOT: Final = listed("""not except excepto menos isn't don't no""")


def matches_choice(text: Any = None, choices: Any = None) -> bool:
    """Whether one of the choices stands in the answer, as a whole word or words in a row.

    Case does not count, accents do. Nothing is guessed: `phone` is not in `telephone`.
    """
    if not isinstance(choices, Sequence) or isinstance(choices, str):
        return False
    words = _words(text)
    return any(_stands_in(words, _words(choice)) for choice in choices)


def _words(value: Any) -> list[str]:
    return [word.casefold() for word in _WORD.findall(text_of(value))]


def _stands_in(words: list[str], phrase: list[str]) -> bool:
    size = len(phrase)
    return size > 0 and any(words[at : at + size] == phrase for at in range(len(words) - size + 1))


# ------------------------------------------------------------------ picking


class _Found(msgspec.Struct, frozen=True):
    """A choice named by the words from `start` up to and without `end`."""

    choice: int
    start: int
    end: int


def pick_choice(text: Any = None, choices: Any = None) -> Any:
    """The one choice that the answer names, as it was handed in; null for none, and for several.

    A choice is a text, or an object with `value`, `label` and `words` (a list), any of which may be
    said. Accents do not count. A choice may also be named by its place: `the second one`, `dos`.
    """
    offered = (
        list(choices) if isinstance(choices, Sequence) and not isinstance(choices, str) else []
    )
    at = picked(text_of(text), offered)
    return None if at is None else offered[at]


def picked(text: str, offered: Sequence[Any]) -> int | None:
    """The place of the choice that `text` names, from 0; None for none, and for several."""
    words = plain_words(text)
    found = [
        _Found(number, at, at + len(name))
        for number, choice in enumerate(offered)
        for name in _names_of(choice)
        for at in range(len(words) - len(name) + 1)
        if words[at : at + len(name)] == name
    ]
    named = {one.choice for one in found if not _is_part(one, found) and not _is_denied(one, text)}
    if named:
        return named.pop() if len(named) == 1 else None
    return None if found else _position(words, len(offered))


def _names_of(choice: Any) -> list[list[str]]:
    if not isinstance(choice, Mapping):
        names: list[Any] = [choice]
    else:
        more = choice.get("words")
        names = [choice.get("value"), choice.get("label")]
        names += list(more) if isinstance(more, Sequence) and not isinstance(more, str) else [more]
    found = [plain_words(unicodedata.normalize("NFC", text_of(name))) for name in names]
    return [name for name in found if name]


def _is_part(one: _Found, found: Sequence[_Found]) -> bool:
    """Whether a longer name of another choice holds it: `account` in `savings account`."""
    size = one.end - one.start
    return any(
        other.choice != one.choice
        and other.start <= one.start
        and other.end >= one.end
        and other.end - other.start > size
        for other in found
    )


def _is_denied(one: _Found, text: str) -> bool:
    """Whether `not` stands right before it: `not the blue one`. A comma between them is a turn."""
    at = -1
    for clause in re.split(r"[.,;:!?…]", fold(text).replace("’", "'")):
        words = plain_words(clause)
        for place, word in enumerate(words):
            at += 1
            if at != one.start:
                continue
            before = words[max(0, place - 2) : place]
            articles = {"the", "a", "el", "la", "los", "las", "un", "una"}
            return bool(_NOT & {w for w in before if w not in articles}) and word not in _NOT
    return False


def _position(words: list[str], count: int) -> int | None:
    """The place that an answer of nothing else names."""
    said = without(words, _AROUND)
    # "The second one": the last word only stands for the thing.
    if (
        len(said) == 2
        and said[0] in _ORDINALS | _LAST
        and said[1] in {"one", "uno", "una", "opcion"}
    ):
        said = said[:1]
    if len(said) != 1 or not count:
        return None
    if said[0] in _LAST:
        return count - 1
    number = int(said[0]) if re.fullmatch(r"[0-9]{1,3}", said[0]) else _POSITION.get(said[0], 0)
    return number - 1 if 0 < number <= count else None
