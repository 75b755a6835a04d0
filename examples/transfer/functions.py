"""What the transfer flows need from a program. Here nothing leaves the machine."""

from __future__ import annotations

from typing import Any


def send_money(arguments: dict[str, Any]) -> dict[str, Any]:
    """A receipt. A real one would call the bank with the key of this call."""
    return {"id": f"T-{round(arguments['amount'] * 100)}"}


FUNCTIONS = {"send_money": send_money}
