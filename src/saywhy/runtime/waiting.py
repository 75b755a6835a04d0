"""What a turn leaves behind for people: calls they must decide about, words they have to be sent.

A store lists these; what stands in the session itself is `flows.outside`'s.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from saywhy.flows.due import DUE, due_of
from saywhy.flows.outside import OPEN, open_records, view_of
from saywhy.runtime.session import Session
from saywhy.stores.timers import Timer
from saywhy.stores.waiting import Waiting
from saywhy.trace.masking.redact import Redactor
from saywhy.values import UNDEFINED, dumps, raw

if TYPE_CHECKING:
    from saywhy.runtime.turn import TurnRun


def waiting_of(run: TurnRun) -> list[Waiting] | None:
    """All that the conversation waits for people to decide, masked; None where nothing changed."""
    records = open_records(run.session.state.get(*OPEN))
    if not records and not run.waited:
        return None
    return [
        Waiting(name, record["kind"], dumps(_masked(run.recorder.redactor, record)))
        for name, record in records.items()
    ]


def _masked(redactor: Redactor, record: Mapping[str, Any]) -> Any:
    """What is open as it may be kept: sensitive arguments have a mark in their place."""
    view = view_of(record)
    if redactor.taint is not None:
        view["args"] = raw(redactor.taint.hidden_arguments(record["frame"], view["args"]))
    return redactor.value(view)


def timers_of(run: TurnRun) -> list[Timer] | None:
    """What falls due in the conversation from now on; None where nothing changed."""
    now = run.session.state.get(*DUE)
    if now is run.due:
        return None
    due = due_of(now)
    return [Timer(due["at"], dumps({"id": due["id"]}))] if due else []


def outbox_of(run: TurnRun, response: str | None) -> list[bytes]:
    """What has to be sent: words in a turn that no message of the user's began."""
    session = run.session
    if not response or session.state.get("turn", "message") is not UNDEFINED:
        return []
    payload = {
        "sessionId": session.session_id,
        "turnNo": session.state.turn,
        "message": session.reply_message,
        "text": response,
    }
    return [dumps(payload)]


def is_unknown(session: Session) -> bool:
    """Whether the turn ends with a call of which nobody knows whether it acted."""
    return any(
        record["kind"] == "settle" and record["turn"] == session.state.turn
        for record in open_records(session.state.get(*OPEN)).values()
    )
