"""Promise: what is no expression is refused with a sentence, a place and a next step."""

from __future__ import annotations

import pytest

from saywhy.expr.names import MAX_LENGTH, SyntaxProblem, read_expression

PROBLEMS: list[tuple[str, str, str]] = [
    # expression, message, what the span points at
    ("", "the expression is empty", ""),
    ("  // nothing", "the expression is empty", "  // nothing"),
    ("ammount *", 'something is missing after "*"', ""),
    ("a ||", 'something is missing after "||"', ""),
    ("x =", 'something is missing after "="', "="),
    ("(a", '"(" is never closed', "("),
    ("[1,2", '"[" is never closed', "["),
    ("{a: 1", '"{" is never closed', "{"),
    ("f(a, {b: [1}", '"(" is never closed', "("),
    ("'open", "the text that starts here is never closed", "'"),
    ("`open ${a", "the template text that starts here is never closed", "`"),
    ("/abc", "the regular expression that starts here is never closed", "/"),
    ("a b", 'unexpected "b"', "b"),
    ("a..b", 'unexpected "."', "."),
    ("#a", 'unexpected "#a"', "#a"),
    ("é + a b", 'unexpected "b"', "b"),
    ("😀", 'unexpected "😀"', "😀"),
    ("a; b", 'unexpected ";": only one expression may stand here', ";"),
    (
        "if (a) 1",
        '"if" starts a statement, but only one expression may stand here',
        "if",
    ),
    ("let x = 1", '"let" starts a statement, but only one expression may stand here', "let"),
    ("await a", "await may stand only inside an async function", "await a"),
    ("(() => yield)()", "yield may stand only inside a generator function", "yield"),
    ("07 + 1", "numbers may not start with 0; write 0o17 for octal", "07"),
    ("delete a", '"a" is a variable and cannot be deleted; only what is inside one can', "a"),
    ("eval = 1", '"eval" cannot be assigned', "eval"),
    ("import('fs')", "import is not available in expressions", "import"),
]


def problem_of(source: str) -> SyntaxProblem:
    problem = read_expression(source).error
    assert problem is not None, source
    return problem


@pytest.mark.parametrize(("source", "message", "pointed"), PROBLEMS)
def test_problem(source: str, message: str, pointed: str) -> None:
    """The message says what is wrong, the span where."""
    problem = problem_of(source)
    assert problem.message == message
    start, end = problem.span
    assert source[start:end] == pointed
    assert 0 <= start <= len(source)


@pytest.mark.parametrize(
    ("source", "hint"),
    [
        ("if (a) 1", "write `condition ? one : other`"),
        ("return a", "leave `return` out: the value of the expression is the result"),
        ("const x = 1", "write only the value, and let a SET step name the variable"),
        ("for (;;) {}", "wrap it in a function: `(() => { … })()`"),
        ("a; b", "join two expressions with a comma; the last one is the result"),
        ("a.map(x => {y: x, z: 1})", "put round brackets around the object: `=> ({ … })`"),
        ("a.map(x => {...x})", "put round brackets around the object: `=> ({ … })`"),
        ("x => {[x]: 1}[0]", "put round brackets around the object: `=> ({ … })`"),
    ],
)
def test_hint(source: str, hint: str) -> None:
    """Where there is an obvious next step, it is named."""
    assert problem_of(source).hint == hint


def test_too_long() -> None:
    """An expression of more than ten thousand characters is not looked at."""
    problem = problem_of("1+" * (MAX_LENGTH // 2) + "1")
    assert problem.message == "the expression has 10001 characters; 10000 are allowed"
    assert problem.hint == "compute it in several SET steps, or in a function"
    assert read_expression("1+" * (MAX_LENGTH // 2 - 1) + "11").error is None


def test_too_deep() -> None:
    """Functions inside a hundred others are not compiled: that takes longer than anyone waits."""
    problem = problem_of("x => " * 101 + "x")
    assert problem.message == "functions and blocks are nested more than 100 deep"
    assert problem.hint == "compute it in several SET steps, or in a function"
    assert problem_of("() => { if (1) {" * 60 + "}}" * 60).message == problem.message
    assert read_expression("x => " * 99 + "x").error is None


@pytest.mark.parametrize(
    "source",
    [
        "{a: 1}",
        "{}",
        "a, b",
        "(a)",
        " \n a // note\n",
        "/* before */ a",
        "x => x",
        "x => {y: x}",
        "x => ({y: x, z: 1})",
        "x => { {x} }",
        "function () {}",
        "class {}",
        "async () => await 1",
        "function* () { yield 1 }",
        "a ? b : c ? d : e",
        "a ?? b",
        "1_000 + 0o17 + .5 + 5. + 0xff + 1e3",
        "`a${`b${c}`}`",
        "/[/]\\//.test(a)",
        "a / b / c",
        "iff + letter + returned",
        "{if: 1, let: 2}",
        "return_value",
        "new.target",
    ],
)
def test_no_problem(source: str) -> None:
    """What looks odd but is one expression is taken as it is."""
    assert read_expression(source).error is None


@pytest.mark.parametrize("source", ["a) + (b", "a)(b", "1), (2", "a)}, {b: (c", "])[", "*/ 1 /*"])
def test_an_expression_cannot_close_what_stands_around_it(source: str) -> None:
    """Text that only fits together with brackets of our own is refused."""
    assert read_expression(source).error is not None


def test_names_are_known_in_spite_of_a_mistake() -> None:
    """The free names found so far are kept, so that a check can go on."""
    assert "amount" in read_expression("amount * ").roots
