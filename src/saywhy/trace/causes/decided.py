"""What people and reconcile functions decided about calls, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from saywhy.chart.commit import Commit
from saywhy.trace.words import quoted
from saywhy.values import iso_from_milliseconds

if TYPE_CHECKING:
    from saywhy.trace.trace import Trace

OUTSIDE: Final = frozenset({"tool", "settle", "approval", "reconcile"})
"""Kinds of answers that tell what a call gave, or that it may be made."""

HOW: Final = {
    "done": "it was done",
    "failed": "it failed",
    "not_done": "it was not done",
    "approved": "approved",
    "edited": "asked for it with other arguments",
    "denied": "denied",
    "expired": "nobody approved it in time",
}
RECONCILED: Final = {
    "done": "it was done",
    "failed": "it failed",
    "not_done": "it was not done",
    "unknown": "it is not known",
}


def decision_text(decided: Mapping[str, Any]) -> str:
    """`it was not done, said bob at 2026-01-01T00:00:05.000Z: "looked it up"`."""
    how = HOW.get(str(decided.get("how")), str(decided.get("how")))
    if decided.get("how") == "expired":
        return how
    verb = "by" if how in ("approved", "denied") else "said"
    who = f" {verb} {decided['by']}" if decided.get("by") else ""
    comma = "," if who and verb == "said" else ""
    at = decided.get("at")
    when = f" at {iso_from_milliseconds(at)}" if isinstance(at, int | float) else ""
    note = f": {quoted(str(decided['note']))}" if decided.get("note") else ""
    return f"{how}{comma}{who}{when}{note}"


def decided_in(commit: Commit) -> Mapping[str, Any] | None:
    """What the answer of a commit decided; None where it decided nothing."""
    decided = commit.facts.get("decided")
    return decided if isinstance(decided, Mapping) else None


def is_refusal(commit: Commit) -> bool:
    """Whether what was decided makes the call one that failed, so that no result came of it."""
    how = (decided_in(commit) or {}).get("how") or commit.facts.get("reconciled")
    return how in ("denied", "expired", "failed")


def word_of(trace: Trace, commit: Commit) -> str:
    """Whose word stands behind the result that a step took in: `, approved by eve at …`."""
    if "reconciled" in commit.facts:
        return f", as its tool found out: {RECONCILED[commit.facts['reconciled']]}"
    decided = decided_in(commit)
    if decided is not None:
        return f": {decision_text(decided)}"
    earlier = trace.newest(commit.frame, commit.node, commit.seq)
    while earlier is not None and earlier.phase != "enter" and earlier.answered is not None:
        decided = decided_in(earlier)
        if decided is not None and decided.get("how") in ("approved", "not_done"):
            return f", {decision_text(decided)}"
        earlier = trace.newest(commit.frame, commit.node, earlier.seq)
    return ""


def arguments_in(kind: str, args: Any) -> Any:
    """The arguments of the call that a need is about."""
    if kind in ("settle", "approval"):
        return args.get("args") if isinstance(args, Mapping) else None
    return args
