"""What an agent writes that tells of its run, and not of what the run is about."""

from __future__ import annotations

from typing import Final

from saywhy.chart.commit import Commit, Op

_OF_THE_RUN: Final = frozenset(["receipts", "runId", "conversationId"])
"""What an agent keeps of its run: salted digests, and whose they are. Nothing said is in it."""
_COUNTED: Final = frozenset(["turnNumber", "loopCount", "calls", "maxIterations", "looseSystem"])
"""What it counts; a number or a truth of nobody's."""


def is_of_the_run(op: Op, commit: Commit) -> bool:
    """Whether an agent writes what tells of its run, and not of what the run is about."""
    if commit.kind.isupper() and not (commit.kind == "AGENT" and commit.to.startswith("call ")):
        return False
    name = op.key[1] if len(op.key) == 2 else ""
    return name in _OF_THE_RUN or (name in _COUNTED and isinstance(op.value, int))
