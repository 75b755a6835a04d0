"""How a value is written in a request: in an address or a form, and as JSON.

Numbers as JavaScript prints them, lists and objects as JSON, so that a request looks the same
whoever filled its arguments.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

from saywhy.expr.numbers import number_text
from saywhy.tools.arguments import json_view
from saywhy.values import Date


def text_of(value: Any) -> str:
    """A value as text; null and what is not there are empty."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return number_text(value)
    return str(value) if isinstance(value, Date) else json_text(value)


def json_text(value: Any) -> str:
    """A value as compact JSON; whole numbers have no `.0`."""
    return _ENCODER.encode(_ready(value))


_ENCODER: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


def _ready(value: Any) -> Any:
    """A plain tree as JSON can hold it: dates as text, what is no number as null."""
    if type(value) is str:
        return value if value.isascii() else json_view(value)
    if isinstance(value, dict):
        return {name: _ready(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_ready(item) for item in value]
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    return json_view(value)


def at_path(value: Any, path: Sequence[str]) -> Any:
    """What stands at a dotted path inside arguments; None where nothing does."""
    for step in path:
        if isinstance(value, dict):
            value = value.get(step)
        elif isinstance(value, list) and step.isdecimal() and int(step) < len(value):
            value = value[int(step)]
        else:
            return None
    return value
