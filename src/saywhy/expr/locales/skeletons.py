"""Which pattern writes these parts of a date, each of this length, in a language?

A skeleton says what is wanted: `yMMMMd` is a year, the month in words and a day. A language has
patterns for the usual ones; the nearest is taken and its fields get the wanted lengths, which is
how ICU, and so Node, does it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, TypeAlias

from babel.dates import tokenize_pattern

Field: TypeAlias = tuple[str, int]
Token: TypeAlias = str | Field
"""A text that stands as it is, or a letter and how often it is repeated."""

_KINDS: Final = {
    **dict.fromkeys("GG", "G"),
    **dict.fromkeys("yYu", "y"),
    **dict.fromkeys("ML", "M"),
    **dict.fromkeys("Eec", "E"),
    "d": "d",
    **dict.fromkeys("abB", "a"),
    **dict.fromkeys("hHkK", "h"),
    "m": "m",
    "s": "s",
    "S": "S",
    **dict.fromkeys("zvOVZ", "z"),
}
"""What a letter of a pattern is about."""
_DATE: Final = "GyMEd"
_WORDS: Final = "GMEa"
_LONGEST_NUMBER: Final = 2


def tokens_of(pattern: str) -> list[Token]:
    """The texts and fields of a pattern."""
    made: list[Token] = []
    for kind, value in tokenize_pattern(pattern):
        if kind == "field":
            letter, length = value
            made.append((str(letter), int(length)))
        else:
            made.append(str(value))
    return made


def kind_of(letter: str) -> str:
    """What a letter is about; empty where nothing is known of it."""
    return _KINDS.get(letter, "")


def pattern_for(locale: Any, wanted: Sequence[Field]) -> list[Token] | None:
    """The language's pattern with exactly these fields, in these lengths; None without one."""
    kinds = {_KINDS[letter] for letter, _ in wanted}
    cycle = next((letter for letter, _ in wanted if letter in "hHkK"), "")
    best: tuple[int, Mapping[str, Field], str] | None = None
    for name, pattern in locale.datetime_skeletons.items():
        have = _fields(name)
        if not kinds - {"a"} <= have.keys() or have.keys() - {"a"} != kinds - {"a"}:
            continue
        if cycle and (have["h"][0] in "hK") != (cycle in "hK"):
            continue
        if ("B" in name) != any(letter == "B" for letter, _ in wanted):
            continue
        distance = sum(_distance(have[_KINDS[letter]], (letter, n)) for letter, n in wanted)
        if best is None or distance < best[0]:
            best = (distance, have, str(getattr(pattern, "pattern", pattern)))
    if best is None:
        return None
    return _adjusted(tokens_of(best[2]), best[1], wanted, is_exact=best[0] == 0)


@lru_cache(maxsize=512)
def _fields(skeleton: str) -> dict[str, Field]:
    """The fields of a skeleton by what they are about; one that is unknown makes it unusable."""
    found: dict[str, Field] = {}
    for token in tokens_of(skeleton):
        if isinstance(token, str) or not kind_of(token[0]):
            return {"?": ("?", 1)}
        letter, length = token
        found[_KINDS[letter]] = (letter, max(3, length) if letter in "Eec" else length)
    return found


def _distance(have: Field, wanted: Field) -> int:
    if _is_number(have) != _is_number(wanted):
        return 1000
    return abs(have[1] - wanted[1]) * 10 + (have[0] != wanted[0])


def _is_number(field: Field) -> bool:
    return _KINDS[field[0]] not in _WORDS or (
        _KINDS[field[0]] == "M" and field[1] <= _LONGEST_NUMBER
    )


def _adjusted(
    tokens: Sequence[Token],
    have: Mapping[str, Field],
    wanted: Iterable[Field],
    *,
    is_exact: bool,
) -> list[Token]:
    """The pattern with the lengths that are wanted, where they are not those it was made for."""
    lengths = {_KINDS[letter]: (letter, length) for letter, length in wanted}
    made: list[Token] = []
    for token in tokens:
        if isinstance(token, str):
            made.append(token)
            continue
        letter, length = token
        kind = kind_of(letter)
        asked = lengths.get(kind)
        if asked is None:
            made.append(token)
            continue
        is_same_form = _is_number(token) == _is_number(asked)
        if is_same_form and (
            have.get(kind, asked)[1] != asked[1] or (kind == "h" and not is_exact)
        ):
            length = asked[1]  # an hour is as it is wanted unless the pattern fits altogether
        if kind in "hz" or asked[0] == "B":
            letter = asked[0]
        made.append((letter, length))
    return made


def is_date(field: Field) -> bool:
    """Whether a field is of the day rather than the time of day."""
    return _KINDS[field[0]] in _DATE
