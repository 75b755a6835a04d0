"""Is this text one JavaScript expression, and if not, where and why?

Holds the parser, loaded on first use, and turns its error nodes into a sentence with a span. What
the names in the tree mean is `scopes`; whether the engine agrees that it is strict-mode JavaScript
is `javascript`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from saywhy.expr.scan import unclosed

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

MAX_LENGTH: Final = 10_000
"""Characters in one expression."""

STATEMENTS: Final = frozenset(
    [
        "if",
        "for",
        "while",
        "do",
        "switch",
        "return",
        "throw",
        "let",
        "const",
        "var",
        "try",
        "break",
        "continue",
        "debugger",
        "with",
    ]
)

_HEAD: Final = "(\n"
_TAIL: Final = "\n)"


@dataclass(frozen=True, slots=True)
class SyntaxProblem:
    """Why a text is no expression; `span` counts characters of the text, from 0."""

    message: str
    span: tuple[int, int]
    hint: str = ""


class Source:
    """One expression with its tree. Offsets given out are characters of `text`."""

    __slots__ = ("_starts", "root", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        encoded = (_HEAD + text + _TAIL).encode("utf-8", "surrogatepass")
        self.root: Node = _parser().parse(encoded).root_node
        self._starts = None if text.isascii() else _character_starts(text)

    def offset(self, byte: int) -> int:
        """The character of `text` at a byte of what was parsed, kept inside the text."""
        at = byte - len(_HEAD)
        if self._starts is not None:
            at = self._starts[max(0, min(at, len(self._starts) - 1))]
        return max(0, min(at, len(self.text)))

    def span(self, node: Node) -> tuple[int, int]:
        """Start and end of `node` in `text`."""
        return self.offset(node.start_byte), self.offset(node.end_byte)

    def spelling(self, node: Node) -> str:
        """The characters of `node`."""
        start, end = self.span(node)
        return self.text[start:end]

    def expression(self) -> Node | None:
        """The one expression of the text, or None where the text is something else."""
        statements = [node for node in self.root.named_children if node.type != "comment"]
        if len(statements) != 1 or statements[0].type != "expression_statement":
            return None
        inner = [node for node in statements[0].named_children if node.type != "comment"]
        if len(inner) != 1 or inner[0].type != "parenthesized_expression":
            return None
        wrapped = [node for node in inner[0].named_children if node.type != "comment"]
        # `a) + (b` would close our own bracket: then the bracket is not what stands at the end.
        whole = inner[0].start_byte == 0 and inner[0].end_byte == self.root.end_byte
        return wrapped[0] if len(wrapped) == 1 and whole else None


@cache
def _parser() -> Parser:
    import tree_sitter
    import tree_sitter_javascript

    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_javascript.language()))


def _character_starts(text: str) -> list[int]:
    starts: list[int] = []
    for index, character in enumerate(text):
        starts.extend([index] * len(character.encode("utf-8", "surrogatepass")))
    starts.append(len(text))
    return starts


def length_problem(text: str) -> SyntaxProblem | None:
    """Whether the text is too long to be looked at."""
    if len(text) <= MAX_LENGTH:
        return None
    return SyntaxProblem(
        f"the expression has {len(text)} characters; {MAX_LENGTH} are allowed",
        (MAX_LENGTH, len(text)),
        "compute it in several SET steps, or in a function",
    )


def syntax_problem(source: Source) -> SyntaxProblem | None:
    """What is wrong with the text as an expression, as far as the parser can tell."""
    text = source.text
    if not source.root.has_error and source.expression() is not None:
        return None
    return (
        _empty(text)
        or _statement(text)
        or _never_closed(text)
        or _several(source)
        or _first_error(source)
    )


def _empty(text: str) -> SyntaxProblem | None:
    bare = re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.DOTALL)
    if bare.strip():
        return None
    return SyntaxProblem("the expression is empty", (0, len(text)))


def _statement(text: str) -> SyntaxProblem | None:
    word = re.match(r"\s*([a-z]+)\b(?!\s*[:=.])", text)
    if word is None or word[1] not in STATEMENTS:
        return None
    hints = {
        "if": "write `condition ? one : other`",
        "return": "leave `return` out: the value of the expression is the result",
        "let": "write only the value, and let a SET step name the variable",
        "const": "write only the value, and let a SET step name the variable",
        "var": "write only the value, and let a SET step name the variable",
    }
    return SyntaxProblem(
        f'"{word[1]}" starts a statement, but only one expression may stand here',
        word.span(1),
        hints.get(word[1], "wrap it in a function: `(() => { … })()`"),
    )


def _never_closed(text: str) -> SyntaxProblem | None:
    opener = unclosed(text)
    if opener is None:
        return None
    start, mark = opener
    names = {"'": "text", '"': "text", "`": "template text", "/": "regular expression"}
    what = f"the {names[mark]} that starts here" if mark in names else f'"{mark}"'
    return SyntaxProblem(f"{what} is never closed", (start, start + 1))


def _several(source: Source) -> SyntaxProblem | None:
    at = source.text.find(";")
    if at < 0 or not source.root.has_error:
        return None
    if any(start <= at < end for start, end in _text_spans(source)):
        return None
    return SyntaxProblem(
        'unexpected ";": only one expression may stand here',
        (at, at + 1),
        "join two expressions with a comma; the last one is the result",
    )


def _text_spans(source: Source) -> Iterator[tuple[int, int]]:
    for node in _every(source.root):
        if node.type in ("string", "template_string", "regex", "comment", "statement_block"):
            yield source.span(node)


def _first_error(source: Source) -> SyntaxProblem:
    text = source.text
    for node in _every(source.root):
        if node.is_missing:
            start = source.offset(node.start_byte)
            before = text[:start].rstrip()
            if node.type.isalpha() or "_" in node.type:
                return SyntaxProblem(
                    f'something is missing after "{_tail_of(before)}"', (len(before), start + 1)
                )
            return SyntaxProblem(f'"{node.type}" is missing', (start, start + 1))
        if node.is_error and node.end_byte > len(_HEAD):
            start, end = source.span(node)
            if start < end and text[start:end].strip():
                if _is_operator(text[start:end]) and not text[end:].strip():
                    message = f'something is missing after "{text[start:end]}"'
                    return SyntaxProblem(message, (start, end))
                return SyntaxProblem(f'unexpected "{_short(text[start:end])}"', (start, end))
    return SyntaxProblem("this is no JavaScript expression", (0, len(text)))


def _is_operator(text: str) -> bool:
    return re.fullmatch(r"[-+*/%=<>!&|^?:,.]+", text) is not None


def _every(root: Any) -> Iterator[Any]:
    """All nodes, in the order of the text."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(reversed(node.children))


def _tail_of(text: str) -> str:
    found = re.search(r"([\w$]+|[^\w\s$]{1,3})$", text)
    return found[0] if found else _short(text)


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 30 else text[:29] + "…"
