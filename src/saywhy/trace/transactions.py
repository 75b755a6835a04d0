"""Transactions and events: what an audit asks of a conversation, as queries over its commits.

A transaction is the life of one flow: its steps, how it ended, when and why. Nothing is kept
beside the commits for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final, Literal

import msgspec

from saywhy.chart.commit import Commit
from saywhy.trace.causes.origin import own_texts
from saywhy.trace.causes.wording import asked_of, failure_of
from saywhy.trace.trace import Trace
from saywhy.trace.words import OWN, ROUTING
from saywhy.values import UNDEFINED, dumps, raw

LONGEST_RESULT: Final = 500
"""Characters of a step's result that a transaction shows."""

EventName = Literal["flow_started", "tool_executed", "tool_error", "tool_audit", "flow_exit"]


class TransactionStep(msgspec.Struct, frozen=True, omit_defaults=True, rename="camel"):
    """One step of a flow; asking and being answered are one."""

    step_id: str
    step_type: str
    timestamp: float
    duration: float
    """Milliseconds from asking to the answer; 0 for a step that asks nothing."""
    status: Literal["completed", "failed", "waiting"]
    result: str = ""
    error: str = ""


class Transaction(msgspec.Struct, frozen=True, omit_defaults=True, rename="camel"):
    """The life of one flow in a conversation."""

    id: str
    flow_name: str
    state: str
    created_at: float
    frame: int
    steps: tuple[TransactionStep, ...] = ()
    completed_at: float | None = None
    failed_at: float | None = None
    failure_reason: str = ""
    initiator: str = ""
    user_id: str = ""
    parent_transaction: str = ""
    outcome: Any = None


class Event(msgspec.Struct, frozen=True, omit_defaults=True):
    """Something an audit log has a name for."""

    name: EventName
    seq: int
    turn: int
    at: float
    flow: str
    data: dict[str, Any] = {}


# ------------------------------------------------------------------ transactions


def transactions(trace: Trace, state: str | None = None) -> list[Transaction]:
    """The transactions of a conversation, oldest first; only those in `state`, if given."""
    flows = list(_flows(trace))
    suspended = _suspended(trace, flows)
    found = (_transaction(trace, commits, suspended) for commits in flows)
    return [each for each in found if state is None or each.state == state]


def _suspended(trace: Trace, flows: list[list[Commit]]) -> set[int]:
    """The frames of flows that wait because another one has interrupted them."""
    began = {
        commits[0].frame: _began(trace, commits[0])
        for commits in flows
        if commits[-1].phase != "closed"
    }
    newest = max(began.values(), default=0)
    return {frame for frame, seq in began.items() if seq < newest}


def _began(trace: Trace, first: Commit) -> int:
    """The step of routing that opened the stack of a flow: those it was called from included."""
    opener = trace.opener(first)
    while opener is not None and opener.flow != ROUTING:
        first = trace.steps_of(frame=opener.frame)[0]
        opener = trace.opener(first)
    return opener.seq if opener is not None else first.seq


def _flows(trace: Trace) -> Iterator[list[Commit]]:
    """The commits of each frame that ran a flow."""
    for frame in trace.frames:
        commits = trace.steps_of(frame=frame)
        if commits[0].flow not in OWN and commits[-1].facts.get("how") != "corrected":
            yield commits


def _moment(noted: Any) -> float:
    return float(noted) if isinstance(noted, int | float) else 0.0


def _transaction(trace: Trace, commits: list[Commit], suspended: set[int]) -> Transaction:
    first, last = commits[0], commits[-1]
    record: Any = raw(last.facts.get("transaction"))
    record = record if isinstance(record, dict) else {}
    closed = last.phase == "closed"
    failed = record.get("failedAt")
    waits = "suspended" if first.frame in suspended else "active"
    return Transaction(
        str(record.get("id", "")),
        first.flow,
        str(record.get("state", "completed" if closed else waits)),
        _moment(record.get("createdAt")) or _opened_at(trace, first),
        first.frame,
        tuple(steps_of(trace, commits)),
        record.get("completedAt", last.at if closed and failed is None else None),
        failed,
        str(record.get("failureReason", "")),
        str(record.get("initiator", "")),
        str(record.get("userId", "")),
        str(record.get("parentTransaction", "")),
        last.facts.get("outcome"),
    )


def _opened_at(trace: Trace, first: Commit) -> float:
    opener = trace.opener(first)
    return opener.at if opener is not None else first.at


def steps_of(trace: Trace, commits: Iterable[Commit]) -> Iterator[TransactionStep]:
    """The steps of one frame. A step that rests and is answered later is one step."""
    waiting: Commit | None = None
    for commit in commits:
        if commit.phase == "closed":
            continue
        began = waiting if waiting is not None and waiting.node == commit.node else None
        if waiting is not None and began is None:
            yield _step(trace, waiting, waiting, "waiting")
        waiting = None
        if commit.phase == "asked":
            if began is not None and commit.answered is not None:
                yield _step(trace, began, commit, _status(commit))
            waiting = commit
            continue
        yield _step(trace, began or commit, commit, _status(commit))
    if waiting is not None:
        yield _step(trace, waiting, waiting, "waiting")


def _status(commit: Commit) -> Literal["completed", "failed"]:
    return "failed" if failure_of(commit) else "completed"


def _step(
    trace: Trace,
    began: Commit,
    commit: Commit,
    status: Literal["completed", "failed", "waiting"],
) -> TransactionStep:
    duration = max(0.0, commit.at - began.at)
    label = _label(trace, commit)
    if status == "waiting":
        return TransactionStep(label, commit.kind, began.at, duration, status)
    result, error = _result(commit)[:LONGEST_RESULT], failure_of(commit)
    return TransactionStep(label, commit.kind, began.at, duration, status, result, error)


def _label(trace: Trace, commit: Commit) -> str:
    """The author's id of a step; where it stands, for one without."""
    node = trace.node_of(commit)
    return node.name if node is not None and node.name else commit.node


def _result(commit: Commit) -> str:
    """What a step gave: the answer it got, the branch it took, what it said or wrote."""
    if commit.answered is not None and commit.answered.value is not None:
        return _text(commit.answered.value)
    if commit.decision is not None:
        return commit.decision.chosen
    said = [text for op in commit.ops for text in own_texts(op.value, commit.seq)]
    written = [op.value for op in commit.ops if op.verb != "delete"]
    return said[-1] if said else _text(written[-1]) if written else ""


def _text(value: Any) -> str:
    if value is UNDEFINED:
        return ""
    return value if isinstance(value, str) else dumps(value).decode("utf-8", "replace")


# ------------------------------------------------------------------ events


def events(trace: Trace, name: EventName | None = None) -> list[Event]:
    """What happened, in order: flows that began and ended, tools that answered and failed.

    A tool that asks for it by its `auditLevel` leaves a `tool_audit` as well.
    """
    began = {commits[0].seq: commits[0] for commits in _flows(trace)}
    found: list[Event] = []
    for commit in trace:
        if commit.seq in began:
            found.append(_started(trace, commit))
        found += _tool_events(trace, commit)
        if commit.phase == "closed":
            found.append(_event("flow_exit", commit, dict(commit.facts)))
    return [event for event in found if name is None or event.name == name]


def _event(name: EventName, commit: Commit, data: dict[str, Any]) -> Event:
    return Event(name, commit.seq, commit.turn, commit.at, commit.flow, data)


def _started(trace: Trace, commit: Commit) -> Event:
    opener = trace.opener(commit)
    data: dict[str, Any] = {"frame": commit.frame}
    if opener is not None:
        data |= {"by": opener.flow, "step": _label(trace, opener), "commit": opener.seq}
    return _event("flow_started", commit, data)


def _tool_events(trace: Trace, commit: Commit) -> Iterator[Event]:
    answered = commit.answered
    if answered is None or answered.kind != "tool":
        return
    asked = asked_of(trace, commit)
    data: dict[str, Any] = {"tool": answered.name, "step": _label(trace, commit)}
    if asked is not None and asked.asked is not None:
        data |= {"args": asked.asked.args, "duration": max(0.0, commit.at - asked.at)}
    if answered.error:
        yield _event("tool_error", commit, data | {"error": answered.error})
    else:
        yield _event("tool_executed", commit, data | {"result": answered.value})
    if "audit" in answered.facts:
        yield _event("tool_audit", commit, dict(answered.facts["audit"]))
