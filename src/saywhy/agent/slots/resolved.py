"""What a slot's resolver gives: the value, and the choice behind it.

Prompt providers, message strategies and tool providers all answer in this form, so that a record
can tell which of several ways was taken without knowing the resolver.
"""

from __future__ import annotations

from typing import Any, Final, Generic, TypeVar

import msgspec

T = TypeVar("T")

STATIC: Final = "static"
"""The choice of a resolver that had none to make; narratives leave it out."""


class Resolved(msgspec.Struct, Generic[T], frozen=True, omit_defaults=True):
    """A value, `chosen`, the name of the way that led to it, and the reason in words."""

    value: T
    chosen: str = STATIC
    rationale: str | None = None
    blocked: tuple[str, ...] = ()
    """Of tools: the names of those that are kept from the model."""

    @property
    def told(self) -> str:
        """The choice as a narrative tells it: `Chose: gated (2 allowed)`; "" where there was none.

        Static ones are not told.
        """
        if self.chosen == STATIC:
            return ""
        return (
            f"Chose: {self.chosen} ({self.rationale})"
            if self.rationale
            else (f"Chose: {self.chosen}")
        )


def resolved_of(given: Any, chosen: str = STATIC) -> Resolved[Any]:
    """What a resolver gave, which may be the bare value."""
    return given if isinstance(given, Resolved) else Resolved(given, chosen)
