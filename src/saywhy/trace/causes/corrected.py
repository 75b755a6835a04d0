"""What a record says of corrections: what was corrected, what was kept, undone, and taken back.

A step that was kept is put on record a second time, and so is a variable that a correction put
back. Who asks for the cause of its value wants the step that really made it: `maker` finds it.
"""

from __future__ import annotations

from itertools import islice
from typing import Any, Final

from saywhy.chart.commit import Commit
from saywhy.trace.causes.origin import number_in
from saywhy.trace.phrases import ENGLISH, Wording
from saywhy.trace.trace import Trace
from saywhy.trace.words import CORRECTING, name_of, summary
from saywhy.values import UNDEFINED, Key, raw, same

MOST_EARLIER: Final = 100
"""Earlier changes of a variable that are looked at."""


def kept_in(commit: Commit) -> int:
    """The commit of the step that was kept in this one; 0 for a step that was run."""
    return number_in(commit.facts, "kept")


def replaced_in(trace: Trace, commit: Commit, key: Key) -> Any:
    """The answer in whose place a corrected one came; `UNDEFINED` for a step that took none."""
    seq = number_in(commit.facts, "corrected")
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


def told(trace: Trace, commit: Commit, say: Wording = ENGLISH) -> str:
    """What a step of a correction did, in a sentence; empty for any other step."""
    if kept_in(commit):
        named = [name_of(op.key) for op in commit.ops if op.key[0] not in ("session", "turn")]
        what = ", ".join(dict.fromkeys(named))
        return say("kept", what=what or say("kept_step", step=_of(trace, commit.seq, say)))
    if commit.flow != CORRECTING or commit.phase == "closed":
        return ""
    made: Any = raw(commit.facts.get("correction"))
    if isinstance(made, dict):
        was, value = summary(made.get("was"), say), summary(made.get("value"), say)
        return say("went_back", variable=made.get("variable"), value=value, was=was)
    if commit.answered is not None and commit.answered.kind != "user":
        return _undone(trace, commit, say)
    if commit.answered is not None and commit.answered.kind == "user":
        agreed = commit.facts.get("agreed")
        return say("agreed_unclear" if agreed is None else "agreed" if agreed else "not_agreed")
    if commit.asked is not None and commit.asked.kind == "user":
        return say("asked_undo")
    return ""


def _undone(trace: Trace, commit: Commit, say: Wording) -> str:
    """What came of the call that was to undo an effect; nothing while it is not settled."""
    answered = commit.answered
    assert answered is not None, "only a call that came back is told"
    if "undone" in commit.facts:
        step = _of(trace, commit.facts["undone"], say)
        return say("undid", tool=answered.name, step=step)
    return say("undo_failed", tool=answered.name, why=answered.error) if answered.error else ""


def _of(trace: Trace, seq: int, say: Wording) -> str:
    node = trace.node_of(trace.commit(seq)) if seq in trace else None
    return (node.name or node.id) if node is not None else say("of_commit", number=seq)


def routed(commit: Commit, say: Wording = ENGLISH) -> str:
    """What routing found of a correction in the words."""
    decision = commit.decision
    if commit.kind != "correction" or decision is None or decision.default:
        return ""
    refused = commit.facts.get("refused")
    why = f" {say('not_corrected', why=refused)}" if refused else ""
    return say("corrects", variable=decision.chosen) + why
