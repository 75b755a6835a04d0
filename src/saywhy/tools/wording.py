"""How messages about tool definitions name a place inside one, and a value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from saywhy.errors import Place


def below(place: Place, *parts: str) -> Place:
    """The place of a key inside the definition at `place`."""
    escaped = (part.replace("~", "~0").replace("/", "~1") for part in parts)
    return replace(place, pointer="/".join((place.pointer, *escaped)))


def word(value: Any) -> str:
    """A value as a message names it."""
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, list | tuple):
        return "a list"
    if isinstance(value, Mapping):
        return "an object"
    return "nothing" if value is None else str(value).lower()
