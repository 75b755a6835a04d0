"""What a form takes from the user's words, which what else it reads does not go into."""

from __future__ import annotations

from saywhy.chart.commit import Commit, Op
from saywhy.trace.masking.texts import given


def is_filled_in(op: Op, commit: Commit) -> bool:
    """Whether a form took a value from words that are not sensitive themselves. What it reads
    besides, it says: the next question, the review."""
    filled = commit.facts.get("filled") if commit.kind == "FORM" and len(op.key) == 3 else None
    if not filled or op.key[2] not in filled:
        return False
    return not any(text in commit.secrets for text in given(op.value))
