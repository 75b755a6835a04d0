"""What the demo's flows need from a program. Nothing leaves the machine."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, Final

LEDGER_VARIABLE: Final = "SAYWHY_DEMO_LEDGER"
"""Names the file in which every charge leaves a line, so that the demo can count them."""


def fee_for(arguments: dict[str, Any]) -> float:
    """Two up to 50, then a tenth."""
    amount = float(arguments["amount"])
    return 2 if amount <= 50 else round(amount / 10, 2)


def charge(arguments: dict[str, Any], context: Any) -> dict[str, Any]:
    """A receipt. A real one would call a payment service, with the key of this call."""
    ledger = os.environ.get(LEDGER_VARIABLE)
    if ledger:
        with Path(ledger).open("a", encoding="utf-8") as lines:
            lines.write(json.dumps({"key": context.key, **arguments}) + "\n")
    return {"id": f"R-{round(float(arguments['amount']) * 100)}", "payee": arguments["payee"]}


FUNCTIONS: Final = {"fee_for": fee_for, "charge": charge}
