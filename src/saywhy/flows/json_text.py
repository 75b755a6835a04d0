"""JSON text → value, with the place of every value and a helpful word about what is wrong.

The values are exactly those that JSON means: numbers, escapes and surrogates come out as from any
JSON reader. A reader of our own is needed because the standard one forgets where things stood; it
is also some ten times faster than reading JSON as YAML.
"""

from __future__ import annotations

import json
import json.decoder
import math
import re
from collections.abc import Callable
from typing import Any, Final

from saywhy.errors import Problem
from saywhy.flows.source import Document, SourceMap, Span, join
from saywhy.values import MAX_DEPTH, NonFinite

# not in the public list of the module, but the heart of every JSON reader since Python 2.6
_scan_string: Final[Callable[[str, int, bool], tuple[str, int]]] = json.decoder.scanstring  # type: ignore[attr-defined]

_BLANK: Final = re.compile(r"[ \t\r\n]*")
_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?(?![0-9.\w])")
_WORD: Final = re.compile(r"[^\s,:\[\]{}\"]+")
_CONSTANTS: Final[dict[str, Any]] = {"true": True, "false": False, "null": None}
_WORDS_OF_OTHERS: Final = {
    "True": "true",
    "False": "false",
    "None": "null",
    "undefined": "null",
    "NaN": "null",
}


def read_json(text: str, file: str) -> Document:
    """The value of a JSON text. A text that is no JSON gives the value None and one problem."""
    reader = _Reader(text)
    source = SourceMap(file, text, reader.spans)
    try:
        value = reader.document()
    except _NotJson as bad:
        place = source.at(bad.at)
        problem = Problem(f"not valid JSON: {bad.message}", place, bad.hint)
        return Document(None, source, (problem,))
    problems = tuple(
        Problem(
            f'the key "{key}" stands twice in one object; the later one wins',
            source.at(at),
            "remove or rename one of the two",
        )
        for key, at in reader.doubled
    )
    return Document(value, source, problems)


class _NotJson(Exception):
    def __init__(self, at: int, message: str, hint: str = "") -> None:
        self.at = at
        self.message = message
        self.hint = hint


class _Reader:
    """One pass over a text. Methods take an offset and give what they read and where it ended."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.spans: dict[str, Span] = {}
        self.doubled: list[tuple[str, int]] = []

    def document(self) -> Any:
        start = self.blank(0)
        if start == len(self.text):
            raise _NotJson(0, "the file is empty", "write a list of flows: [ … ]")
        value, end = self.value(start, "", -1, 0)
        end = self.blank(end)
        if end < len(self.text):
            raise _NotJson(end, "something follows after the end", self.hint_at(end))
        return value

    def blank(self, at: int) -> int:
        found = _BLANK.match(self.text, at)
        return found.end() if found else at

    def value(self, at: int, pointer: str, key: int, depth: int) -> tuple[Any, int]:
        first = self.text[at : at + 1]
        style = ""
        if first == '"':
            value, end = self.string(at)
            style = "json"
        elif first == "{":
            value, end = self.object(at, pointer, depth + 1)
        elif first == "[":
            value, end = self.list(at, pointer, depth + 1)
        else:
            value, end = self.scalar(at)
        self.spans[pointer] = Span(at, end, key, style)
        return value, end

    def object(self, at: int, pointer: str, depth: int) -> tuple[dict[str, Any], int]:
        tree: dict[str, Any] = {}
        start, at = at, self.open(at, depth)
        if self.text.startswith("}", at):
            return tree, at + 1
        while True:
            if not self.text.startswith('"', at):
                raise self.unexpected(at, "a key in double quotes", start)
            key_at = at
            key, at = self.string(at)
            at = self.blank(at)
            if not self.text.startswith(":", at):
                raise self.unexpected(at, '":" after the key', start)
            if key in tree:
                self.doubled.append((key, key_at))
            tree[key], at = self.value(self.blank(at + 1), join(pointer, key), key_at, depth)
            at, more = self.comma_or(at, "}", start)
            if not more:
                return tree, at

    def list(self, at: int, pointer: str, depth: int) -> tuple[list[Any], int]:
        items: list[Any] = []
        start, at = at, self.open(at, depth)
        if self.text.startswith("]", at):
            return items, at + 1
        while True:
            item, at = self.value(at, f"{pointer}/{len(items)}", -1, depth)
            items.append(item)
            at, more = self.comma_or(at, "]", start)
            if not more:
                return items, at

    def open(self, at: int, depth: int) -> int:
        if depth > MAX_DEPTH:
            raise _NotJson(at, f"nested deeper than {MAX_DEPTH} levels")
        return self.blank(at + 1)

    def comma_or(self, at: int, close: str, start: int) -> tuple[int, bool]:
        """Behind a value: either the end, or a comma with something after it."""
        at = self.blank(at)
        if self.text.startswith(close, at):
            return at + 1, False
        if not self.text.startswith(",", at):
            raise self.unexpected(at, f'"," or "{close}"', start)
        after = self.blank(at + 1)
        if self.text.startswith(("}", "]"), after):
            raise _NotJson(at, "a comma with nothing after it", "remove the comma")
        return after, True

    def string(self, at: int) -> tuple[str, int]:
        try:
            return _scan_string(self.text, at + 1, True)
        except json.JSONDecodeError as bad:
            raise self.bad_string(at, bad) from None

    def bad_string(self, at: int, bad: json.JSONDecodeError) -> _NotJson:
        if bad.msg.startswith("Unterminated"):
            return _NotJson(at, "a text that never ends", 'close it with "')
        if bad.msg.startswith("Invalid control"):
            return _NotJson(
                bad.pos,
                "a line break or tab inside a text",
                'write \\n or \\t there, or close the text with " before it',
            )
        return _NotJson(
            bad.pos, "a backslash that starts no JSON escape", "write \\\\ for one backslash"
        )

    def scalar(self, at: int) -> tuple[Any, int]:
        number = _NUMBER.match(self.text, at)
        if number:
            return self.number(number, at), number.end()
        word = _WORD.match(self.text, at)
        if word and word.group() in _CONSTANTS:
            return _CONSTANTS[word.group()], word.end()
        raise self.unexpected(at, "a value", None)

    def number(self, found: re.Match[str], at: int) -> int | float:
        digits = found.group()
        if found.lastindex:
            number = float(digits)
            return number if math.isfinite(number) else NonFinite(number)
        try:
            # JSON knows -0, Python's int does not
            return -0.0 if digits == "-0" else int(digits)
        except ValueError:
            raise _NotJson(at, "a number with too many digits", "write it as a text") from None

    def unexpected(self, at: int, wanted: str, opened: int | None) -> _NotJson:
        if at >= len(self.text):
            where = ""
            if opened is not None:
                line = self.text.count("\n", 0, opened) + 1
                where = f'; the "{self.text[opened]}" of line {line} is still open'
            return _NotJson(at, f"the file ends where {wanted} is missing{where}")
        word = _WORD.match(self.text, at)
        found = word.group()[:30] if word else self.text[at]
        return _NotJson(at, f"found {found} where {wanted} is wanted", self.hint_at(at))

    def hint_at(self, at: int) -> str:
        """What probably happened, judged by what stands there."""
        word = _WORD.match(self.text, at)
        found = word.group() if word else ""
        if found.startswith(("//", "/*", "#")):
            return "JSON has no comments; a .yaml file may have them, behind #"
        if found.startswith(("'", "`", "\u201c", "\u201d")):
            return 'texts stand in straight double quotes: "…"'
        if found in _WORDS_OF_OTHERS:
            return f"JSON writes {_WORDS_OF_OTHERS[found]}"
        if self.text.startswith("{", at) and self.text[:at].rstrip().endswith("{"):
            return 'a template stands in double quotes: "{{ … }}"'
        if self.text.startswith(('"', "{", "["), at):
            return "a comma is probably missing before it"
        if found.startswith(("+", ".")) or re.match(r"-?[0-9]", found):
            return "JSON numbers look like 12, -0.5 or 1e3; put anything else in double quotes"
        return "put texts in double quotes" if found else ""
