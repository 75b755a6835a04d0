"""What a form takes from the user's words, which what else it reads does not go into."""

from __future__ import annotations

from collections.abc import Callable

from saywhy.chart.commit import Commit, Op
from saywhy.trace.masking.texts import given
from saywhy.values import Key


def is_filled_in(op: Op, commit: Commit, is_sensitive: Callable[[Key], bool]) -> bool:
    """Whether a form took a value from words that are not sensitive themselves. What it reads
    besides, it says: the next question, the review.

    Words that answer something sensitive as well tell which part of them does; of words that repeat
    what is sensitive, said to a form that does not ask for it, nobody knows.
    """
    filled = commit.facts.get("filled") if commit.kind == "FORM" and len(op.key) == 3 else None
    if not filled or op.key[2] not in filled:
        return False
    is_told = any(isinstance(said, str) for said in commit.secrets)
    if not is_told and any(key[0] == "input" and is_sensitive(key) for key in commit.reads):
        return False
    return not any(text in commit.secrets for text in given(op.value))
