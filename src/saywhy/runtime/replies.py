"""The reply of a turn: what it gave, and what of it, or of its error, stands with the turn.

The text itself stands in the message it became; how a reply is found again is `conversations`'.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from saywhy.chart.failure import failure_name, failure_text
from saywhy.errors import CallerError, FlowExecutionError, SaywhyError
from saywhy.runtime.session import Session
from saywhy.trace.masking.redact import Redactor
from saywhy.values import dumps, loads_raw


class TurnReply(msgspec.Struct, frozen=True, rename="camel"):
    """What a turn gave. `response` is text, `''` (handed back) or None (no flow handled it).

    `repeated`: the message had been processed before, and this is what it gave then.
    """

    session_id: str
    turn_no: int
    response: str | None
    last_turn_tool_calls: list[dict[str, Any]] = []
    last_flow_outcome: dict[str, Any] | None = None
    last_turn_dispatch: dict[str, Any] | None = None
    repeated: bool = False


def reply_of(session: Session, turn_no: int) -> TurnReply:
    """What the turn that just ended gave."""
    return TurnReply(
        session.session_id,
        turn_no,
        session.response,
        session.last_turn_tool_calls,
        session.last_flow_outcome,
        session.last_turn_dispatch,
    )


def kept_of(reply: TurnReply, message: int, redactor: Redactor) -> dict[str, Any]:
    """A reply as its turn keeps it: the text stands in the message it points at."""
    kept: Mapping[str, Any] = {
        "response": message or reply.response,
        "calls": reply.last_turn_tool_calls,
        "outcome": redactor.value(reply.last_flow_outcome),
        "dispatch": reply.last_turn_dispatch,
    }
    return {name: value for name, value in kept.items() if value is not None and value != []}


def error_json(error: BaseException) -> str:
    """An error as its turn keeps it, for whoever sends the message again."""
    return dumps({"name": failure_name(error), "message": failure_text(error)}).decode()


def error_of(why: str) -> SaywhyError:
    try:
        stored = loads_raw(why)
        name, message = stored["name"], stored["message"]
    except (ValueError, KeyError, TypeError):
        return CallerError(why or "the turn ended without a reply")
    error = FlowExecutionError(message)
    error.name = name
    return error
