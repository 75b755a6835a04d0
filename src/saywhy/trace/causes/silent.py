"""What silence did: steps that went on because nobody answered, in words and as a cause."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from saywhy.chart.commit import Commit

THEN: Final = {
    "ask": "so it asked again",
    "value": "so it went on with the value for silence",
    "then": "so it went on with the steps for silence",
    "end": "so every flow ended",
}


def silence_in(commit: Commit) -> Mapping[str, Any] | None:
    """What a step noted of the silence that it went on with; None for any other step."""
    silence = commit.facts.get("silence")
    return silence if isinstance(silence, Mapping) else None


def silence_text(silence: Mapping[str, Any]) -> str:
    """`nobody answered for 30 s`, with how often was asked."""
    return str(silence.get("text") or "nobody answered")


def then_text(silence: Mapping[str, Any]) -> str:
    """What the step did about it."""
    return THEN.get(str(silence.get("then")), "so it went on")


def due_text(commit: Commit) -> str:
    """What became of a moment that came, where no step tells it; empty where one does."""
    due = commit.facts.get("due")
    kind = due.get("kind") if isinstance(due, Mapping) else ""
    if kind == "late":
        return "A moment came that nothing waited for any more; nothing was done."
    return "A moment came before its time; nothing was done." if kind == "early" else ""
