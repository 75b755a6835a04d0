"""The tools that an MCP server lists as definitions for a tool file. Pure.

What a server says about itself is its own word: schemas that do not compile are left out, texts are
cut, and what it promises about effects is taken over for a person to read and to correct.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from saywhy.tools.mcp.server import McpServer, server_block
from saywhy.tools.schema import compile_schema, explain

LONGEST_TEXT: Final = 2_000
LONGEST_NAME: Final = 80


@dataclass(frozen=True, slots=True)
class Described:
    """One tool: its definition, and what to know about it."""

    id: str
    definition: dict[str, Any]
    notes: tuple[str, ...] = ()


def describe_tool(tool: Mapping[str, Any], server: McpServer) -> Described:
    """The definition of a tool, given as the JSON of the protocol."""
    name = str(tool["name"])
    notes: list[str] = []
    hints: Mapping[str, Any] = tool.get("annotations") or {}
    title = str(tool.get("title") or hints.get("title") or name)
    definition: dict[str, Any] = {
        "id": name,
        "name": " ".join(title.split())[:LONGEST_NAME],
        "description": str(tool.get("description") or "").strip()[:LONGEST_TEXT],
        "effect": _effect(hints),
        "parameters": _parameters(tool.get("inputSchema"), notes),
        "implementation": {"type": "mcp", "server": server_block(server), "tool": name},
    }
    returns = tool.get("outputSchema")
    if isinstance(returns, Mapping) and _compiles(returns, "its result", notes):
        definition["returns"] = dict(returns)
    if hints.get("destructiveHint") is True and definition["effect"] != "reads":
        notes.append('it says that it destroys something: think of "approval": true')
    return Described(name, definition, tuple(notes))


def _effect(hints: Mapping[str, Any]) -> str:
    if hints.get("readOnlyHint") is True:
        return "reads"
    return "repeatable" if hints.get("idempotentHint") is True else "once"


def _parameters(schema: Any, notes: list[str]) -> dict[str, Any]:
    if not isinstance(schema, Mapping) or not _compiles(schema, "its arguments", notes):
        return {"type": "object", "properties": {}}
    if schema.get("type") != "object":
        notes.append("its arguments are no object, so they are not checked")
        return {"type": "object", "properties": {}}
    return {"properties": {}, **schema}


def _compiles(schema: Mapping[str, Any], what: str, notes: list[str]) -> bool:
    try:
        compile_schema(schema)
    except ValueError as error:
        notes.append(f"the schema of {what} does not compile and is left out: {explain(error)}")
        return False
    return True
