"""Promise: what a server lists becomes a definition that passes the check, with what to know."""

from __future__ import annotations

from typing import Any

import pytest

from saywhy.errors import Place
from saywhy.tools.check import problems_of
from saywhy.tools.mcp.describe import describe_tool
from saywhy.tools.mcp.server import server_of

SERVER = server_of({"command": ["bank"]})
SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}


def described(**tool: Any) -> tuple[dict[str, Any], tuple[str, ...]]:
    made = describe_tool({"name": "charge", "inputSchema": SCHEMA, **tool}, SERVER)
    assert list(problems_of(made.definition, Place())) == []
    return made.definition, made.notes


def test_definition() -> None:
    """Everything that the server says has its key."""
    returns = {"type": "object", "properties": {"ok": {"type": "boolean"}}}
    definition, notes = described(
        title="Charge  now", description=" Charges. ", outputSchema=returns
    )
    assert definition == {
        "id": "charge",
        "name": "Charge now",
        "description": "Charges.",
        "effect": "once",
        "parameters": SCHEMA,
        "implementation": {"type": "mcp", "server": {"command": ["bank"]}, "tool": "charge"},
        "returns": returns,
    }
    assert notes == ()


@pytest.mark.parametrize(
    ("hints", "effect"),
    [
        ({}, "once"),
        ({"readOnlyHint": False}, "once"),
        ({"readOnlyHint": True}, "reads"),
        ({"idempotentHint": True}, "repeatable"),
        ({"readOnlyHint": True, "idempotentHint": True, "destructiveHint": True}, "reads"),
        ({"destructiveHint": False}, "once"),
    ],
)
def test_effects(hints: dict[str, bool], effect: str) -> None:
    """The effect is what the annotations say, and `once` where they say nothing."""
    definition, notes = described(annotations=hints)
    assert (definition["effect"], notes) == (effect, ())


def test_destructive() -> None:
    """A tool that destroys is pointed out."""
    _, notes = described(annotations={"destructiveHint": True, "title": "Wipe"})
    assert notes == ('it says that it destroys something: think of "approval": true',)


def test_broken_schemas() -> None:
    """A schema that does not compile is left out, and a note says so."""
    definition, notes = described(
        inputSchema={"type": "object", "properties": {"a": {"type": "colour"}}},
        outputSchema={"type": 5},
    )
    assert definition["parameters"] == {"type": "object", "properties": {}}
    assert "returns" not in definition
    assert [note.partition(":")[0] for note in notes] == [
        "the schema of its arguments does not compile and is left out",
        "the schema of its result does not compile and is left out",
    ]
    definition, notes = described(inputSchema={"type": "string"})
    assert notes == ("its arguments are no object, so they are not checked",)


def test_long_texts() -> None:
    """Texts of a server are cut."""
    definition, _ = described(title="t" * 999, description="d" * 9999)
    assert (len(definition["name"]), len(definition["description"])) == (80, 2000)
