"""What the payment flows need from a program. Here nothing leaves the machine."""

from __future__ import annotations

from typing import Any


def fee_for(arguments: dict[str, Any]) -> float:
    """Two up to 50, then a tenth."""
    amount = float(arguments["amount"])
    return 2 if amount <= 50 else round(amount / 10, 2)


def charge(arguments: dict[str, Any]) -> dict[str, Any]:
    """A receipt. A real one would call a payment service with the key of this call."""
    return {"id": f"R-{round(arguments['amount'] * 100)}", "payee": arguments["payee"]}


FUNCTIONS = {"fee_for": fee_for, "charge": charge}
