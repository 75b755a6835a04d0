"""What the tests of the MCP server share: an engine with a flow and some tools."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from saywhy.runtime.engine import Engine
from saywhy.stores.sqlite import SqliteStore

PAY: dict[str, Any] = {
    "id": "pay",
    "name": "Pay",
    "version": "1.0",
    "primary": True,
    "prompt": "pay somebody",
    "description": "Pays an amount",
    "parameters": [
        {"name": "amount", "type": "string", "description": "how much"},
        {"name": "secret", "type": "string", "internal": True},
    ],
    "variables": {"amount": {"type": "string"}},
    "steps": [
        {"id": "who", "type": "SAY-GET", "variable": "payee", "value": "Who gets {{amount}}?"},
        {
            "id": "charge",
            "type": "CALL-TOOL",
            "tool": "Charge",
            "args": {"amount": "{{amount}}", "payee": "{{payee}}"},
            "variable": "receipt",
        },
        {"id": "pin", "type": "SAY-GET", "variable": "pin", "value": "Your PIN?", "pii": True},
        {"id": "done", "type": "SAY", "value": "Paid {{amount}} to {{payee}}."},
    ],
}
INNER = {"id": "inner", "name": "Inner", "steps": [{"id": "x", "type": "SAY", "value": "in"}]}
CHARGE_SCHEMA = {
    "type": "object",
    "properties": {"amount": {"type": "string"}, "payee": {"type": "string"}},
    "required": ["amount", "payee"],
    "additionalProperties": False,
}


def local(name: str, **keys: Any) -> dict[str, Any]:
    implementation = {"type": "local", "function": name.lower()}
    return {"id": name, "name": name, "implementation": implementation, **keys}


TOOLS = [
    local("Charge", description="Charges somebody", parameters=CHARGE_SCHEMA),
    local("Look", effect="reads", parameters={"type": "object"}),
    local("Rename", effect="repeatable", parameters={"type": "object"}),
    local("Wire", approval=True, parameters={"type": "object"}),
    local("Fail", parameters={"type": "object"}),
    local(
        "Often",
        parameters={"type": "object"},
        security={"rateLimit": {"requests": 1, "window": 60000}},
    ),
]


class Shop:
    """An engine, and what its tools were called with."""

    def __init__(self, path: Path, **options: Any) -> None:
        self.calls: list[tuple[str, Any, str]] = []
        functions = {name: self._noting(name) for name in ("charge", "rename", "wire", "often")}
        functions |= {"look": lambda args: "seen", "fail": self._fail}
        self.engine = Engine(
            flows=[PAY, INNER],
            tools=TOOLS,
            functions=functions,
            guidance={"enabled": False},
            validate_on_init=False,
            store=SqliteStore(path),
            **options,
        )

    def _noting(self, name: str) -> Any:
        def tool(args: dict[str, Any], context: Any) -> dict[str, Any]:
            self.calls.append((name, args, context.key))
            return {"ok": True, "number": len(self.calls)}

        return tool

    def _fail(self, args: dict[str, Any]) -> None:
        raise ValueError("the drawer is stuck")


@pytest.fixture
async def shop(tmp_path: Path) -> AsyncIterator[Shop]:
    """A shop with an open store."""
    made = Shop(tmp_path / "shop.db")
    async with made.engine:
        yield made
