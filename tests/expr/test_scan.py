"""Promise: the end of a piece of JavaScript is found without reading its meaning."""

from __future__ import annotations

import pytest

from saywhy.expr.scan import Scanner, unclosed


@pytest.mark.parametrize(
    "inside",
    [
        "a",
        "{a: {b: 1}}",
        "'}}'",
        '"}}"',
        "'it\\'s }}'",
        "`}}`",
        "`${ {a: '}}'}.a }}}`",
        "`${`${ '}}' }`}`",
        "/}}/.test(a)",
        "/[/}}]/.test(a)",
        "a / b / '}}'.length",
        "(a) / 2 + '}}'",
        "a /* }} */",
        "a // }}\n",
        "x => { return /}}/ }",
        "typeof /}}/",
        "[1, {a: [{}]}]",
        "a++ / '}}'.length",
    ],
)
def test_skip_to_the_end(inside: str) -> None:
    """The end is the first one outside of texts, comments, regular expressions and brackets."""
    text = f"{inside}}}}}rest }}}}"
    scanner = Scanner(text)
    assert scanner.skip_to("}}")
    assert text[: scanner.at] == inside + "}}"


@pytest.mark.parametrize("inside", ["(", "'", "`${", "/* ", "[}}"])
def test_no_end(inside: str) -> None:
    """Where something is left open there is no end."""
    assert not Scanner(inside + "}}").skip_to("}}")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("f(a)", None),
        ("f(a", (1, "(")),
        ("f([a)", (1, "(")),
        ("'a", (0, "'")),
        ("x + `a${b", (4, "`")),
        ("/* a", (0, "/*")),
        ("/a", (0, "/")),
        ("a / b", None),
        ("'\n'", (0, "'")),
    ],
)
def test_unclosed(text: str, expected: tuple[int, str] | None) -> None:
    """The first thing that is opened and never closed is found."""
    assert unclosed(text) == expected


def test_nesting_costs_no_stack() -> None:
    """Template texts may be nested as deep as their text is long."""
    depth = 20_000
    assert unclosed("`${" * depth + "a" + "}`" * depth) is None
    assert unclosed("`${" * depth) == (0, "`")
