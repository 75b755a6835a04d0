"""A tool's text must not speak in the name of instructions.

What a tool answers may come from anybody: a web page, a mail, a customer's note. The marks by which
the model knows our words are therefore changed where they stand in a tool's text, also when they
are written with other brackets, other letter cases or JSON escapes. Nothing is taken away.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

TEXT_MARK: Final = "[INSTRUCTION]"
ACTION_MARK: Final = "[AVAILABLE ACTION]"
MARKS: Final = (TEXT_MARK, ACTION_MARK)

_HIDDEN: Final = "(?:[\u00ad\u200b-\u200f\u2060\ufeff]|\\\\u(?:00ad|200[b-f]|2060|feff))*"
"""Characters nobody sees, which would keep a mark from being found."""
_OPEN: Final = r"(?:[\[\uff3b\u3010]|\\u(?:005b|ff3b|3010))"
_CLOSE: Final = r"(?:[\]\uff3d\u3011]|\\u(?:005d|ff3d|3011))"
_SPACE: Final = r"(?:\s|_|-|\\[nrt]|\\u00(?:20|a0))"


def fence(content: str, marks: Iterable[str] = ()) -> str:
    """`content` with every mark of ours in it made harmless; `marks` are further ones.

    A text without marks comes back as it is.
    """
    fenced = _pattern().sub(_quoted, content) if _may_hold_mark(content) else content
    for mark in marks:
        if mark:
            fenced = fenced.replace(mark, f"{mark[0]}tool output: {mark[1:]}")
    return fenced


def _may_hold_mark(content: str) -> bool:
    # Written out: a generator costs more than the four looks.
    return "[" in content or "\\u" in content or "\uff3b" in content or "\u3010" in content


def _quoted(found: re.Match[str]) -> str:
    return f"{found['open']}tool output: {found['inside']}"


@lru_cache(maxsize=1)
def _pattern() -> re.Pattern[str]:
    names = "|".join(_letters(mark.strip("[]")) for mark in MARKS)
    gap = f"(?:{_SPACE}|{_HIDDEN[:-1]})*"
    text = f"(?P<open>{_OPEN})(?P<inside>{gap}(?:{names}){gap}{_CLOSE})"
    return re.compile(text, re.IGNORECASE)


def _letters(name: str) -> str:
    """A pattern for the words of a mark, each letter plain, wide, or as a JSON escape."""
    return _HIDDEN.join(_letter(one) for one in name)


def _letter(one: str) -> str:
    if one == " ":
        return f"{_SPACE}+"
    codes = "|".join(f"{ord(form):04x}" for form in (one.upper(), one.lower()))
    wide = chr(ord(one.upper()) - 0x41 + 0xFF21)
    return rf"(?:[{one}{wide}]|\\u(?:{codes}))"
