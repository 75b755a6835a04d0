"""What a record says of corrections: what was corrected, what was kept, undone, and taken back.

A step that was kept is put on record a second time, and so is a variable that a correction put
back. Who asks for the cause of its value wants the step that really made it: `maker` finds it.
"""

from __future__ import annotations

from itertools import islice
from typing import Any, Final

from saywhy.chart.commit import Commit
from saywhy.trace.trace import Trace
from saywhy.trace.words import CORRECTING, name_of, summary
from saywhy.values import UNDEFINED, Key, same

MOST_EARLIER: Final = 100
"""Earlier changes of a variable that are looked at."""


def kept_in(commit: Commit) -> int:
    """The commit of the step that was kept in this one; 0 for a step that was run."""
    return int(commit.facts.get("kept") or 0)


def replaced_in(trace: Trace, commit: Commit, key: Key) -> Any:
    """The answer in whose place a corrected one came; `UNDEFINED` for a step that took none."""
    seq = int(commit.facts.get("corrected") or 0)
    return trace.value_at(key, seq).value if seq in trace else UNDEFINED


def maker(trace: Trace, key: Key, commit: Commit) -> Commit:
    """The step that made what `commit` wrote: an earlier one where it was only kept or put back."""
    if not kept_in(commit) and commit.flow != CORRECTING:
        return commit
    value = trace.value_at(key, commit.seq).value
    if value is UNDEFINED:
        return commit
    before = (one for one in reversed(trace.writers(key)) if one.seq < commit.seq)
    for earlier in islice(before, MOST_EARLIER):
        repeats = kept_in(earlier) or earlier.flow == CORRECTING
        if not repeats and same(trace.value_at(key, earlier.seq).value, value):
            return earlier
    return commit


def told(trace: Trace, commit: Commit) -> str:
    """What a step of a correction did, in a sentence; empty for any other step."""
    if kept_in(commit):
        named = [name_of(op.key) for op in commit.ops if op.key[0] not in ("session", "turn")]
        what = ", ".join(dict.fromkeys(named)) or f"step {_of(trace, commit.seq)}"
        return f"Kept {what} as it was."
    if commit.flow != CORRECTING or commit.phase == "closed":
        return ""
    made: Any = commit.facts.get("correction")
    if made:
        was, value = summary(made["was"]), summary(made["value"])
        return f"Went back to the question for {made['variable']}: {value} in place of {was}."
    if commit.answered is not None and commit.answered.kind != "user":
        return _undone(trace, commit)
    if commit.answered is not None and commit.answered.kind == "user":
        agreed = commit.facts.get("agreed")
        if agreed is None:
            return "It was not clear whether the user agreed; asked again."
        return "The user agreed." if agreed else "The user did not agree: everything stays."
    if commit.asked is not None and commit.asked.kind == "user":
        return "Asked whether what was done may be undone."
    return ""


def _undone(trace: Trace, commit: Commit) -> str:
    """What came of the call that was to undo an effect; nothing while it is not settled."""
    answered = commit.answered
    assert answered is not None, "only a call that came back is told"
    if "undone" in commit.facts:
        step = _of(trace, commit.facts["undone"])
        return f"Called {answered.name} to undo what step {step} had done."
    failed = f", which failed: {answered.error}" if answered.error else ""
    return f"Called {answered.name} to undo what was done{failed}." if failed else ""


def _of(trace: Trace, seq: int) -> str:
    node = trace.node_of(trace.commit(seq)) if seq in trace else None
    return (node.name or node.id) if node is not None else f"of commit {seq}"


def routed(commit: Commit) -> str:
    """What routing found of a correction in the words."""
    decision = commit.decision
    if commit.kind != "correction" or decision is None or decision.default:
        return ""
    refused = commit.facts.get("refused")
    why = f" It was not made: {refused}." if refused else ""
    return f"These words correct {decision.chosen}.{why}"
