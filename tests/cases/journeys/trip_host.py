"""What the trip flows need from a program: a price list and a till that writes down each charge."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any


def hold(tool: str) -> None:
    """Stop here for good where HOLD names this tool, so that a test can kill the program in it."""
    if os.environ.get("HOLD") == tool:
        Path(os.environ["TILL"]).with_name("held").touch()
        time.sleep(600)


def price_of(arguments: dict[str, Any]) -> int:
    """Twenty for each letter of the way."""
    hold("price")
    return 20 * len(arguments["from"] + arguments["to"])


def take_money(arguments: dict[str, Any], context: Any) -> dict[str, str]:
    """A ticket; each charge leaves a line in the till."""
    till = Path(os.environ["TILL"])
    with till.open("a", encoding="utf-8") as lines:
        lines.write(json.dumps({"key": context.key, **arguments}) + "\n")
    hold("charge")
    return {"number": f"T-{len(till.read_text(encoding='utf-8').splitlines())}"}
