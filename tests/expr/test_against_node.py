"""Promise: an expression put together by chance has the value, or the error, that Node gives.

`SAYWHY_NIGHTLY=1` tries 20,000 of them instead of 500; see tests/amount.py.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st

from saywhy.expr.javascript import JavaScript, Outcome, Raised
from saywhy.values import BigInt
from tests.amount import examples

from .conftest import Variables
from .grammar import DIGIT_TOO_MANY, cases
from .node import Node, node_path, told

NODE = node_path()
pytestmark = pytest.mark.skipif(NODE is None, reason="no Node of version 20 or newer is here")


@dataclass(frozen=True)
class Difference:
    """A difference from Node that is meant, with an expression that shows it."""

    reason: str
    message: str
    """Part of the text of our error."""
    source: str


MEANT: Final = (
    Difference(
        "a value that contains itself is no data: no conversation can hold it",
        "nested deeper than 200 levels, or contains itself",
        "(box.own = box) && 1",
    ),
    Difference(
        "what would be changed in a variable must be data, or the change could not be kept",
        ": a conversation keeps only data",
        "(box.own = x => x) && 1",
    ),
    Difference(
        "what is thrown is told by its data, and one that contains itself has none to tell",
        "an error that cannot be shown",
        "(() => { throw (box.own = box) })()",
    ),
)
VALUES: Final[dict[str, Any]] = {"box": {}}


@pytest.fixture(scope="module")
def node() -> Iterator[Node]:
    child = Node(str(NODE))
    yield child
    child.close()


def evaluated(source: str, values: dict[str, Any]) -> Outcome:
    return JavaScript().evaluate(source, Variables(values))


def is_meant(outcome: Outcome) -> bool:
    return isinstance(outcome, Raised) and any(each.message in outcome.message for each in MEANT)


@settings(max_examples=examples(500, 20_000))
@given(cases())
def test_random_expressions(node: Node, case: tuple[str, dict[str, Any]]) -> None:
    """Value with its type, or the kind of error, are the same on both sides."""
    source, values = case
    theirs, outcome = node.evaluate(source, values), evaluated(source, values)
    note(f"{source}  # in Node: {theirs}")
    assert told(outcome) == theirs or is_meant(outcome), outcome


@pytest.mark.parametrize("difference", MEANT, ids=lambda difference: difference.message)
def test_differences_that_are_meant_are_there(node: Node, difference: Difference) -> None:
    """An entry of the list that has become untrue is taken off it."""
    outcome = evaluated(difference.source, VALUES)
    assert told(outcome) != node.evaluate(difference.source, VALUES)
    assert is_meant(outcome), outcome


def test_powers_of_two_with_a_digit_too_many(node: Node) -> None:
    """Of the listed ones each differs still, where a text is joined; of the others none does."""
    for power in range(-1074, 1024):
        values = {"n": 2.0**power}
        ours, theirs = (told(evaluated("n + ''", values)), node.evaluate("n + ''", values))
        assert (ours != theirs) is (power in DIGIT_TOO_MANY), (power, ours, theirs)
        assert float(ours[1]) == 2.0**power
        assert told(evaluated("n", values)) == node.evaluate("n", values)


BIG: Final = ("-7n", "-1n", "0n", "1n", "7n", "2n ** 70n", "-(2n ** 70n)")
OTHER: Final = (
    *(
        "-1/3",
        "1/3",
        "-1.5",
        "6.5",
        "-7.5",
        "-0",
        "7",
        "-7",
        "2 ** 60",
        "1e300",
        "-1e300",
        "1e-300",
    ),
    *("Infinity", "-Infinity", "NaN", "null", "undefined", "true", "'-0.5'", "'x'", "[2]"),
    *("new Date(3)", "({valueOf: () => -0.5})", "({toString: () => '3'})"),
)


@pytest.mark.parametrize("sign", ["<", "<=", ">", ">=", "==", "!="])
def test_bigints_are_compared(node: Node, sign: str) -> None:
    """With numbers that have fractions, that are below zero, that are none; from either side."""
    values = {"list": [BigInt(-7), {"n": BigInt(-7)}]}
    sources = [f"{big} {sign} {other}" for big in BIG for other in OTHER]
    sources += [f"{other} {sign} {big}" for big in BIG for other in OTHER]
    sources += [f"list.filter(x => (x.n ?? x) {sign} -0.5).length", f"1n {sign} 2.5 {sign} 3"]
    for source in sources:
        assert told(evaluated(source, values)) == node.evaluate(source, values), source


@pytest.mark.parametrize(
    ("source", "ours"),
    [("JSON.stringify([1], null, 0.5)", "[1]"), ("'x'.anchor(null)", "TypeError")],
)
def test_differences_in_values_are_there(node: Node, source: str, ours: str) -> None:
    """Those that the reference lists; the language says the first as it is here."""
    assert told(evaluated(source, {}))[1] == ours
    assert node.evaluate(source, {})[1] != ours


# ------------------------------------------------------------------ approximated functions

UNITS: Final = 2
"""How far apart results may be, in units of the last digit. The language leaves these functions to
the engine: ours asks the system's library, Node brings its own. In Node 10 ** -5 is not 0.00001."""

ONE: Final = (
    "sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh "
    "exp expm1 log log2 log10 log1p cbrt"
)
FUNCTIONS: Final = (
    *(f"Math.{name}(x)" for name in ONE.split()),
    *("Math.hypot(x, y)", "Math.atan2(x, y)", "Math.pow(x, y)", "x ** y"),
)
APART: Final = ("10 ** -5", "Math.pow(1.05, 10)", "Math.hypot(1, 2, 3)")
EXACT: Final = (
    "[0, 1, 8, 27, 64, 1000, -27, 0.001].map(Math.cbrt)",
    "[Math.hypot(), Math.hypot(3, 4), Math.hypot(5, -12), Math.hypot(NaN, Infinity)]",
    "[1, 2, 3, 4, 5, 10, 12].map(x => [x ** 2, x ** 5, x ** 0, 2 ** x, 10 ** x])",
    "[1, 10, 100, 1000, 1e15].map(Math.log10)",
    "[1, 2, 8, 1024].map(Math.log2)",
    "[Math.exp(0), Math.exp(1), Math.sin(0), Math.cos(0), Math.atan2(0, -0), Math.pow(NaN, 0)]",
    "[1.05 ** 2, 2 ** 0.5, 0.1 ** 2, (1.07 ** 30).toFixed(2), 1 ** Infinity, (-8) ** (1 / 3)]",
    "[Math.PI, Math.E, Math.SQRT2, Math.LN2, Math.LN10, Math.LOG2E, Math.LOG10E, Math.SQRT1_2]",
)

numbers = st.floats(-50, 50) | st.integers(-20, 20) | st.sampled_from([-0.0, math.inf, math.nan])


@settings(max_examples=examples(300, 5_000))
@given(st.sampled_from(FUNCTIONS), numbers, numbers)
def test_approximated_functions(node: Node, source: str, x: float, y: float) -> None:
    """They agree up to the last digit."""
    values = {"x": x, "y": y}
    ours, theirs = told(evaluated(source, values)), node.evaluate(source, values)
    one, other = float(ours[1]), float(theirs[1])
    assert ours == theirs or abs(one - other) <= UNITS * math.ulp(other), (ours, theirs)


@pytest.mark.parametrize("source", EXACT)
def test_exact_results_are_exact(node: Node, source: str) -> None:
    """Powers, roots and logarithms that come out even do so here as well."""
    assert told(evaluated(source, {})) == node.evaluate(source, {})


@pytest.mark.parametrize("source", APART)
def test_the_last_digit_does_differ(node: Node, source: str) -> None:
    """If none of these differed, the comparison above could be strict."""
    assert told(evaluated(source, {})) != node.evaluate(source, {})
