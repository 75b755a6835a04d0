"""What a repeat of a call would do: said by the author, or concluded from the kind of tool."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal, TypeAlias

Effect: TypeAlias = Literal["reads", "repeatable", "once"]

EFFECTS: Final = ("reads", "repeatable", "once")


def effect_of(raw: Mapping[str, Any]) -> Effect:
    """What the author says; else what the kind implies, and `once` where nothing is known."""
    given = raw.get("effect")
    if given in EFFECTS:
        return given
    implementation = raw.get("implementation")
    kind = implementation.get("type") if isinstance(implementation, Mapping) else None
    if kind == "mock":
        return "reads"
    if kind == "http" and isinstance(implementation, Mapping):
        method = str(implementation.get("method") or "POST").upper()
        return "reads" if method in ("GET", "HEAD") else "once"
    return "once"
