"""Where does a piece of JavaScript end? Skips texts, comments, regular expressions and templates.

A scanner rather than a parser: it must make sense of text that is still being looked for, such as
the inside of `{{ … }}` in prose, and of text with mistakes in it.
"""

from __future__ import annotations

import re
from typing import Final

_SPACE: Final = re.compile(r"\s+")
_WORD: Final = re.compile(r"[\w$\\]+")
_LINE_COMMENT: Final = re.compile(r"//[^\n]*")
_BLOCK_COMMENT: Final = re.compile(r"/\*.*?\*/", re.DOTALL)
_REGEX: Final = re.compile(r"/(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n\[])+/[a-z]*")
_STRINGS: Final = {
    "'": re.compile(r"'(?:\\.|[^'\\\n])*'", re.DOTALL),
    '"': re.compile(r'"(?:\\.|[^"\\\n])*"', re.DOTALL),
}
_TEMPLATE_TEXT: Final = re.compile(r"(?:\\.|\$(?!\{)|[^`\\$])+", re.DOTALL)
_OPENERS: Final = {")": ("(",), "]": ("[",), "}": ("{", "${")}

_BEFORE_REGEX: Final = frozenset(
    [
        "return",
        "typeof",
        "case",
        "in",
        "of",
        "delete",
        "void",
        "throw",
        "new",
        "do",
        "else",
        "instanceof",
        "yield",
        "await",
    ]
)
"""Words after which a slash starts a regular expression; after other words it divides."""


class Scanner:
    """Reads JavaScript from `at`, one token at a time.

    `open` lists what is open: brackets, template texts and the `${` inside them. `unclosed` is the
    first text, comment or regular expression whose end is missing.
    """

    __slots__ = ("_value_before", "at", "open", "text", "unclosed")

    def __init__(self, text: str, at: int = 0) -> None:
        self.text = text
        self.at = at
        self.open: list[tuple[int, str]] = []
        self.unclosed: tuple[int, str] | None = None
        self._value_before = False  # does what was just read end a value, so that `/` divides?

    def step(self) -> str:
        """Read one token and return it; '' at the end."""
        start = self.at
        if start >= len(self.text):
            return ""
        if self.open and self.open[-1][1] == "`":
            return self._template()
        character = self.text[start]
        if match := _SPACE.match(self.text, start):
            return self._take(match.end(), self._value_before)
        if match := _WORD.match(self.text, start):
            return self._take(match.end(), match[0] not in _BEFORE_REGEX)
        if character in _STRINGS:
            return self._string(character)
        if character == "/":
            return self._slash()
        return self._mark(character)

    def skip_to(self, end: str) -> bool:
        """Read up to and including `end` outside of brackets, texts and comments. False: no end."""
        while self.at < len(self.text):
            if not self.open and self.text.startswith(end, self.at):
                self.at += len(end)
                return True
            self.step()
        return False

    def jump(self, at: int) -> None:
        """Go on at `at`, where a value has just ended."""
        self.at = at
        self._value_before = True

    def _take(self, end: int, value_before: bool) -> str:
        token = self.text[self.at : end]
        self.at = end
        self._value_before = value_before
        return token

    def _fail(self, mark: str) -> str:
        if self.unclosed is None:
            self.unclosed = (self.at, mark)
        return self._take(len(self.text), True)

    def _open(self, mark: str) -> str:
        self.open.append((self.at, mark))
        return self._take(self.at + len(mark), False)

    def _string(self, quote: str) -> str:
        match = _STRINGS[quote].match(self.text, self.at)
        return self._take(match.end(), True) if match else self._fail(quote)

    def _template(self) -> str:
        if self.text.startswith("${", self.at):
            return self._open("${")
        if self.text[self.at] == "`":
            self.open.pop()
            return self._take(self.at + 1, True)
        match = _TEMPLATE_TEXT.match(self.text, self.at)
        return self._take(match.end() if match else self.at + 1, True)

    def _slash(self) -> str:
        for pattern in (_LINE_COMMENT, _BLOCK_COMMENT):
            if match := pattern.match(self.text, self.at):
                return self._take(match.end(), self._value_before)
        if self.text.startswith("/*", self.at):
            return self._fail("/*")
        if self._value_before:
            return self._take(self.at + 1, False)
        match = _REGEX.match(self.text, self.at)
        return self._take(match.end(), True) if match else self._fail("/")

    def _mark(self, character: str) -> str:
        if character in "([{`":
            return self._open(character)
        if character in _OPENERS:
            if self.open and self.open[-1][1] in _OPENERS[character]:
                self.open.pop()
            return self._take(self.at + 1, True)
        for mark in ("++", "--"):
            if self.text.startswith(mark, self.at):
                return self._take(self.at + 2, self._value_before)
        return self._take(self.at + 1, False)


def unclosed(text: str) -> tuple[int, str] | None:
    """Offset and kind of the first bracket, text or template in `text` that is never closed."""
    scanner = Scanner(text)
    while scanner.step():
        pass
    found = ([scanner.unclosed] if scanner.unclosed else []) + scanner.open
    return min(found) if found else None
