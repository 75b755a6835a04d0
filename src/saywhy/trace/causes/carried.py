"""What is carried out for an agent: which step of it came back last, and what it is called.

An agent's loop opens a small chart for each call of a tool and each flow; what that comes to is its
value, which no variable holds. The step that takes it follows at once.
"""

from __future__ import annotations

from typing import Final

from saywhy.chart.commit import Commit
from saywhy.trace.trace import Trace

RUN: Final = "carried:flow"
CALL: Final = "carried:call"
ASKING: Final = "(ask a person)"
"""The flow by which an agent asks the user something."""
BACK: Final = frozenset({RUN, "carried:done", "carried:failed"})
"""Kinds of the steps that give what was carried out."""

_NAMES: Final = {"(flow)": "flow", "(tool)": "tool"}


def carried_out(trace: Trace, commit: Commit) -> Commit | None:
    """The last step of what `commit` had carried out, if it takes the value of that."""
    if commit.answered is None or commit.answered.kind != "call":
        return None
    for seq in range(commit.seq - 1, max(commit.seq - 8, 0), -1):
        if seq not in trace:
            return None
        earlier = trace.commit(seq)
        if earlier.phase != "closed":
            opener = trace.opener(earlier) if earlier.kind in BACK else None
            return earlier if opener is not None and opener.frame == commit.frame else None
    return None


def carried_text(commit: Commit) -> str:
    """What was carried out: `tool look_up`, `flow refund`, or the question to the user."""
    kind, _, name = commit.flow.partition(" ")
    if kind not in _NAMES or name.startswith("("):
        return "what the user was asked"
    return f"{_NAMES[kind]} {name.partition(' → ')[0]}"


__all__ = ["ASKING", "BACK", "CALL", "RUN", "carried_out", "carried_text"]
