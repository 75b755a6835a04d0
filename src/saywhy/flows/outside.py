"""Steps that rest until a person decides: a call nobody knows the end of, or one to be approved.

What is open stands in the session under `OPEN`, by id, until it is decided; the step that waits
for it holds the id. The user is told, and what they write meanwhile does not move the flow. How a
step goes on with a decision is `decided`.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import blake2b
from typing import Any, Final

from saywhy.chart.cursor import Cursor, Frame
from saywhy.chart.outcome import Answer, Need
from saywhy.chart.scope import Scope
from saywhy.errors import FlowExecutionError
from saywhy.flows.forms import record as forms
from saywhy.flows.speech import (
    deliver,
    drop_tentative,
    here,
    joined,
    language_of,
    say_phrase,
    take_queue,
)
from saywhy.flows.world import World
from saywhy.tools.approval import DAY_MS, digest_of
from saywhy.tools.tool import Tool
from saywhy.values import UNDEFINED, freeze, raw, seal, thaw

OPEN: Final[tuple[str, str]] = ("session", "outside")
DECIDED: Final[tuple[str, str]] = ("session", "decided")
KINDS: Final = frozenset({"settle", "approval"})
MAX_DECIDED: Final = 50
"""Decisions the session itself remembers; the trace has them all."""

PHRASES: Final = {
    "settle": ("tool_unknown", "still_unknown"),
    "approval": ("approval_waiting", "approval_waiting"),
}
"""What the user is told at first, and what they are told from then on."""

VIEW: Final = (
    "id",
    "kind",
    "tool",
    "args",
    "since",
    "turn",
    "seq",
    "flow",
    "error",
    "digest",
    "expires",
    "by",
)
EXPIRED: Final = "not approved in time"


# ------------------------------------------------------------------ resting


def rest_unknown(world: World, scope: Scope, tool: Tool, message: str) -> Need:
    """Wait until somebody says what became of the call."""
    key = str(scope.kept("key") or "")
    record = _record(scope, "settle", key, tool) | {"error": message}
    forms.note_unknown(scope)
    return _rest(world, scope, record)


def rest_unapproved(world: World, scope: Scope, tool: Tool, args: Any) -> Need:
    """Wait until somebody approves the call with exactly these arguments."""
    scope.keep("args", args)
    scope.keep("counted", True)
    approval = tool.approval
    expires_ms = approval.expires_ms if approval else DAY_MS
    record = _record(scope, "approval", approval_id(scope), tool)
    record["digest"] = digest_of(tool.id, args, str(scope.kept("salt") or ""))
    record["expires"] = scope.now + expires_ms
    if approval and approval.by:
        record["by"] = approval.by
    return _rest(world, scope, record)


def approval_id(scope: Scope) -> str:
    """Another one each time a step asks."""
    name = f"{scope.kept('key')}/{scope.state.seq + 1}"
    return "a-" + blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def _record(scope: Scope, kind: str, name: str, tool: Tool) -> dict[str, Any]:
    """What is listed of it."""
    return {
        "id": name,
        "kind": kind,
        "tool": tool.id,
        "name": tool.name,
        "args": seal(scope.kept("args")),
        "since": scope.now,
        "turn": scope.state.turn,
        "seq": scope.state.seq + 1,
        "frame": scope.frame.id,
        "flow": scope.frame.name,
    }


def _rest(world: World, scope: Scope, record: dict[str, Any]) -> Need:
    _put(scope, {**open_records(scope.peek(OPEN)), record["id"]: record})
    scope.keep("outside", record["id"])
    _tell(world, scope, PHRASES[record["kind"]][0], record["name"])
    return _need(record)


def _need(record: Mapping[str, Any]) -> Need:
    args = freeze({"id": record["id"], "args": seal(record["args"])})
    return Need(record["kind"], record["tool"], args, "once")


def rest_again(world: World, scope: Scope) -> Need:
    """A step entered anew while it waits goes on waiting."""
    name = scope.kept("outside")
    record = open_records(scope.peek(OPEN)).get(name)
    if record is None:  # never: to call the tool again would be the worst way out
        raise FlowExecutionError(f"what this step waits for ({name}) is not on record any more")
    _tell(world, scope, PHRASES[record["kind"]][1], record["name"])
    return _need(record)


def tell_waiting(world: World, scope: Scope, record: Mapping[str, Any]) -> None:
    """Say once more that somebody else's word is waited for."""
    _tell(world, scope, PHRASES[record["kind"]][1], record["name"])


def _tell(world: World, scope: Scope, phrase: str, tool: str) -> None:
    text = say_phrase(world, scope, phrase, language_of(world, scope), toolName=tool)
    drop_tentative(scope)
    scope.keep("question", None)
    deliver(scope, joined(take_queue(scope), here(scope, text) if text.strip() else []))


# ------------------------------------------------------------------ what is open


def open_records(held: Any) -> dict[str, Any]:
    """What is open, by id, oldest first."""
    return {} if held is UNDEFINED or held is None else dict(raw(held))


def view_of(record: Mapping[str, Any]) -> dict[str, Any]:
    """What is open as people see it, in plain data."""
    shown = {name: thaw(record[name]) for name in VIEW if record.get(name) not in (None, "")}
    return {**shown, "args": thaw(record["args"]) or {}, "tool": record["name"]}


def waiting_record(cursor: Cursor, scope: Scope) -> Mapping[str, Any] | None:
    """What the running flow waits for a person to decide; None where it does not."""
    need = cursor.frames[-1].waiting if cursor.frames else None
    if need is None or need.kind not in KINDS:
        return None
    return open_records(scope.peek(OPEN)).get(need.args["id"])


def frame_of(cursor: Cursor, record: Mapping[str, Any]) -> Frame | None:
    """The frame whose step waits for the decision; None when its flow is gone."""
    for frame in cursor.walk():
        if frame.id == record["frame"] and frame.data.get("outside") == record["id"]:
            return frame
    return None


def is_expired(record: Mapping[str, Any], now: float) -> bool:
    """Whether an approval came too late."""
    return record["kind"] == "approval" and now >= record["expires"]


def withdraw(cursor: Cursor) -> None:
    """Forget approvals that no flow waits for any more. A call nobody knows the end of stays."""
    facts = cursor.state.scopes.get(OPEN[0], {})
    held = facts.get("outside")
    if not held:
        return
    records = open_records(held)
    kept = {
        name: record
        for name, record in records.items()
        if record["kind"] == "settle" or frame_of(cursor, record) is not None
    }
    if len(kept) < len(records):
        facts["outside"] = freeze(kept)


def _put(scope: Scope, records: Mapping[str, Any]) -> None:
    # Bookkeeping, so no operation: the need of this very step says what was asked.
    scope.replace(OPEN, freeze(records), [])


# ------------------------------------------------------------------ deciding


def take_decision(scope: Scope, decision: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Close what was open and remember who decided; None when it is open no more."""
    records = open_records(scope.peek(OPEN))
    record = records.get(decision["id"])
    if record is None or record["seq"] != decision["seq"]:
        return None
    del records[decision["id"]]
    _put(scope, records)
    known = open_records(scope.peek(DECIDED))
    known.pop(decision["id"], None)
    known[decision["id"]] = {
        name: decision[name] for name in ("how", "by", "at") if decision.get(name) is not None
    }
    kept = dict(list(known.items())[-MAX_DECIDED:])
    scope.replace(DECIDED, freeze(kept), [])
    return record


def answer_of(decision: Mapping[str, Any]) -> Answer:
    """A decision as the waiting step gets it. Who decided, and when, is on record with it."""
    told = ("id", "how", "by", "note", "at", "digest")
    facts = {"decided": {name: decision[name] for name in told if decision.get(name) is not None}}
    if decision["how"] == "failed":
        return Answer(error=str(decision.get("text") or "it failed"), facts=facts)
    return Answer(seal(decision.get("value")), facts=facts)


__all__ = [
    "DECIDED",
    "EXPIRED",
    "KINDS",
    "OPEN",
    "answer_of",
    "approval_id",
    "frame_of",
    "is_expired",
    "open_records",
    "rest_again",
    "rest_unapproved",
    "rest_unknown",
    "take_decision",
    "tell_waiting",
    "view_of",
    "waiting_record",
    "withdraw",
]
