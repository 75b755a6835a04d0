"""Promise: both ways of writing parameters down give one schema, and a broken one says why."""

from __future__ import annotations

from typing import Any

import pytest

from saywhy.tools.schema import compile_schema, explain, is_object_form, normalise
from saywhy.values import freeze


@pytest.mark.parametrize(
    ("parameters", "is_object"),
    [
        ({}, True),
        ({"type": "object"}, True),
        ({"type": "object", "properties": {"a": {}}}, True),
        ({"properties": {"a": {}}}, True),
        ({"properties": {"type": "string"}}, False),
        ({"type": {"type": "string"}, "a": {"type": "string"}}, False),
        ({"type": {"type": "string"}, "properties": {"type": {}}}, False),
        ({"a": {"type": "object"}}, False),
    ],
)
def test_the_two_forms_are_told_apart(parameters: dict[str, Any], is_object: bool) -> None:
    """Parameters that happen to be called `type` or `properties` confuse nobody."""
    assert is_object_form(parameters) is is_object


def test_a_schema_stays_what_it_is() -> None:
    """An object schema is kept; the function gets one object."""
    schema = {"type": "object", "properties": {"a": {}}, "required": ["a"], "title": "T"}
    assert normalise({"parameters": schema}) == (schema, "object", ())


def test_a_missing_type_is_added() -> None:
    """A schema with properties alone is one of an object."""
    schema, style, _ = normalise({"parameters": {"properties": {"a": {}}}})
    assert (schema["type"], style) == ("object", "object")


def test_no_parameters_take_anything() -> None:
    """A tool that describes no parameters gets whatever is given."""
    assert normalise({}) == ({"type": "object", "properties": {}}, "object", ())


def test_the_old_key_is_read() -> None:
    """`schema` stands for `parameters`, which wins where both are written."""
    old = {"type": "object", "properties": {"old": {}}}
    new = {"type": "object", "properties": {"new": {}}}
    assert normalise({"schema": old})[0] == old
    assert normalise({"schema": old, "parameters": new})[0] == new


def test_flat_parameters_have_an_order() -> None:
    """What is required comes first, in its own order; then the rest as written."""
    definition = {
        "parameters": {"a": {"type": "string"}, "b": {}, "c": {}, "d": {}},
        "required": ["d", "b", "ghost"],
        "additionalProperties": False,
    }
    schema, style, order = normalise(definition)
    assert (style, order) == ("positional", ("d", "b", "a", "c"))
    assert schema == {
        "type": "object",
        "properties": definition["parameters"],
        "required": ["d", "b"],
        "additionalProperties": False,
    }


def test_the_definition_is_not_shared() -> None:
    """Changing the author's own objects later changes no tool."""
    parameters: dict[str, Any] = {"a": {"type": "string"}}
    schema, _, _ = normalise({"parameters": parameters})
    parameters["a"]["type"] = "number"
    assert schema["properties"]["a"] == {"type": "string"}


def test_frozen_definitions_are_read() -> None:
    """Definitions that come from a stored value are as good as plain ones."""
    assert normalise({"parameters": freeze({"a": {"type": "string"}})})[2] == ("a",)


@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        ({"type": "text"}, '"text" is not valid under any of the schemas listed'),
        ({"properties": {"a": {"required": True}}}, "(at properties.a.required)"),
        ({"pattern": "("}, '"(" is not a "regex"'),
        ({"$ref": "https://example.com/s.json"}, "Retrieval is disabled"),
        ({"$ref": "file:///etc/hostname"}, "Retrieval is disabled"),
    ],
)
def test_a_broken_schema_says_why(schema: dict[str, Any], reason: str) -> None:
    """What is wrong and where, and nothing is fetched to find out."""
    with pytest.raises(ValueError) as caught:
        compile_schema(schema)
    assert reason in explain(caught.value)
    assert "\n" not in explain(caught.value)


def test_look_around_is_allowed() -> None:
    """Patterns that need a careful search are compiled for one."""
    assert compile_schema({"pattern": "^(?!x)"}).is_valid("y")
    assert not compile_schema({"pattern": "^(?!x)"}).is_valid("x")


def test_what_is_required_may_be_written_wrongly() -> None:
    """A flat list of required names that holds something else is read as far as it can be."""
    flat = {"parameters": {"a": {"type": "string"}}, "required": ["a", {"b": 1}, ["c"]]}
    schema, style, order = normalise(flat)
    assert (schema["required"], style, order) == (["a"], "positional", ("a",))
