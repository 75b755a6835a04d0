"""How much a step tells somebody who has room for little, and what makes it the same as another.

Both are worked out when somebody asks: where nothing is left out and nothing repeats itself, nobody
does.
"""

from __future__ import annotations

from typing import Any, Final

from saywhy.chart.commit import Commit
from saywhy.trace.loops import BEGINS
from saywhy.trace.words import ROUTING

DETAIL: Final = 0
"""How the words of a model's request came about, piece by piece."""
STEP: Final = 1
CALL: Final = 2
"""What went out and came back, what was decided, what went wrong."""
WORDS: Final = 3
"""What the user said."""

_SLOTS: Final = frozenset({"slotComposed", "matchedInstructions"})


def shape_of(commit: Commit) -> tuple[Any, ...]:
    """Step and branch, without values."""
    chosen = commit.decision.chosen if commit.decision is not None else ""
    return (commit.flow, commit.node, commit.phase, chosen, bool(commit.error))


def weight_of(commit: Commit) -> int:
    """How much it tells: the more, the longer it stays."""
    if not commit.kind.isupper():
        return _weight_of_stage(commit)
    if commit.error or commit.warnings or commit.decision is not None or "failure" in commit.facts:
        return CALL
    is_call = commit.answered is not None or commit.asked is not None
    return CALL if is_call and commit.kind != "SAY-GET" else STEP


def _weight_of_stage(commit: Commit) -> int:
    """Of routing, and of an agent's loop: known by what a step writes, as `agents` does."""
    if commit.flow == ROUTING:
        return WORDS if commit.kind == "receive" else CALL
    names = {op.key[1] for op in commit.ops if len(op.key) == 2}
    if BEGINS in names:
        return STEP if commit.depth else WORDS
    if "slotInputs" in names or not _SLOTS.isdisjoint(names):
        return DETAIL
    if "stopReason" in names or "calls" in commit.facts or commit.error or commit.warnings:
        return CALL
    return CALL if commit.answered is not None or commit.asked is not None else STEP
