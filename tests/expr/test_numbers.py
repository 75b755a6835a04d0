"""Promise: values are written as JavaScript writes them, without asking JavaScript."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from saywhy.expr.javascript import JavaScript
from saywhy.expr.numbers import json_text, number_text, value_text
from saywhy.values import UNDEFINED, BigInt, Date, Value, freeze


class OneVariable:
    """A variable named `v`."""

    functions: frozenset[str] = frozenset()

    def __init__(self, value: Value) -> None:
        self._value = value

    def has(self, name: str) -> bool:
        return name == "v"

    def get(self, path: tuple[str | int, ...]) -> Value:
        return self._value if path == ("v",) else UNDEFINED


def in_javascript(source: str, value: Any) -> Any:
    outcome = JavaScript().evaluate(source, OneVariable(freeze(value)))
    return getattr(outcome, "value", outcome)


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (5, "5"),
        (5.0, "5"),
        (-0.0, "0"),
        (0.1 + 0.2, "0.30000000000000004"),
        (1e21, "1e+21"),
        (1e20, "100000000000000000000"),
        (1.5e300, "1.5e+300"),
        (1e-6, "0.000001"),
        (1e-7, "1e-7"),
        (-1.25e-9, "-1.25e-9"),
        (123456789.125, "123456789.125"),
        (math.nan, "NaN"),
        (math.inf, "Infinity"),
        (-math.inf, "-Infinity"),
        (2**60, "1152921504606846976"),
    ],
)
def test_number(number: float, expected: str) -> None:
    """Numbers look as they do in JavaScript; whole numbers of Python keep all their digits."""
    assert number_text(number) == expected


def is_power_of_two(number: float) -> bool:
    return math.isfinite(number) and abs(math.frexp(number)[0]) == 0.5


@settings(max_examples=300, deadline=None)
@given(st.floats())
def test_every_float_is_written_as_the_engine_does(number: float) -> None:
    """`number_text` and JavaScript's `String` agree on any float.

    Powers of two aside: of some, the engine writes one digit more than Node does and needs.
    """
    if not is_power_of_two(number):
        assert number_text(number) == in_javascript("String(v)", number)


def test_powers_of_two_are_written_with_the_fewest_digits() -> None:
    """Where the engine itself would write a digit too many, our text has Node's digits."""
    assert number_text(2**-24) == "5.960464477539063e-8"
    outcome = JavaScript().evaluate("2 ** -24", OneVariable(UNDEFINED), text=True)
    assert outcome.value == "5.960464477539063e-8"


FLOATS = st.floats().filter(lambda number: not is_power_of_two(number))
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | FLOATS | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=300, deadline=None)
@given(JSON_VALUES)
def test_every_value_is_written_as_the_engine_does(value: Any) -> None:
    """`json_text` and `JSON.stringify` agree, down to the order of keys."""
    assert json_text(freeze(value)) == in_javascript("JSON.stringify(v)", value)


def test_json_of_what_json_lacks() -> None:
    """Undefined is left out or null, dates are ISO texts, a BigInt is its digits."""
    value = {"u": UNDEFINED, "l": [UNDEFINED], "d": Date(0), "bad": Date(math.nan), "b": BigInt(7)}
    assert json_text(freeze(value)) == (
        '{"l":[null],"d":"1970-01-01T00:00:00.000Z","bad":null,"b":7}'
    )


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("a", "a"),
        (None, "null"),
        (True, "true"),
        (UNDEFINED, "undefined"),
        (1.0, "1"),
        (BigInt(5), "5"),
        (["a", 1], '["a",1]'),
        ({"b": 1, "2": 2, "1": 3}, '{"1":3,"2":2,"b":1}'),
        ("\ud800", "\ud800"),
        (["\ud800"], '["\\ud800"]'),
    ],
)
def test_value_text(value: Any, expected: str) -> None:
    """Texts stand bare in a message, lists and objects as JSON."""
    assert value_text(freeze(value)) == expected
