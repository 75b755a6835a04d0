"""Opening and closing a flow's frame: variables, transaction, outcome.

spec: flow-engine 1.5, 3.5, 4.1, 8.1, 8.3
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import blake2b
from typing import Any, Final

from saywhy.chart.cursor import Frame
from saywhy.chart.machine import Ending
from saywhy.chart.model import Chart
from saywhy.chart.scope import Scope
from saywhy.flows.answers import withdraw_keypad
from saywhy.flows.corrections import recording
from saywhy.flows.corrections.log import recorded
from saywhy.flows.forms import record as forms
from saywhy.flows.speech import (
    QUEUE,
    REPLY,
    deliver,
    drop_tentative,
    here,
    language_of,
    prompt_of,
    queue_text,
    say_phrase,
    take_queue,
)
from saywhy.flows.world import World
from saywhy.trace.masking.redact import Redactor
from saywhy.values import UNDEFINED, FrozenList, raw

OUTCOME: Final = ("turn", "outcome")
TRANSACTIONS: Final = ("session", "transactions")
MAX_TRANSACTIONS: Final = 20
"""Ended transactions the session itself keeps; the trace keeps them all."""

ENDED_BY: Final = {
    "completed": "completion",
    "returned": "return",
    "dispatched": "dispatch",
    "abandoned": "silence",
}


def set_variables(
    scope: Scope,
    target: str,
    chart: Chart,
    parameters: Mapping[str, Any],
    *,
    defaults: bool,
    only_undefined: bool = False,
) -> None:
    """Write a flow's declared defaults and the parameters it was given; parameters win."""
    written: list[str] = []
    if defaults:
        for name, value in chart.meta.get("defaults", {}).items():
            if only_undefined and scope.peek((target, name)) is not UNDEFINED:
                continue
            scope.set((target, name), value)
            written.append(name)
    for name, value in parameters.items():
        scope.set((target, name), value)
    scope.facts = {
        **scope.facts,
        "target": chart.name,
        "digest": chart.digest,
        "scope": target,
        "defaults": written,
        "parameters": list(parameters),
    }


def frame_data(
    scope: Scope, initiator: str, *, user_input: Any = None, parent: str = ""
) -> dict[str, Any]:
    """What a new frame keeps: its transaction and the words that are `userInput` in it."""
    data: dict[str, Any] = {
        "tx": transaction_id(scope, scope.state.seq + 1),
        "initiator": initiator,
        "started": scope.now,
        "first": scope.peek(("turn", "message")) or 0,
    }
    if user_input:
        data["input"] = user_input
    if parent:
        data["parent"] = parent
    return data


def transaction_id(scope: Scope, number: int) -> str:
    """A UUID (version 8) that is the same whenever this step is run again."""
    session = scope.peek(("session", "sessionId")) or ""
    name = f"{session}/{number}/{scope.frame.id}"
    made = blake2b(name.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
    return f"{made[:8]}-{made[8:12]}-8{made[13:16]}-a{made[17:20]}-{made[20:]}"


def declare_outcome(scope: Scope, outcome: str, reason: str) -> None:
    """Remember how the flow will have ended. spec: flow-engine 8.3"""
    scope.keep("outcome", {"outcome": outcome, **({"reason": reason} if reason else {})})


# ------------------------------------------------------------------ closing


def close_flow(world: World, scope: Scope, ending: Ending) -> None:
    """Write a frame's end: its transaction, its outcome, and the last words of the last flow."""
    if recorded(scope.frame):
        if ending.how == recording.CORRECTED:
            return  # it is called again, and so goes on
        recording.closing(scope, ending.how)
    declared = scope.kept("outcome") if ending.how in ENDED_BY else None
    if declared is None and ending.how == "abandoned":
        declared = {"outcome": "abandoned", "reason": ending.reason}
    _record_transaction(scope, ending, declared)
    form = forms.ended(scope, ending)
    if declared or form:
        said = declared or {"outcome": form["completion"] if form else ""}
        ended = ENDED_BY.get(ending.how, ending.how)
        stamp = {"flowName": scope.frame.name, **said, "endedBy": ended}
        stamp |= {"form": form} if form else {}
        scope.set(OUTCOME, stamp)
    waiting = scope.frame.waiting
    if ending.error is not None or (waiting is not None and waiting.kind == "user"):
        withdraw_keypad(scope)
    if ending.how in ("completed", "failed"):
        _hand_over(world, scope, ending)


def _record_transaction(scope: Scope, ending: Ending, declared: Any) -> None:
    failure = _failure(ending, declared)
    frame = scope.frame
    held = {**frame.data, **scope.data}  # all that is `kept`, looked at five times
    record: dict[str, Any] = {
        "id": held.get("tx", ""),
        "flowName": frame.name,
        "initiator": held.get("initiator", ""),
        "userId": scope.peek(("session", "userId")) or "",
        "state": "failed" if failure else "completed",
        "createdAt": held.get("started", 0),
        "failedAt" if failure else "completedAt": scope.now,
        "frame": frame.id,
    }
    if failure:
        record["failureReason"] = masked(scope, failure)
    if held.get("parent"):
        record["parentTransaction"] = held["parent"]
    scope.facts["transaction"] = record
    earlier = scope.peek(TRANSACTIONS)
    kept = raw(earlier)[-(MAX_TRANSACTIONS - 1) :] if earlier else []
    # Bookkeeping, so no operation: the record stands in the facts of this very commit.
    scope.replace(TRANSACTIONS, FrozenList([*kept, record]), [])


def _failure(ending: Ending, declared: Any) -> str:
    if declared and declared["outcome"] in ("unresolved", "abandoned"):
        return declared.get("reason") or declared["outcome"]
    if ending.how == "dispatched" and declared:
        return ""
    reasons = {
        "failed": "failed",
        "replaced": "replaced",
        "rebooted": "rebooted",
        "dispatched": "dispatched",
        "cancelled": "cancelled",
    }
    return ending.reason or reasons.get(ending.how, "") if ending.how in reasons else ""


def masked(scope: Scope, text: str) -> str:
    """`text` without the sensitive answers of this conversation, for what outlives its flow."""
    secrets = scope.peek(("session", "secrets"))
    return Redactor(secrets=secrets).text(text) if secrets else text


def _hand_over(world: World, scope: Scope, ending: Ending) -> None:
    """What comes after a flow that is over: its caller, the flow it interrupted, or nothing."""
    frames = scope.cursor.frames
    place = frames.index(scope.frame)
    if place == 0:
        if ending.error is None:
            _say_last_words(world, scope)
        return
    below = frames[place - 1]
    if scope.frame.boundary:
        if ending.error is not None:  # nobody hears this turn: the next one asks again
            take_queue(scope)
            below.waiting = None
        _resume_interrupted(world, scope, below, place - 1)
    elif below.scope == scope.frame.scope and scope.kept("lastVariable"):
        below.data["lastVariable"] = scope.kept("lastVariable")


def _say_last_words(world: World, scope: Scope) -> None:
    pieces = take_queue(scope)
    tentative = drop_tentative(scope)
    if not pieces and scope.peek(REPLY) is UNDEFINED:
        done = say_phrase(world, scope, "flow_completed_generic", language_of(world, scope))
        pieces = here(scope, tentative or done)
    if pieces:
        deliver(scope, pieces)


def _resume_interrupted(world: World, scope: Scope, below: Frame, place: int) -> None:
    drop_tentative(scope)
    below.data["justResumed"] = True
    language = language_of(world, scope)
    prompt = prompt_of(scope.charts, below_root(scope, place), language)
    text = say_phrase(
        world, scope, "flow_resumed_with_guidance", language, flowName=prompt, flowPrompt=prompt
    )
    queue_text(world, scope, text)


def below_root(scope: Scope, place: int) -> str:
    """The chart at the bottom of the stack that the frame at `place` belongs to."""
    frames = scope.cursor.frames
    while place > 0 and not frames[place].boundary:
        place -= 1
    return frames[place].chart


__all__ = [
    "QUEUE",
    "below_root",
    "close_flow",
    "declare_outcome",
    "frame_data",
    "set_variables",
    "transaction_id",
]
