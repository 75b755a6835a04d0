"""What falls due in a conversation by itself, and what routing does when it has.

At the end of each turn it is noted in the session when the open question loses patience, or when
the conversation counts as abandoned: one moment, the earlier of both. Whoever keeps the session
brings that moment back as a turn of its own; a turn that comes when something else is due, or
nothing, changes nothing. What a question does about silence is `silence`'s.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from saywhy.chart.cursor import Cursor
from saywhy.chart.model import Charts
from saywhy.chart.outcome import Need, Outcome, Return
from saywhy.chart.scope import Scope
from saywhy.flows.patience import SILENCE, milliseconds
from saywhy.flows.silence import ABANDONED, reason
from saywhy.values import UNDEFINED, FrozenDict, freeze

DUE: Final = ("session", "due")
MAX_SILENT: Final = 50
"""Turns that silence may begin one after the other: flows that still talk then talk to nobody."""


class Due(msgspec.Struct):
    """What a session keeps under `DUE`. Moments are milliseconds since 1970."""

    id: str
    at: int | float
    """The moment: the earlier of `timeout` and `idle`."""
    asked: int
    """The commit that asked the open question, 0 where that has no timeout."""
    timeout: int | float | None
    """When the question loses patience."""
    idle: int | float | None
    """When the conversation counts as abandoned."""
    limit: int | float
    """How long the user may be silent."""
    silent: int
    """How many turns silence has begun since the user last spoke."""


def due_of(held: Any) -> Mapping[str, Any] | None:
    """What is noted as due, if anything."""
    return held if isinstance(held, Mapping) else None


# ------------------------------------------------------------------ at the end of a turn


def note_due(charts: Charts, flow: Cursor, now: float, usual_ms: float) -> None:
    """Note in the session what falls due next; `usual_ms` is the limit where a flow has none."""
    facts = flow.state.scopes["session"]
    before = facts.get("due")
    frame = flow.frames[-1] if flow.frames else None
    if frame is None or frame.waiting is None or frame.waiting.kind != "user":
        if before is not None:
            del facts["due"]
        return
    noted = frame.data.get(SILENCE)
    limit = _limit_of(charts, flow, usual_ms)
    if noted is None and not limit:
        if before is not None:
            del facts["due"]
        return
    is_by_user = flow.state.get("turn", "message") is not UNDEFINED
    known = due_of(None if is_by_user else before) or {}
    due = _moments(noted, limit, now, known)
    due["silent"] = int(known.get("silent", 0)) + (flow.state.get("turn", "silence") is True)
    if before is None or any(due[name] != before.get(name) for name in due):
        facts["due"] = freeze({**due, "id": str(flow.state.seq)})


def _moments(
    noted: Mapping[str, Any] | None, limit: float, now: float, known: Mapping[str, Any]
) -> dict[str, Any]:
    """When the question loses patience and when the conversation does; which is first.

    A moment that stood before stays, unless another question was asked, or the user spoke.
    """
    asked = noted["asked"] if noted else 0
    timeout = now + noted["after"] if noted else None
    idle = now + limit if limit else None
    if noted and known.get("asked") == asked:
        timeout = known["timeout"]
    if limit and known.get("limit") == limit:
        idle = known["idle"]
    at = min(moment for moment in (timeout, idle) if moment is not None)
    return {"at": at, "asked": asked, "timeout": timeout, "idle": idle, "limit": limit}


def _limit_of(charts: Charts, flow: Cursor, usual_ms: float) -> float:
    """How long the user may be silent: as the innermost flow says that says anything."""
    for frame in reversed(flow.frames):
        chart = charts.version(frame.chart)
        if chart is not None and "inactivity" in chart.meta:
            return milliseconds(chart.meta["inactivity"]) or 0.0
    return usual_ms


# ------------------------------------------------------------------ when it has fallen due


def take_due(scope: Scope, flow: Cursor, timer: Mapping[str, Any]) -> Outcome:
    """What the flows are to do now that a moment has come; nothing where it is not the one noted.

    `timer` may name what fell due (`id`).
    """
    due = due_of(scope.peek(DUE))
    named = timer.get("id")
    if due is None or (named is not None and named != due["id"]):
        return _nothing(scope, "late")
    if scope.now < due["at"]:
        return _nothing(scope, "early")
    # No operation: a record of the turn has the facts of this very step.
    scope.replace(("turn", "silence"), True, [])
    where = {"flow": flow.frames[-1].name, "node": flow.frames[-1].at or ""}
    timeout, idle = due["timeout"], due["idle"]
    if timeout is not None and (idle is None or timeout <= idle):
        if due["silent"] < MAX_SILENT:
            scope.facts["due"] = {"kind": "timeout", **where}
            return Need("flow", "silence", None, "repeatable")
        why = f"{MAX_SILENT} times in a row nobody answered"
    else:
        why = reason(due["limit"])
    scope.facts["due"] = {"kind": "inactivity", **where}
    return Need("flow", "end", FrozenDict({"how": ABANDONED, "reason": why}), "repeatable")


def _nothing(scope: Scope, how: str) -> Return:
    """Record that a moment came for nothing: the question was answered, or may wait longer."""
    scope.facts["due"] = {"kind": how}
    return Return()
