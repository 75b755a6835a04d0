"""Promise: arguments are checked for what is required and for its type, and for nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from saywhy.agent.tool_input import InputError, type_name, validate_tool_input
from saywhy.values import UNDEFINED, freeze

SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "n": {"type": "integer"},
        "either": {"type": ["string", "null"]},
        "any": {},
    },
    "required": ["name"],
}


def test_what_is_missing_comes_first() -> None:
    """Missing parameters are told before those of another type, each with its path."""
    check = validate_tool_input({"n": "x"}, SCHEMA)
    assert check.errors == (
        InputError("name", "Required field 'name' is missing."),
        InputError("n", "Expected integer for 'n', got string."),
    )
    assert check.formatted == (
        "name: Required field 'name' is missing.; n: Expected integer for 'n', got string."
    )
    assert not check.valid


@pytest.mark.parametrize("value", [None, UNDEFINED])
def test_null_counts_as_missing(value: Any) -> None:
    """A required parameter that is null was not given; an optional one is left alone."""
    assert not validate_tool_input({"name": value}, SCHEMA).valid
    assert validate_tool_input({"name": "a", "n": value}, SCHEMA).valid


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (5, ""),
        (5.0, ""),
        (5.5, "n: Expected integer for 'n', got number."),
        (True, "n: Expected integer for 'n', got boolean."),
        (float("nan"), "n: Expected integer for 'n', got number."),
        ([], "n: Expected integer for 'n', got array."),
        ({}, "n: Expected integer for 'n', got object."),
    ],
)
def test_whole_numbers(value: Any, told: str) -> None:
    """A whole number may be written with a point; a truth value is no number."""
    assert validate_tool_input({"name": "a", "n": value}, SCHEMA).formatted == told


def test_several_types() -> None:
    """Where several types are allowed, one is enough, and all are named."""
    assert validate_tool_input({"name": "a", "either": "x"}, SCHEMA).valid
    told = validate_tool_input({"name": "a", "either": 1}, SCHEMA).formatted
    assert told == "either: Expected string or null for 'either', got number."


def test_frozen_arguments() -> None:
    """Arguments as the state holds them are checked as they are."""
    assert validate_tool_input(freeze({"name": "a", "any": [1]}), SCHEMA).valid


def test_arguments_that_are_no_object() -> None:
    """A model that sends a list instead of an object is told so."""
    told = validate_tool_input([1], SCHEMA).formatted
    assert told == "arguments: Expected object for the arguments, got array."


def test_no_schema_checks_nothing() -> None:
    """An empty schema takes whatever comes."""
    assert validate_tool_input([1], {}).valid
    assert validate_tool_input(None, None).valid


@pytest.mark.parametrize(
    ("value", "name"),
    [(None, "null"), (True, "boolean"), (1, "number"), ("", "string"), ((), "array")],
)
def test_names_of_types(value: Any, name: str) -> None:
    """Types are called what JSON schema calls them."""
    assert type_name(value) == name
