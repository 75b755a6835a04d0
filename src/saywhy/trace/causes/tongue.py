"""In which language a text is, told by its small words; nothing where they do not tell."""

from __future__ import annotations

import re
from typing import Final

_WORD: Final = re.compile(r"[^\W\d_]+")
_LISTS: Final = {
    "en": "the and is are you your to of it that we our with for not please has",
    "de": "der die das und ist sind sie ihr wir nicht mit für bitte auf ein eine",
    "es": "el la los las y es son usted su de que con para por una está muy",
    "pt": "o os as e é são você seu de que com para por uma está não em",
    "fr": "le la les et est sont vous votre de que avec pour une pas nous des",
}
_SMALL: Final = {code: frozenset(words.split(" ")) for code, words in _LISTS.items()}


def tongue(text: object) -> str:
    """The code of the language, empty for texts that are too short or stand between two."""
    words = [word.lower() for word in _WORD.findall(str(text or ""))]
    tally = {code: sum(word in small for word in words) for code, small in _SMALL.items()}
    best, second = sorted(tally, key=lambda code: -tally[code])[:2]
    return best if tally[best] >= 2 and tally[best] > tally[second] else ""
