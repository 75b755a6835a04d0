"""Flows that the tests of the runtime share."""

from __future__ import annotations

from typing import Any

import pytest

PAY: dict[str, Any] = {
    "id": "pay",
    "name": "Pay",
    "prompt": "Pay somebody",
    "description": "Sends money",
    "primary": True,
    "steps": [
        {"id": "who", "type": "SAY-GET", "variable": "payee", "value": "To whom?"},
        {"id": "amount", "type": "SAY-GET", "variable": "amount", "value": "How much?"},
        {
            "id": "charge",
            "type": "CALL-TOOL",
            "tool": "charge",
            "variable": "receipt",
            "args": {"payee": "{{payee}}", "amount": "{{amount}}"},
        },
        {"id": "done", "type": "SAY", "value": "Paid {{receipt.amount}} to {{receipt.payee}}."},
    ],
}
CHARGE: dict[str, Any] = {
    "id": "charge",
    "name": "Charge",
    "description": "Takes the money",
    "parameters": {
        "type": "object",
        "properties": {"payee": {"type": "string"}, "amount": {"type": "string"}},
        "required": ["payee", "amount"],
    },
    "implementation": {"type": "local", "function": "charge"},
}


class Ledger:
    """The outside world: what was really charged."""

    def __init__(self) -> None:
        self.charges: list[dict[str, Any]] = []

    def charge(self, args: dict[str, Any]) -> dict[str, Any]:
        """Charge and give a receipt."""
        self.charges.append(dict(args))
        return {**args, "id": len(self.charges)}


@pytest.fixture
def ledger() -> Ledger:
    """A fresh outside world."""
    return Ledger()


@pytest.fixture
def payment(ledger: Ledger) -> dict[str, Any]:
    """What an engine needs to run the payment flow."""
    return {
        "flows": [PAY],
        "tools": [CHARGE],
        "functions": {"charge": ledger.charge},
        "guidance": {"enabled": False},
    }
