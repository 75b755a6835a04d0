"""Calls that a person has to approve: the run rests, and goes on with their word.

An approval holds for one call with the arguments that were shown, once, and not for longer than
its tool says. Where an engine holds the agent, approvals go the way of its flows instead.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from saywhy.agent.loop.state import glance, look, write
from saywhy.agent.tool_reply import ToolReply, content_of, failed
from saywhy.agent.tools import AgentTool
from saywhy.chart.outcome import Answer, Need
from saywhy.chart.view import sight_of
from saywhy.tools.approval import DAY_MS, digest_of
from saywhy.values import FrozenDict

APPROVAL: Final = "approval"
TO_APPROVE: Final = "toApprove"
"""The fact of an answer that holds the arguments which have to be approved."""
OPEN: Final = "openApproval"
GIVEN: Final = "approval"
"""Variables of a loop: what is waited for, and what was said for the call that comes next."""

NOT_APPROVED: Final = "not approved"
TOO_LATE: Final = "not approved in time"


def ask_approval(s: Any, call: Mapping[str, Any], tool: AgentTool, arguments: Any) -> Need:
    """What the run rests at until somebody has decided about a call."""
    approval = tool.tool.approval
    until = sight_of(s).scope.now + (approval.expires_ms if approval else DAY_MS)
    write(s, OPEN, FrozenDict({"arguments": arguments, "until": until}))
    asked = {
        "question": f"May {tool.id} be called with {content_of(arguments)}?",
        "toolCallId": call["id"],
        "tool": tool.id,
        "arguments": arguments,
    }
    if approval and approval.by:
        asked["by"] = approval.by
    return Need(APPROVAL, tool.id, FrozenDict(asked), "reads")


def decided(s: Any, call: Mapping[str, Any], tool: AgentTool, answer: Answer) -> Need | ToolReply:
    """Make the call if it was approved; else what the model is told."""
    held = look(s, OPEN)
    is_approved, note = _word(answer)
    if is_approved and sight_of(s).scope.now >= held["until"]:
        return failed(TOO_LATE)
    if not is_approved:
        return failed(f"{NOT_APPROVED}: {note}" if note else NOT_APPROVED)
    salt = f"{glance(s, 'runId') or ''}/{call['id']}"
    digest = digest_of(tool.id, held["arguments"], salt)
    write(s, GIVEN, FrozenDict({"callId": call["id"], "digest": digest, "salt": salt}))
    return Need("tool", tool.id, held["arguments"], tool.tool.effect)


def use_up(s: Any) -> None:
    """What was said for a call is over once the call is: a second one needs a word of its own."""
    if glance(s, GIVEN) is not None:
        write(s, GIVEN, None)


def _word(answer: Answer) -> tuple[bool, str]:
    """Whether somebody approves, and what they say about it. Only a plain yes is one."""
    if answer.error is not None:
        return False, answer.error
    given = answer.value
    if isinstance(given, FrozenDict):
        note = given.get("note") or given.get("reason")  # as a denial in an engine calls it
        return given.get("approved") is True, str(note or "")
    return given is True, given if isinstance(given, str) else ""
