"""A stretch of an answer that may be the value of an input."""

from __future__ import annotations

from typing import Any

import msgspec


class Span(msgspec.Struct, frozen=True):
    """Where in an answer a value stands."""

    start: int
    end: int
    value: Any = None
    plain: bool = True
    """Whether it says nothing of its kind: `5551234` may be many things, `$80` is an amount."""
    refused: str = ""
    """Why it cannot be taken although it was understood: the currency it is in."""

    def overlaps(self, other: Span) -> bool:
        """Whether two stretches share a character."""
        return self.start < other.end and other.start < self.end
