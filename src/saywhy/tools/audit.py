"""What is noted about a call of a tool that is audited.

It travels with the answer into the record; masking it is `trace.masking`'s, and which tools are
audited `security`'s.
"""

from __future__ import annotations

from typing import Any

from saywhy.tools.answer import ToolAnswer
from saywhy.tools.invocation import CallContext
from saywhy.tools.tool import Tool


def audit_record(
    tool: Tool, context: CallContext, arguments: Any, answer: ToolAnswer, now_ms: float
) -> dict[str, Any] | None:
    """Who called what when, and what came of it; None for a tool that is not audited.

    A full record has the arguments and the error as well. A call that was refused is on record too:
    it is what an audit looks for first.
    """
    security = tool.security
    if security.audit == "none":
        return None
    record: dict[str, Any] = {
        "level": security.audit,
        "tool": tool.id,
        "user": context.user_id,
        "session": context.session_id,
        "at": int(now_ms),
        "outcome": _outcome(answer),
    }
    if security.risk:
        record["risk"] = security.risk
    if security.audit == "full":
        record |= {"call": context.key, "authenticated": context.authenticated}
        record |= {"arguments": arguments, "attempts": len(answer.attempts)}
        if answer.fault_message is not None:
            record["error"] = answer.fault_message
    return record


def _outcome(answer: ToolAnswer) -> str:
    if answer.to_approve is not None:
        return "to approve"
    if answer.refused:
        return "refused"
    if answer.fault_message is None:
        return "cached" if answer.cached else "done"
    return "unknown" if answer.may_have_happened and not answer.ran else "failed"
