"""Promise: a condition decided here comes to what the engine says, or is left to it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from saywhy.expr.conditions import MAX_DEPTH, condition_of
from saywhy.expr.counting import MOST
from saywhy.expr.javascript import Evaluated, JavaScript, Raised
from saywhy.expr.names import read_expression
from saywhy.expr.program import Program
from saywhy.values import UNDEFINED, BigInt, Date, same
from tests.amount import examples

from .conftest import Variables

ENGINE = JavaScript()
PATHS = ["a", "b", "o.c", "o.d", "o.gone.e", "nowhere", "o.constructor", "undefined"]

scalars = (
    st.integers(-MOST - 2, MOST + 2)
    | st.sampled_from([0, 1, -1, 2**53, 2**53 + 1, 0.0, -0.0, 1.5, 1e308, True, False, None])
    | st.floats()
    | st.text(max_size=4)
    | st.sampled_from(["", "0", "1", "tea", "é", "🂡", "\ud800", "a\0b", "x" * 400, UNDEFINED])
)
values = scalars | st.sampled_from([BigInt(3), Date(0), {}, {"length": 2}, {"includes": 1}])
lists = st.lists(scalars | st.just({}), max_size=4)
literals = st.sampled_from(
    ["0", "1", "2", "1.5", "-1", "999999999", "''", "'tea'", '"0"', "true", "false", "null"]
)


def wider(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """An expression made of smaller ones."""
    signs = ["||", "&&", "===", "!==", "==", "!=", "<", "<=", ">", ">=", "+", "-"]
    two = st.tuples(inner, st.sampled_from(signs), inner).map(" ".join)
    choice = st.tuples(inner, inner, inner).map(lambda each: "{} ? {} : {}".format(*each))
    return two | choice | inner.map("!{}".format) | inner.map("({})".format)


searched = st.sampled_from(
    ["l.includes('tea')", "l.includes('')", "t.includes('a')", 'o.l.includes("tea")']
)
measured = st.sampled_from(["l.length", "t.length", "o.l.length"])
conditions = st.recursive(
    st.sampled_from(PATHS) | literals | searched | measured, wider, max_leaves=8
)
variables = st.fixed_dictionaries(
    {
        "a": values,
        "b": values,
        "l": lists | values,
        "t": st.text(max_size=4) | values,
        "o": st.fixed_dictionaries({"c": values, "l": lists}, optional={"d": values}) | values,
    }
)


@settings(max_examples=examples(500, 20_000), deadline=None)
@given(conditions, variables, st.booleans())
@example("a === 'x' && b > 0", {"a": "x", "b": True}, False)
@example("a == null", {"a": UNDEFINED}, False)
@example("o.d === undefined", {"o": {}}, False)
@example("o.d === undefined", {}, False)
@example("a + b || 1", {"a": 1e308, "b": 1e308}, True)
@example("a - b ? 1 : 2", {"a": 0.5, "b": 0.5}, True)
@example("t.length > 1", {"t": "🂡"}, False)
@example("l.includes('a') || l.length", {"l": ["a"]}, False)
@example("a < b < 2", {"a": 1, "b": 2}, False)
@example("a && o.d", {"a": 0}, False)
def test_it_is_what_the_engine_says(source: str, given: dict[str, Any], text: bool) -> None:
    """Value, kind, reads and text, or the same error: a comment leads to the engine."""
    names = Variables(given)
    found = ENGINE.evaluate(source, names, text=text)
    expected = ENGINE.evaluate(f"{source}/**/", names, text=text)
    if isinstance(found, Raised):
        assert isinstance(expected, Raised)
        assert (found.kind, found.message) == (expected.kind, expected.message)
    else:
        assert isinstance(found, Evaluated)
        assert isinstance(expected, Evaluated)
        assert same(found.value, expected.value)
        assert (found.reads, found.exact) == (expected.reads, expected.exact)


def is_one(source: str) -> bool:
    program = Program(source, read_expression(source))
    return condition_of(source, program.parameters, program.reading.reads) is not None


@pytest.mark.parametrize(
    "source",
    [
        *("a", "!a", "a && b", "a||b", "(a)", "a ? 1 : 'x'", "a === undefined", "a == null"),
        *("user.roles.includes('admin') && score > 700", "!(a || b) && c !== -1", "n.length\t>\n0"),
        *("a ? b ? 1 : 2 : 3", "a - -1 > 0", 't.includes("it\'s")', "a.b.c.d >= 1.5"),
    ],
)
def test_what_is_one(source: str) -> None:
    """Comparisons, what joins them, searches and lengths."""
    assert is_one(source)


@pytest.mark.parametrize(
    "source",
    [
        *("a * 2", "a / 2", "-a", "+a", "-0", "~a", "typeof a", "void a", "a ?? b", "a?.b", "a, b"),
        *("a in b", "a instanceof b", "'it\\'s' === a", "'é' === a", "`x` === a", "/x/.test(a)"),
        *("a.includes(b)", "a.includes('x', 1)", "includes('x')", "a.has('x')", "a[0]", "a['b']"),
        *(
            "0x10 > a",
            "1e3 > a",
            "1n > a",
            "1_0 > a",
            "1234567890 > a",
            ".5 > a",
            "5. > a",
            "a<!--b",
        ),
        *("a // b", "/**/a", "a\n-->b", "this.a", "Math.PI > a", "NaN === a", "a = 1", "a => b"),
        *("l.length && l", "l.includes('x') && l", "a.b > 1 && a", "new.target", "a é b"),
        *("", " ", "a &&", "a.includes(", "a ? b", "'x"),
    ],
)
def test_what_is_left_to_the_engine(source: str) -> None:
    """What converts, calls or changes, what is no expression, and what reads nothing."""
    assert not is_one(source)


def test_its_depth_has_a_bound() -> None:
    """Brackets, negations and choices; what follows one another has the length of the text."""
    assert is_one("(" * MAX_DEPTH + "a" + ")" * MAX_DEPTH)
    deeper = MAX_DEPTH + 1
    assert not is_one("(" * deeper + "a" + ")" * deeper)
    assert not is_one("!" * deeper + "a")
    assert not is_one("a ? 1 : " * deeper + "2")
    assert is_one("a" + " && a" * 99)
    assert not is_one("a" + " && a" * 100)
    assert ENGINE.evaluate("a" + " && a" * 99, Variables({"a": True})).value is True  # pyright: ignore[reportAttributeAccessIssue]


@pytest.mark.parametrize("name", ["a", "t", "includes"])
def test_names_of_approved_functions_are_not_variables(name: str) -> None:
    """Where a function has such a name, the engine sees what is meant."""
    names = Variables({"a": 1, "t": "tea"}, {name: len})
    found = ENGINE.evaluate("a === 1 && t.includes('e')", names)
    assert repr(found) == repr(ENGINE.evaluate("a === 1 && t.includes('e')/**/", names))
