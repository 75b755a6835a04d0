"""Promise: a path leads where it says and nowhere else, and a text that is none says why."""

from __future__ import annotations

from typing import Any

import pytest

from saywhy.tools.mapping.paths import (
    MAX_KEYS,
    PathProblem,
    is_there,
    parse_path,
    reader_of,
    walk,
    what_stands,
)
from saywhy.tools.mapping.run import Run
from saywhy.values import UNDEFINED, FrozenDict, FrozenList


def run_with(args: Any) -> Run:
    return Run(args, now_ms=0.0, functions={}, names={}, engine=None)


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("", ()),
        (" . ", ()),
        ("$", ()),
        ("$args", ()),
        ("a", ("a",)),
        ("$.a", ("a",)),
        ("$[0]", (0,)),
        ("[0].a", (0, "a")),
        ("a[0][12].b", ("a", 0, 12, "b")),
        ("a.0.b", ("a", "0", "b")),
        ("$args.a.b", ("a", "b")),
        ("$args[0]", (0,)),
        ("$argsx", ("$argsx",)),
        ("a[\"x.y\"]['z']", ("a", "x.y", "z")),
        ("a.{k}.b", ("a", "{k}", "b")),
        ("a[{k}]", ("a", "{k}")),
        ("first name.@id", ("first name", "@id")),
    ],
)
def test_keys(text: str, keys: tuple[Any, ...]) -> None:
    """The keys of a path, indexes as numbers."""
    path = parse_path(text)
    assert path.keys == keys
    assert path.from_arguments is (text.startswith("$args") and text != "$argsx")
    assert path.is_fixed is ("{" not in text)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a..b", "a key is missing between two dots"),
        ("a.", "a key is missing at its end"),
        ("$.", "a key is missing at its end"),
        (".a", "it begins with a dot"),
        ("a[x]", "in brackets stands a whole number from 0 or a key in quotes"),
        ("a[-1]", "in brackets stands"),
        ("a[*]", "in brackets stands"),
        ("a[0", "in brackets stands"),
        ("a]b", '"]b" cannot stand there'),
        ("a[0]b", '"b" cannot stand there'),
        ("a.[0]", "in brackets"),
        ("a.{", "cannot stand there"),
    ],
)
def test_what_is_no_path(text: str, reason: str) -> None:
    """The text and the reason are named."""
    with pytest.raises(PathProblem) as raised:
        parse_path(text)
    assert str(raised.value).startswith(f'"{text}" is no path: ')


def test_a_path_has_an_end() -> None:
    """More keys than any data has are refused."""
    with pytest.raises(PathProblem, match=f"more than {MAX_KEYS} keys"):
        parse_path(".".join("a" * (MAX_KEYS + 1)))


def test_values_inside_frozen_ones() -> None:
    """Frozen objects and lists are walked through as plain ones are."""
    data = FrozenDict({"a": FrozenList([{"b": 1}])})
    assert walk(data, ("a", 0, "b")) == 1
    assert walk(data, ("a", "length")) == 1
    assert reader_of(parse_path("a"))(run_with({}), data.raw) is data.raw["a"]


@pytest.mark.parametrize(
    ("value", "name"),
    [(1, "1"), ("x", "x"), (True, "true"), (1.5, "1.5"), (None, ""), ([1, 2], "1,2")],
)
def test_an_argument_becomes_a_key(value: Any, name: str) -> None:
    """Any argument can be a key, as its text; a whole number is an index as well."""
    read = reader_of(parse_path("o.{k}"))
    assert read(run_with({"k": value}), {"o": {name: "found"}}) == "found"


def test_a_number_as_argument_is_an_index() -> None:
    """Of a list, and nothing below 0."""
    read = reader_of(parse_path("[{k}]"))
    assert read(run_with({"k": 1}), ["a", "b"]) == "b"
    assert read(run_with({"k": "1"}), ["a", "b"]) == "b"
    assert read(run_with({"k": -1}), ["a", "b"]) is UNDEFINED


def test_null_is_there() -> None:
    """What is null stands there, what is undefined does not."""
    assert is_there({"a": None}, ("a",))
    assert not is_there({"a": None}, ("a", "b"))
    assert not is_there({}, ("a",))
    assert is_there({}, ())


@pytest.mark.parametrize(
    ("data", "keys", "told"),
    [
        ({"a": {"b": 1}}, ("a", "c"), "a has b"),
        ({"a": {}}, ("a", "c"), "a is an empty object"),
        ({"a": [{"x": 5}]}, ("a", 0, "x", "y"), "a[0].x is no object"),
        ({"a": [1]}, ("a", 3), "a is a list of 1"),
        ({}, ("a",), "the answer is an empty object"),
        (None, ("a",), "the answer is null"),
        ({str(n): n for n in range(10)}, ("a",), "the answer has 0, 1, 2, 3, 4, 5, 6, 7, …"),
    ],
)
def test_what_stood_there_instead(data: Any, keys: tuple[Any, ...], told: str) -> None:
    """The last part of the path that was there, and what it is."""
    assert what_stands(data, keys) == told
