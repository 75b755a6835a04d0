"""Promise: what is computed without asking the engine is what the engine gives."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from saywhy.expr.counting import MOST, operation_of
from saywhy.expr.javascript import JavaScript, Raised
from saywhy.values import UNDEFINED, BigInt, FrozenList

from .conftest import Runner, Variables

ENGINE = JavaScript()
OPERATORS = ["+", "-", "<", "<=", ">", ">=", "==", "===", "!=", "!=="]

numbers = (
    st.integers(-MOST - 2, MOST + 2)
    | st.integers(-(2**53), 2**53)
    | st.floats()
    | st.sampled_from([True, None, UNDEFINED, "3", "", BigInt(3), [3], {}])
)


@given(numbers, st.sampled_from(OPERATORS), st.integers(0, 999_999_999), st.booleans())
@example(MOST, "+", 1, False)
@example(-MOST, "-", 999_999_999, True)
@example(-0.0, "+", 0, False)
@example(-0.0, "-", 0, False)
@example(0.1, "+", 2, True)
@example(1e300, "+", 1, True)
@example(5, "-", 5, True)
@example(float("nan"), "!==", 0, False)
def test_it_is_what_the_engine_gives(value: Any, sign: str, number: int, text: bool) -> None:
    """Value, kind, reads and text, whatever the variable holds: comments lead to the engine."""
    names = Variables({"o": {"n": value}})
    found = ENGINE.evaluate(f"o.n {sign} {number}", names, text=text)
    expected = ENGINE.evaluate(f"/**/o.n {sign} {number}", names, text=text)
    if isinstance(found, Raised):  # a BigInt; behind a comment, it stands elsewhere
        assert isinstance(expected, Raised)
        assert (found.kind, found.message) == (expected.kind, expected.message)
    else:
        assert repr(found) == repr(expected)


@pytest.mark.parametrize(
    "rest",
    [
        *("", "+", "* 2", "% 2", "/ 2", "** 2", "+ 01", "+ 1.5", "+ 1e3", "+ 1n", "+ 1_0", "+ -1"),
        *("++ 1", "+ 1 + 1", "+ 1234567890", "+ m", "=== '1'", "= 1", "=> 1", "<< 1", "+ ١"),
        "// 1",
    ],
)
def test_what_is_none(rest: str) -> None:
    """Products and remainders have signs of their own, and long numbers are rounded."""
    assert operation_of(rest) is None


def test_functions_and_large_numbers_come_first(run: Runner) -> None:
    """A name of a function is none of a variable; a number that cannot be exact is refused."""
    assert run.value("n + 1", {"n": 1}) == 2
    assert str(run.value("n + 1", {"n": 1}, functions={"n": len})).endswith("1")
    raised = run("n + 1", {"n": 2**53 + 1})
    assert isinstance(raised, Raised)
    assert raised.message == '"n" is a whole number too large for JavaScript to read exactly'
    assert run.value("n + 1", {"n": FrozenList([1])}) == "11"
