"""Texts of a mapping with values in them: `{{name}}: {{#each rows}}{{@index}} {{sku}}{{/each}}`.

Only paths stand in the braces, never expressions. What is missing gives an empty text. Blocks may
stand in each other; one that is not closed, or closes nothing, stays as it is written.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple, TypeAlias

from saywhy.tools.mapping.paths import PathProblem, Reader, parse_path, reader_of
from saywhy.tools.mapping.run import Run
from saywhy.tools.mapping.texts import text_of
from saywhy.values import UNDEFINED, raw

TOKEN: Final = re.compile(
    r"\{\{(?P<hole>[^{}]*(?:\{[^{}]*\}[^{}]*)*)\}\}|\{(?P<arg>\$args[^{}\s]*)\}"
)
_BLOCK: Final = re.compile(r"#(each|if|unless)\s+(.+)", re.DOTALL)
MAX_BLOCKS: Final = 20
"""How deep blocks may stand in each other."""


class Spot(NamedTuple):
    """Where in the data a part of the template stands."""

    data: Any
    number: int = -1
    is_last: bool = False


Part: TypeAlias = Callable[[Run, Spot], str]
Text: TypeAlias = Callable[[Run, Any], str]


class TemplateProblem(ValueError):
    """A template with a block that does not fit; the message says which."""


def template_of(text: str, *, keep_missing: bool = False) -> Text:
    """The template as a function of the data.

    With `keep_missing` the braces of what is not there stay in the text.
    """
    tokens = list(_tokens(text))
    try:
        parts = _Parser(tokens, keep_missing).parse()
    except TemplateProblem:
        parts = [_value(token, keep_missing) for token in tokens]

    def fill(run: Run, data: Any) -> str:
        spot = Spot(data)
        filled = "".join([part(run, spot) for part in parts])
        run.spend(len(filled))
        return filled

    return fill


def template_problem(text: str) -> str:
    """What is wrong with the blocks and paths of a template; empty when nothing is."""
    tokens = list(_tokens(text))
    try:
        _Parser(tokens, keep_missing=False).parse()
        for token in tokens:
            _check_path(token)
    except (TemplateProblem, PathProblem) as problem:
        return str(problem)
    return ""


class Token(NamedTuple):
    """A piece of the template: literal, or what stands in braces."""

    text: str
    hole: str | None = None


def _tokens(text: str) -> Iterator[Token]:
    at = 0
    for match in TOKEN.finditer(text):
        if match.start() > at:
            yield Token(text[at : match.start()])
        inside = match["hole"] if match["arg"] is None else match["arg"]
        yield Token(match[0], inside.strip())
        at = match.end()
    if at < len(text):
        yield Token(text[at:])


class _Parser:
    def __init__(self, tokens: list[Token], keep_missing: bool) -> None:
        self._tokens = tokens
        self._keep = keep_missing
        self._at = 0

    def parse(self) -> list[Part]:
        return self._block("", 0)

    def _block(self, closing: str, depth: int) -> list[Part]:
        if depth > MAX_BLOCKS:
            raise TemplateProblem(f"blocks stand in each other deeper than {MAX_BLOCKS}")
        parts: list[Part] = []
        while self._at < len(self._tokens):
            token = self._tokens[self._at]
            self._at += 1
            hole = token.hole or ""
            if hole.startswith("/"):
                if hole[1:].strip() != closing:
                    raise TemplateProblem(f"{token.text} closes nothing that is open")
                return parts
            parts.append(self._part(token, hole, depth))
        if closing:
            raise TemplateProblem(
                f"{{{{#{closing} …}}}} is not closed: {{{{/{closing}}}}} is missing"
            )
        return parts

    def _part(self, token: Token, hole: str, depth: int) -> Part:
        if not hole.startswith("#"):
            return _value(token, self._keep)
        block = _BLOCK.fullmatch(hole)
        if block is None:
            raise TemplateProblem(
                f"{token.text} is no block: there are #each, #if and #unless, each with a path"
            )
        body = self._block(block[1], depth + 1)
        if block[1] == "each":
            return _each(_reader(block[2]), body)
        return _if(_test(block[2]), body, wanted=block[1] == "if")


# ------------------------------------------------------------------ parts


def _value(token: Token, keep_missing: bool) -> Part:
    hole = token.hole
    if hole is None:
        return lambda run, spot: token.text
    if hole.startswith(("#", "/")):
        return lambda run, spot: token.text
    if hole == "@index":
        return lambda run, spot: str(spot.number) if spot.number >= 0 else ""
    if hole in ("@first", "@last"):
        test = _test(hole)
        return lambda run, spot: "true" if test(run, spot) else "false"
    read = _reader(hole)

    def value(run: Run, spot: Spot) -> str:
        found = read(run, spot.data)
        if found is UNDEFINED and keep_missing:
            return token.text
        return text_of(found)

    return value


def _reader(source: str) -> Reader:
    try:
        return reader_of(parse_path("" if source.strip() == "this" else source))
    except PathProblem:
        return lambda run, data: UNDEFINED


def _test(source: str) -> Callable[[Run, Spot], bool]:
    match source.strip():
        case "@last":
            return lambda run, spot: spot.is_last
        case "@first":
            return lambda run, spot: spot.number == 0
        case "@index":
            return lambda run, spot: spot.number > 0
        case path:
            read = _reader(path)
            return lambda run, spot: _holds(read(run, spot.data))


def _holds(value: Any) -> bool:
    """Truth as in JavaScript, but an empty list or object has nothing to show either."""
    return bool(raw(value)) and value == value  # noqa: PLR0124 - NaN is not equal to itself


def _each(read: Reader, body: list[Part]) -> Part:
    def each(run: Run, spot: Spot) -> str:
        items = raw(read(run, spot.data))
        if not isinstance(items, list):
            return ""
        run.take(len(items))
        last = len(items) - 1
        pieces: list[str] = []
        for index, item in enumerate(items):
            inner = Spot(item, index, index == last)
            piece = "".join([part(run, inner) for part in body])
            run.spend(len(piece))
            pieces.append(piece)
        return "".join(pieces)

    return each


def _if(test: Callable[[Run, Spot], bool], body: list[Part], *, wanted: bool) -> Part:
    def part(run: Run, spot: Spot) -> str:
        if test(run, spot) is not wanted:
            return ""
        return "".join([each(run, spot) for each in body])

    return part


def _check_path(token: Token) -> None:
    hole = token.hole
    if hole is None or hole.startswith(("/", "@")) or hole == "this":
        return
    block = _BLOCK.fullmatch(hole)
    source = (block[2] if block else hole).strip()
    if not source.startswith("@"):
        parse_path(source)
