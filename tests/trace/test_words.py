"""Values, variables and steps as explanations name them."""

from __future__ import annotations

import math
from typing import Any

import pytest

from saywhy.chart.commit import Condition, Decision
from saywhy.trace.words import (
    brief,
    call_text,
    chosen_text,
    count,
    failed_texts,
    name_of,
    source_text,
    summary,
)
from saywhy.values import UNDEFINED, BigInt, Date, Key, freeze


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("x" * 80, '"' + "x" * 80 + '"'),
        ("x" * 81, '"' + "x" * 77 + '..."'),
        ("two\nlines", '"two⏎lines"'),
        ([], "[]"),
        ([1], "(1 item)"),
        ([1, 2, 3], "(3 items)"),
        (list(range(1200)), "(1,200 items)"),
        ({}, "{}"),
        ({"a": 1, "b": 2}, "{a, b}"),
        ({"a": 1, "b": 2, "c": 3, "d": 4, "e": 5}, "{a, b, c, d, ... (5 keys)}"),
        (True, "true"),
        (None, "null"),
        (UNDEFINED, "undefined"),
        (80.0, "80"),
        (0.1, "0.1"),
        (1e300, "1e+300"),
        (-0.0, "-0"),
        (math.nan, "NaN"),
        (-math.inf, "-Infinity"),
        (BigInt(12), "12n"),
        (Date(0), "1970-01-01T00:00:00.000Z"),
        (Date(math.nan), "Invalid Date"),
    ],
)
def test_summaries(value: Any, text: str) -> None:
    """A value in a few characters, in the words of a flow's own world."""
    assert summary(freeze(value)) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"amount": 80.0, "to": ["Ann"]}, '{"amount": 80, "to": ["Ann"]}'),
        ({"when": Date(0), "n": None}, '{"when": 1970-01-01T00:00:00.000Z, "n": null}'),
        ({"text": "x" * 100}, "{text}"),
        (["x" * 40, "y" * 40], "(2 items)"),
        ([[[[1]]]], "[[[[1]]]]"),
        ("80", '"80"'),
    ],
)
def test_brief_values(value: Any, text: str) -> None:
    """Short objects and lists are shown whole, others by their summary."""
    assert brief(freeze(value)) == text


def test_a_huge_value_is_not_written_out() -> None:
    """Of a value too big to show only as much is written as would have fitted."""
    deep: Any = "x"
    for _ in range(150):
        deep = [deep, deep]
    assert brief(freeze([1, 2])) == "[1, 2]"
    assert brief([deep, deep]) == "(2 items)"


@pytest.mark.parametrize(
    ("key", "name"),
    [
        (("v1", "amount"), "amount"),
        (("v7", "fee", "lines", 0, "total"), "fee.lines[0].total"),
        (("cargo", "plan", "name"), "cargo.plan.name"),
        (("globals", "bank"), "bank"),
        (("args", "x"), "args.x"),
        (("session", "language"), "language"),
        (("input", "3"), "userInput"),
    ],
)
def test_names(key: Key, name: str) -> None:
    """A key is named as an author writes it."""
    assert name_of(key) == name


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("{{ fee > 5 }}", "`fee > 5`"),
        ("{{a}} and {{b}}", "`{{a}} and {{b}}`"),
        ("a\n  + b", "`a + b`"),
        ("x" * 90, "`" + "x" * 77 + "...`"),
        (7, "`7`"),
    ],
)
def test_sources(source: Any, text: str) -> None:
    """What an author wrote is quoted on one line, without the braces of a lone expression."""
    assert source_text(source) == text


def test_calls() -> None:
    """Calls with named and with listed arguments."""
    assert call_text("fee", freeze({"amount": 80})) == 'fee({"amount": 80})'
    assert call_text("f", freeze([80, "x"])) == 'f(80, "x")'
    assert call_text("f", None) == "f()"
    assert call_text("f", freeze({})) == "f()"


A: Key = ("v1", "a")
B: Key = ("v1", "b")


@pytest.mark.parametrize(
    ("decision", "text", "failed"),
    [
        (
            Decision(
                "condition: a > 2",
                (
                    Condition("a > 9", False, "condition: a > 9", ((A, 3),)),
                    Condition("a > 2", True, "condition: a > 2", ((A, 3),)),
                ),
            ),
            "`a > 2` (a = 3)",
            ["`a > 9` was false (a = 3)"],
        ),
        (
            Decision("default", (Condition("b", False, "x", (), "b is not defined"),), True),
            "default, as no condition held",
            ["`b` counts as false: b is not defined"],
        ),
        (
            Decision(
                "card",
                (
                    Condition("kind is cash", False, "cash", ((A, "card"),)),
                    Condition("kind is card", True, "card", ((A, "card"),)),
                ),
            ),
            '"card", as a = "card"',
            [],
        ),
        (
            Decision("default", (Condition("a is x", False, "x", ((A, 1),)),), True),
            "default, as a = 1",
            [],
        ),
        (Decision("", selected=("one", "two")), '"one" and "two"', []),
        (Decision("next"), '"next"', []),
        (Decision("again", default=True), '"again" by default', []),
        (
            Decision(
                "stop",
                (
                    Condition("a gt 1", True, "go", ((A, 3),), rule=0),
                    Condition("b eq 2", False, "go", ((B, 5),), rule=0),
                    Condition("a gt 2", True, "stop", ((A, 3),), rule=1, label="enough"),
                    Condition("b gt 2", True, "stop", ((B, 5),), rule=1, label="enough"),
                ),
                label="enough",
            ),
            '"enough": `a gt 2` and `b gt 2` (a = 3, b = 5)',
            ["`b eq 2` was false (b = 5)"],
        ),
        (
            Decision(
                "again",
                (
                    Condition(
                        "any of (a gt 9, b gt 9)",
                        False,
                        "stop",
                        rule=0,
                        parts=(
                            Condition("a gt 9", False, read=((A, 3),)),
                            Condition("b gt 9", False, read=((B, 5),)),
                        ),
                    ),
                ),
                True,
            ),
            '"again" by default, as no condition held',
            ["`any of (a gt 9, b gt 9)` was false (a = 3, b = 5)"],
        ),
    ],
)
def test_decisions(decision: Decision, text: str, failed: list[str]) -> None:
    """A decision tells what held, and apart from it what did not."""
    assert chosen_text(decision) == text
    assert failed_texts(decision) == failed


def test_counts() -> None:
    """One item, two items."""
    assert [count(0, "item"), count(1, "item"), count(2, "item")] == [
        "0 items",
        "1 item",
        "2 items",
    ]
