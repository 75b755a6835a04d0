"""Which flow the user's words start, when there is no model to ask.

spec: flow-engine 5.1, 5.2
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Literal, NamedTuple

from saywhy.flows.model import Flow

SAFE_LENGTH: Final = 3


class Match(NamedTuple):
    """A flow that fits, and how."""

    flow: Flow
    how: Literal["exact", "partial"]


def exact(text: str, flows: Iterable[Flow]) -> Match | None:
    """The flow whose name or id is `text`, whatever the case; helpers too."""
    wanted = text.strip().lower()
    if not wanted:
        return None
    for flow in flows:
        if wanted in (flow.name.lower(), flow.id.lower()):
            return Match(flow, "exact")
    return None


def partial(
    text: str, flows: Iterable[Flow], *, guard: Literal["any", "safe"] = "any"
) -> Match | None:
    """The first flow whose name or id contains `text`.

    With the guard `safe` only primary flows count, and only texts of three characters or more:
    otherwise a plain "no" starts `no-action-needed`.
    """
    wanted = text.strip().lower()
    if not wanted or (guard == "safe" and len(wanted) < SAFE_LENGTH):
        return None
    for flow in flows:
        if guard == "safe" and not flow.primary:
            continue
        if wanted in flow.name.lower() or wanted in flow.id.lower():
            return Match(flow, "partial")
    return None
