"""Names of a description as the flow language can have them. Pure."""

from __future__ import annotations

import re


def variable_name(name: str) -> str:
    """A name as a variable may have it."""
    plain = re.sub(r"\W+", "_", name, flags=re.ASCII).strip("_") or "value"
    return f"_{plain}" if plain[0].isdecimal() else plain


def tool_id(name: str) -> str:
    """A name as a tool's id; empty where nothing of it is left."""
    return re.sub(r"[^A-Za-z0-9_.-]+", "_", name).strip("_")
