"""Promise: `x-known` where nobody looks, or with a value that means nothing, is reported."""

from __future__ import annotations

from typing import Any

import pytest

from saywhy.errors import Place
from saywhy.tools.check import problems_of

LOCAL = {"type": "local", "function": "f"}


def problems(parameters: Any, **keys: Any) -> list[tuple[str, str]]:
    """Pointer and message of each problem of a tool with these parameters."""
    raw = {"id": "pay", "parameters": parameters, "implementation": LOCAL, **keys}
    return [(one.place.pointer, one.message) for one in problems_of(raw, Place())]


def with_property(schema: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": {"order": schema}}


@pytest.mark.parametrize("value", [True, False, "or-said"])
@pytest.mark.parametrize("kind", ["string", "number", "integer", ["string", "null"]])
def test_where_it_belongs(value: Any, kind: Any) -> None:
    """Beside the type of a text or a number: of a parameter, a property inside one, or items."""
    leaf = {"type": kind, "x-known": value}
    assert problems(with_property(leaf)) == []
    assert problems(with_property({"type": "object", "properties": {"id": leaf}})) == []
    assert problems(with_property({"type": "array", "items": leaf})) == []
    assert problems({"order": leaf}) == []


@pytest.mark.parametrize("value", ["yes", "said", 1, None, ["or-said"]])
def test_what_it_may_be(value: Any) -> None:
    """A word that means nothing would protect nothing."""
    ((pointer, message),) = problems(with_property({"type": "string", "x-known": value}))
    assert pointer == "/parameters/properties/order/x-known"
    assert message.startswith('`x-known` of order must be true or "or-said", not ')


@pytest.mark.parametrize(
    ("schema", "told"),
    [
        ({"type": "object"}, 'not with "object"'),
        ({"type": "boolean"}, 'not with "boolean"'),
        ({"type": ["string", "array"]}, "not with a list"),
        ({}, "and no `type` is given"),
    ],
)
def test_what_it_goes_with(schema: dict[str, Any], told: str) -> None:
    """Only texts and numbers are remembered."""
    ((pointer, message),) = problems(with_property({**schema, "x-known": True}))
    assert pointer == "/parameters/properties/order/x-known"
    assert message == f"`x-known` of order goes with a text or a number, {told}"


LEAF = {"type": "string", "x-known": True}


@pytest.mark.parametrize(
    ("parameters", "pointer"),
    [
        ({"type": "object", "properties": {}, "x-known": True}, "/parameters/x-known"),
        (with_property({"anyOf": [LEAF]}), "/parameters/properties/order/anyOf/0/x-known"),
        (
            {"type": "object", "properties": {}, "additionalProperties": LEAF},
            "/parameters/additionalProperties/x-known",
        ),
        (
            {"type": "object", "properties": {}, "$defs": {"id": LEAF}},
            "/parameters/$defs/id/x-known",
        ),
    ],
)
def test_where_nobody_looks(parameters: dict[str, Any], pointer: str) -> None:
    """In alternatives, in definitions, at the root."""
    assert problems(parameters) == [(pointer, "`x-known` is not looked at here")]


def test_data_is_no_schema() -> None:
    """An example that has such a key is left alone."""
    assert problems(with_property({"type": "object", "default": {"x-known": 1}})) == []


def test_the_keyword_is_no_error_for_the_schema_itself() -> None:
    """In the older key `schema`, and with flat parameters, it is looked at likewise."""
    raw = {"id": "p", "schema": with_property({"x-known": 2}), "implementation": LOCAL}
    assert [one.place.pointer for one in problems_of(raw, Place())] == [
        "/schema/properties/order/x-known"
    ]
    assert [pointer for pointer, _ in problems({"order": {"type": "array", "x-known": True}})] == [
        "/parameters/order/x-known"
    ]
