"""Promise: every value crosses into the engine and back unharmed."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from saywhy.expr.javascript import Evaluated, JavaScript, Raised
from saywhy.expr.transfer import TooLarge, argument, is_safe_text, whole
from saywhy.values import UNDEFINED, BigInt, Date, NonFinite, freeze, same
from tests.amount import examples

from .conftest import Variables

SURROGATES = st.text(st.characters(exclude_categories=[]), max_size=8)
LEAVES = (
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats()
    | SURROGATES
    | st.just(UNDEFINED)
    | st.integers(-(10**40), 10**40).map(BigInt)
    | st.integers(-(10**12), 10**12).map(Date)
)
KEYS = SURROGATES | st.sampled_from(
    ["__proto__", "constructor", "toString", "$num", "$object", "$big", "$undefined", "0", "length"]
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


@settings(max_examples=examples(500, 20_000), deadline=None)
@given(VALUES)
@example({"__proto__": 1})
@example({"__proto__": {"a": 1}})
@example({"$num": "NaN"})
@example({"$object": {"$big": "1"}})
@example({"$big": "12"})
@example({"$foreign": ["function", None, ""]})
@example({"$float": "1"})
@example("a\0b")
@example(["\ud800", "\udc00\ud800", "\0"])
@example(-0.0)
@example([-0.0, 1e300, 5e-324, float("nan")])
@example(2**53)
@example(-(2**53))
@example([2**31, -(2**31) - 1, 2**32])
@example("\x01u")
@example("\x01")
@example("x" * 2000 + "é")
@example(nested(199))
@example({})
@example([])
def test_round_trip(value: Any) -> None:
    """What goes in comes out the same: alone, inside another value, and through a copy."""
    frozen = freeze(value)
    names = Variables({"v": value})
    engine = JavaScript()
    for source in ("(0, v)", "v", "(x => x)(v)"):
        outcome = engine.evaluate(source, names)
        assert isinstance(outcome, Evaluated), (source, outcome)
        assert same(outcome.value, frozen), source
    if value != nested(199):
        inside = engine.evaluate("[v, {k: v}]", names)
        assert isinstance(inside, Evaluated), inside
        assert same(inside.value, freeze([value, {"k": value}]))


HUGE = st.integers(2**53 + 1, 10**40) | st.integers(-(10**40), -(2**53) - 1)
WITH_HUGE = st.recursive(
    HUGE | LEAVES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=examples(300, 5_000), deadline=None)
@given(WITH_HUGE, HUGE, KEYS)
def test_whole_numbers_that_are_too_large_pass_untouched(inner: Any, huge: int, key: str) -> None:
    """They come out exactly as they went in; reading one is an error, never a rounded number."""
    value = {"inner": inner, key: huge, "list": [huge, inner]}
    names = Variables({"v": value, "key": key})
    engine = JavaScript()
    for source in ("v", "(0, v)", "[v][0]", "(x => x)(v)"):
        outcome = engine.evaluate(source, names)
        assert isinstance(outcome, Evaluated), (source, outcome)
        assert same(outcome.value, freeze(value)), source
    for source in ("v[key] + 1", "v.list[0]", "v.list.map(x => x)", "Object.values(v.list)"):
        raised = engine.evaluate(source, names)
        assert isinstance(raised, Raised), (source, raised)
        assert (raised.kind, "too large" in raised.message) == ("RangeError", True)
        assert str(huge) not in raised.message


@settings(max_examples=200, deadline=None)
@given(VALUES)
@example({"$": 2.0**53 + 2})
@example({"$x": [{"$float": 1}, 10**20]})
def test_what_was_handed_over_to_be_changed_shows_no_change(value: Any) -> None:
    """Reading a variable back where nothing changed finds no difference."""
    outcome = JavaScript().evaluate("(x => { if (false) x.y = 1 })(v)", Variables({"v": value}))
    assert isinstance(outcome, Evaluated)
    assert outcome.changes == ()


@pytest.mark.parametrize("length", [10, 511, 512, 513, 600, 9000, 100_000])
def test_joined_texts(length: int) -> None:
    """Long texts that were put together come out whole; the binding alone cannot read them."""
    names = Variables({"a": "x" * length, "b": "y" * length})
    expected = "x" * length + "y" * length
    engine = JavaScript()
    assert engine.evaluate("a + b", names).value == expected
    assert engine.evaluate("`${a}${b}`", names, text=True).value == expected
    assert engine.evaluate("{t: a + b}", names).value["t"] == expected


@pytest.mark.parametrize(
    ("number", "expected"),
    [(5, ("s", 5)), (2**31, ("s", float(2**31))), (-(2**53), ("s", -float(2**53)))],
)
def test_whole_numbers_are_passed_as_what_the_binding_takes(number: int, expected: Any) -> None:
    """Beyond 32 bits a whole number goes as float, or the binding would cut it."""
    assert argument(number) == expected
    assert type(argument(number)[1]) is type(expected[1])


@pytest.mark.parametrize("number", [2**53 + 1, -(2**53) - 1, 10**30])
def test_too_large_whole_numbers_are_not_passed(number: int) -> None:
    """No float is near enough to a whole number beyond 2**53."""
    with pytest.raises(TooLarge):
        argument(number)


def test_nothing_else_is_passed() -> None:
    """A type that no conversation holds is a mistake of the caller."""
    with pytest.raises(TypeError, match="object is no value of a conversation"):
        argument(object())


@pytest.mark.parametrize(
    ("text", "expected"), [("a", True), ("é😀", True), ("a\0", False), ("\ud800", False)]
)
def test_safe_texts(text: str, expected: bool) -> None:
    """A NUL or half a surrogate pair cannot go through the binding as it is."""
    assert is_safe_text(text) is expected


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (5.0, 5),
        (2.5, 2.5),
        (2.0**53, 2**53),
        (2.0**53 + 2, 2.0**53 + 2),
        (-0.0, -0.0),
        (0.0, 0),
        (float("inf"), NonFinite("inf")),
    ],
)
def test_whole(number: float, expected: float) -> None:
    """A number without fraction is an int, except -0 and where floats have gaps."""
    found = whole(number)
    assert same(found, expected)
    assert type(found) is type(expected)


DEEP = "{ let a = 1; for (let i = 0; i < 3000; i++) a = [a]; return a }"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("Object.assign([1], {toJSON() { return undefined }})", [1]),
        (f"new (class extends Array {{ toJSON() {DEEP} }})(1, 2)", [1, 2]),
        (f"[Object.assign([1], {{toJSON() {DEEP}}})]", [[1]]),
        (f"(n => ({{get a() {{ return n++ ? (() => {DEEP})() : 1 }}}}))(0)", {"a": 1}),
        ("(n => ({get toJSON() { return n++ ? () => undefined : 1 }}))(0)", {"toJSON": 1}),
        ("(n => ({get a() { return n++ ? NaN : 1 }}))(0)", {"a": 1}),
        ('JSON.parse(\'{"__proto__": {"a": [1]}}\')', {"__proto__": {"a": [1]}}),
    ],
)
def test_an_object_that_changes_its_mind(source: str, expected: Any) -> None:
    """What is looked at is what comes out, whatever a getter or `toJSON` says the next time."""
    outcome = JavaScript().evaluate(source, Variables({}))
    assert isinstance(outcome, Evaluated), outcome
    assert same(outcome.value, freeze(expected))
