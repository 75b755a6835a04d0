"""Which further keys of a tool definition a tool made in Python may be given as keywords.

A key of a file that nobody knows is a warning. A keyword that nobody knows is refused: what would
be lost with a misspelled `approval` is the approval.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from saywhy.errors import DefinitionError, Problem, did_you_mean

FURTHER: Final = (
    "approval",
    "cache",
    "implementation",
    "reconcile",
    "returns",
    "riskLevel",
    "security",
)
"""Those that are not set by arguments of their own. `x-…` is free, as in any schema."""


def refuse_unknown(keys: Mapping[str, Any], tool: str, own: tuple[str, ...]) -> None:
    """Raises `DefinitionError` for keywords that no tool has. `own` are the arguments besides."""
    known = tuple(sorted({*own, *FURTHER}))
    unknown = [key for key in keys if key not in FURTHER and not key.startswith("x-")]
    if unknown:
        raise DefinitionError(
            [
                Problem(
                    f'tool {tool} has the unknown keyword "{key}"',
                    hint=did_you_mean(key, known),
                    known_names=known,
                    flow=tool,
                )
                for key in unknown
            ]
        )
