"""What silence did: steps that went on because nobody answered, in words and as a cause."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from saywhy.chart.commit import Commit
from saywhy.trace.phrases import ENGLISH, Wording

_FOR: Final = re.compile(r"nobody answered for (.+?)(?:, asked (\d+) times)?\Z")
"""What the record says of a silence."""


def silence_in(commit: Commit) -> Mapping[str, Any] | None:
    """What a step noted of the silence that it went on with; None for any other step."""
    silence = commit.facts.get("silence")
    if silence is None:  # mostly: telling so takes less than asking what kind of value it is
        return None
    return silence if isinstance(silence, Mapping) else None


def silence_text(silence: Mapping[str, Any]) -> str:
    """`nobody answered for 30 s`, with how often was asked."""
    return str(silence.get("text") or "nobody answered")


def told(silence: Mapping[str, Any], say: Wording) -> str:
    """How long nobody answered, and what the step did about it, as a sentence."""
    text, then = silence_text(silence), f"then_{silence.get('then')}"
    found = _FOR.match(text)
    if found is None:
        heard = say("nobody_answered")
    elif found[2]:
        heard = say("nobody_answered_times", time=found[1], n=found[2])
    else:
        heard = say("nobody_answered_for", time=found[1])
    return say("silence", silence=heard, then=say(then if say.has(then) else "then_on"))


def due_text(commit: Commit, say: Wording = ENGLISH) -> str:
    """What became of a moment that came, where no step tells it; empty where one does."""
    due = commit.facts.get("due")
    kind = due.get("kind") if isinstance(due, Mapping) else ""
    if kind == "late":
        return say("late")
    return say("early") if kind == "early" else ""
