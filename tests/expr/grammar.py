"""Random expressions: what flow authors may write, put together by chance.

Every name in a text is one that `cases` has a value for, so that parts can be put anywhere;
parameters of functions carry the same names and hide them. Left out is what the language leaves to
the engine (comparing inconsistently while sorting, the text of a function, the last digit of a
sine) or to chance (the time, `random`).
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final

from hypothesis import strategies as st

from saywhy.values import UNDEFINED, BigInt, Date

_HOLE: Final = re.compile("<(num|str|arr|obj|bool|big|date|re|any|lit|lit2)>")
_ALONE: Final = re.compile(r"[\[(, {]?[\]),}]?")
_NAME: Final = re.compile(r"\w+")

_TEXT: Final = Path(__file__).with_name("grammar.txt")


def _sections(text: str) -> dict[str, tuple[str, ...]]:
    """The lines below each heading."""
    sections: dict[str, list[str]] = {}
    for line in text.splitlines():
        if line.startswith("=== "):
            sections[line[4:]] = []
        elif line and not line.startswith("# "):
            sections[next(reversed(sections))].append(line)
    return {name: tuple(lines) for name, lines in sections.items()}


SHAPES: Final = _sections(_TEXT.read_text(encoding="utf-8"))
LITERALS: Final = ("", "a", " é ", "😀", "$", "{{", "}", "x = ")
LITERALS_IN_PATTERNS: Final = ("a", "\\d", "[^,]", ".", "x?", "\\s*")


@st.composite
def expressions(draw: st.DrawFn, depth: int = 3) -> str:
    """The text of one expression."""
    return _made(draw, "any", draw(st.integers(1, depth)))


def _made(draw: st.DrawFn, kind: str, depth: int) -> str:
    if kind == "lit":
        return draw(st.sampled_from(LITERALS)).replace("${", "$")
    if kind == "lit2":
        return draw(st.sampled_from(LITERALS_IN_PATTERNS))
    if depth <= 0:
        return draw(st.sampled_from(SHAPES[f"{kind} leaf"]))
    shape = draw(st.sampled_from(SHAPES[kind]))
    parts = _HOLE.split(shape)
    inside = depth if _HOLE.fullmatch(shape) else depth - 1
    # Text and the kind of a hole take turns. Where a member or an operator follows, brackets do.
    for at in range(1, len(parts), 2):
        made = _made(draw, parts[at], inside)
        around = parts[at - 1][-1:] + parts[at + 1][:1]
        is_bare = parts[at].startswith("lit") or _ALONE.fullmatch(around)
        parts[at] = made if is_bare else f"({made})"
    return "".join(parts)


_TEXTS: Final = st.text(st.characters(exclude_categories=[], max_codepoint=0x1FFFF), max_size=6)
_WORDS: Final = st.text("aAbB xX0159-.,/ßéİıΣς😀\u0301\ud800\udc00\u2028\0\n", max_size=8)
_EXPONENTS: Final = """
    -1017 -1007 -957 -921 -808 -791 -788 -778 -705 -695 -662 -652 -645 -569 -549 -509 -499 -496
    -489 -383 -366 -296 -140 -97 -77 -44 -24 89 122 132 149 172 182 275 305 345 378 398 405 481
    534 544 554 574 594 710 740 803 863 890 896 956 966 976
"""
DIGIT_TOO_MANY: Final = frozenset(map(int, _EXPONENTS.split()))
"""Powers of two that the engine writes with a digit more than it takes, when it joins texts itself.
No other number is known to have one. `String(n)` alone and `{{n}}` are not the engine's doing."""

_EXCEPTIONS: Final = frozenset(2.0**power for power in DIGIT_TOO_MANY)
_POWERS: Final = [power for power in range(-1074, 1024) if power not in DIGIT_TOO_MANY]
_NUMBERS: Final = (
    st.integers(-20, 300)
    | st.integers(-(2**53), 2**53)
    | st.floats().filter(lambda number: abs(number) not in _EXCEPTIONS)
    | st.sampled_from([0.5, 1.005, -0.0, 2.0**31, 2.0**32 + 0.5, 1e21, 123456789.125, 5e-324])
    | st.sampled_from(_POWERS).map(lambda power: 2.0**power)
    | st.decimals(-10_000, 10_000, places=3).map(float)
)
_BIGS: Final = st.integers(-(10**30), 10**30).map(BigInt)
_DATES: Final = st.integers(-(10**13), 10**13).map(Date)
_KEYS: Final = st.sampled_from(["a", "b", "x", "y", "0", "1", "length", "Z", "é"]) | _WORDS
_LEAVES: Final = (
    st.none() | st.booleans() | _NUMBERS | _WORDS | _TEXTS | _BIGS | _DATES | st.just(UNDEFINED)
)
_TREES: Final = st.recursive(
    _LEAVES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_KEYS, inner, max_size=4),
    max_leaves=6,
)
_ITEMS: Final = st.lists(
    st.fixed_dictionaries({"name": _WORDS, "x": _NUMBERS, "a": st.just({"b": 1})}), max_size=3
)


_VALUES: Final[dict[str, st.SearchStrategy[Any]]] = {
    "n": _NUMBERS,
    "m": _NUMBERS,
    "s": _WORDS,
    "t": _TEXTS,
    "b": st.booleans(),
    "a": st.lists(_TREES, max_size=4),
    "o": st.dictionaries(_KEYS, _TREES, max_size=4),
    "items": _ITEMS,
    "big": _BIGS,
    "d": _DATES,
    "v": _TREES,
    "x": _TREES,
    "y": _LEAVES,
}


@st.composite
def cases(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    """An expression with values for the names in it."""
    source = draw(expressions())
    spelled = set(_NAME.findall(source))
    return source, {name: draw(values) for name, values in _VALUES.items() if name in spelled}
