"""Where in a file does each value stand?

A reader (`json_text`, `yaml_text`) hands over the text of a file and the spans of its values; a
`SourceMap` turns a JSON pointer into line and column, also for a spot inside a text, through
escapes and the indentation of block texts. How files are read, and what the values mean, is left
to others.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import Any, Final, NamedTuple

from saywhy.errors import Place, Problem


class Span(NamedTuple):
    """Where one value stands: offsets into the text of the file."""

    start: int
    end: int
    key: int = -1
    """Offset of the key in front of the value; -1 in a list and at the top."""
    style: str = ""
    """How a text is written: `json`, `plain`, `'`, `"`, `|` or `>`; empty for other values."""


class Document(NamedTuple):
    """A file that was read: its value, where everything stands, and what was wrong with it."""

    value: Any
    source: SourceMap
    problems: tuple[Problem, ...] = ()


def join(pointer: str, *parts: str | int) -> str:
    """The JSON pointer of a child: `join("/0", "branches", "a/b")` is `/0/branches/a~1b`."""
    for part in parts:
        pointer += "/" + str(part).replace("~", "~0").replace("/", "~1")
    return pointer


def parent_of(pointer: str) -> str:
    """The pointer of the object or list around; the top is its own parent."""
    return pointer.rpartition("/")[0]


class SourceMap:
    """JSON pointer → place, for one file. What is not there is placed by what is around it."""

    __slots__ = ("_lines", "_spans", "file", "text")

    def __init__(self, file: str, text: str, spans: dict[str, Span] | None = None) -> None:
        self.file: Final = file
        self.text: Final = text
        self._spans = {} if spans is None else spans
        self._lines: list[int] = []

    def place(self, pointer: str) -> Place:
        """The place of the value."""
        span = self.span(pointer)
        return self.at(span.start if span else 0, pointer)

    def key_place(self, pointer: str) -> Place:
        """The place of the key in front of the value, or of the value where there is no key."""
        span = self._spans.get(pointer)
        if span is None or span.key < 0:
            return self.place(pointer)
        return self.at(span.key, pointer)

    def place_inside(self, pointer: str, text: str, offset: int, *, key: bool = False) -> Place:
        """The place of the character `offset` of a text value (or of its key, with `key`)."""
        span = self._spans.get(pointer)
        if span is None:
            return self.place(pointer)
        if key:
            span = self._key_span(span)
        walker = _WALKERS.get(span.style)
        found = walker(self.text, span, offset) if walker else None
        if found is None:
            found = _walk_folded(self.text, span, text[:offset])
        return self.at(found, pointer)

    def span(self, pointer: str) -> Span | None:
        """The span of the value, or of the nearest thing around it that stands in the file."""
        while pointer and pointer not in self._spans:
            pointer = parent_of(pointer)
        return self._spans.get(pointer)

    def at(self, offset: int, pointer: str = "") -> Place:
        """The place of one character of the file."""
        if not self._lines:
            self._lines = [0, *(end.end() for end in re.finditer(r"\r\n|\n|\r", self.text))]
        line = bisect_right(self._lines, offset) - 1
        return Place(self.file, line + 1, offset - self._lines[line] + 1, pointer)

    def line_at(self, offset: int) -> str:
        """The whole line around one character of the file."""
        start = max(self.text.rfind("\n", 0, offset), self.text.rfind("\r", 0, offset)) + 1
        end = re.compile(r"[\r\n]|\Z").search(self.text, offset)
        return self.text[start : end.start() if end else None]

    def _key_span(self, span: Span) -> Span:
        quote = self.text[span.key : span.key + 1]
        return Span(span.key, span.start, style=quote if quote in "'\"" else "plain")


def _walk_plain(text: str, span: Span, offset: int) -> int | None:
    """A plain YAML text shows each character as it is, until it runs over a line's end."""
    one_line = "\n" not in text[span.start : span.start + offset]
    return span.start + offset if one_line else None


_ESCAPE: Final = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    r"|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|x[0-9a-fA-F]{2}|.)",
    re.DOTALL,
)


def _walk_double(text: str, span: Span, offset: int) -> int | None:
    """Double quotes: an escape is one character, and so are the two halves of a surrogate pair."""
    at, end = span.start + 1, min(span.end, len(text))
    while offset > 0 and at < end:
        escape = text.find("\\", at, at + offset)
        plain = (escape - at) if escape >= 0 else offset  # in one leap: a text may hold many names
        if span.style != "json" and (
            "\r" in text[at : at + plain] or "\n" in text[at : at + plain]
        ):
            return None
        at, offset = at + plain, offset - plain
        if escape >= 0:
            found = _ESCAPE.match(text, at)
            at, offset = found.end() if found else at + 1, offset - 1
    return at if at < end else None


def _walk_single(text: str, span: Span, offset: int) -> int | None:
    """Single quotes: a doubled quote is one character."""
    at = span.start + 1
    for _ in range(offset):
        if text[at] in "\r\n":
            return None
        at += 2 if text.startswith("''", at) else 1
        if at >= span.end:
            return None
    return at


def _walk_literal(text: str, span: Span, offset: int) -> int | None:
    """A `|` block: every line stands behind the indentation of the first one."""
    header, _, body = text[span.start : span.end].partition("\n")
    at = span.start + len(header) + 1
    if re.search(r"\d", header.partition("#")[0]):
        return None
    indent = min((len(line) - len(line.lstrip(" ")) for line in body.split("\n") if line.strip()),
                 default=0)  # fmt: skip
    for line in body.split("\n"):
        shown = line[indent:].rstrip("\r")
        if offset <= len(shown):
            return at + min(indent, len(line)) + offset
        offset -= len(shown) + 1
        at += len(line) + 1
    return None


def _walk_folded(text: str, span: Span, before: str) -> int:
    """A text whose lines were joined: only blanks differ, so all other characters are counted."""
    wanted = len("".join(before.split()))
    at = span.start + 1 if span.style in _QUOTES else span.start
    if span.style in ("|", ">"):
        at = text.find("\n", at) + 1
    while at < span.end:
        character = _ONE_CHARACTER[span.style].match(text, at)
        assert character, "the patterns match any character"
        if not character.group().isspace():
            if wanted == 0:
                return at
            # an escaped line end or blank is a blank as well
            wanted -= 0 if _ESCAPED_BLANK.fullmatch(character.group()) else 1
        at = character.end()
    return span.start


_ANY: Final = re.compile(r".", re.DOTALL)
_ESCAPED_BLANK: Final = re.compile(r"\\(?:[nrt \r\n]|x20|u0020)")
_QUOTES: Final = frozenset({"'", '"', "json"})
_ONE_CHARACTER: Final = {
    "": _ANY,
    "plain": _ANY,
    "|": _ANY,
    ">": _ANY,
    "'": re.compile(r"''|.", re.DOTALL),
    '"': re.compile(rf"{_ESCAPE.pattern}|.", re.DOTALL),
    "json": re.compile(rf"{_ESCAPE.pattern}|.", re.DOTALL),
}
_WALKERS: Final = {
    "json": _walk_double,
    "plain": _walk_plain,
    '"': _walk_double,
    "'": _walk_single,
    "|": _walk_literal,
}
