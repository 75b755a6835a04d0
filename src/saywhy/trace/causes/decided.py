"""What people and reconcile functions decided about calls, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from saywhy.chart.commit import Commit
from saywhy.trace.phrases import ENGLISH, Wording
from saywhy.trace.words import quoted
from saywhy.values import iso_from_milliseconds

if TYPE_CHECKING:
    from saywhy.trace.trace import Trace

OUTSIDE: Final = frozenset({"tool", "settle", "approval", "reconcile"})
"""Kinds of answers that tell what a call gave, or that it may be made."""

RECONCILED: Final = {
    "done": "it was done",
    "failed": "it failed",
    "not_done": "it was not done",
    "unknown": "it is not known",
}


def decision_text(decided: Mapping[str, Any], say: Wording = ENGLISH) -> str:
    """`it was not done, said bob at 2026-01-01T00:00:05.000Z: "looked it up"`."""
    how = str(decided.get("how"))
    text = say(f"how_{how}") if say.has(f"how_{how}") else how
    if how == "expired":
        return text
    if decided.get("by"):
        phrase = "decided_by" if how in ("approved", "denied") else "decided_said"
        text = say(phrase, how=text, who=decided["by"])
    at = decided.get("at")
    if isinstance(at, int | float):
        text = say("decided_at", how=text, moment=iso_from_milliseconds(at))
    return (
        say("decided_note", how=text, note=quoted(str(decided["note"])))
        if decided.get("note")
        else text
    )


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
        given = args if isinstance(args, Mapping) else {}
        return given.get(
            "args", given.get("arguments")
        )  # the latter where no engine holds an agent
    return args
