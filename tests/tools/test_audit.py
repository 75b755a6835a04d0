"""Promise: an audited call leaves a record of who called what when, and what came of it."""

from __future__ import annotations

from typing import Any

import pytest

from saywhy.tools.answer import Attempt, ToolAnswer
from saywhy.tools.audit import audit_record
from saywhy.tools.invocation import CallContext
from saywhy.tools.tool import Tool, tool_from_definition


def tool(**keys: Any) -> Tool:
    return tool_from_definition(
        {"id": "pay", "implementation": {"type": "local", "function": "pay"}, **keys}
    )


CONTEXT = CallContext(session_id="c-1", user_id="ann", key="c-1:2:9", authenticated=True)


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        (ToolAnswer(value=1), "done"),
        (ToolAnswer(value=1, cached=True), "cached"),
        (ToolAnswer(fault_message="down"), "failed"),
        (ToolAnswer(fault_message="no answer", may_have_happened=True), "unknown"),
        (ToolAnswer(fault_message="no mapping", may_have_happened=True, ran=True), "failed"),
        (ToolAnswer(fault_message="not now", refused=True), "refused"),
        (ToolAnswer(fault_message="ask", refused=True, to_approve={"a": 1}), "to approve"),
    ],
)
def test_a_basic_record(answer: ToolAnswer, outcome: str) -> None:
    """Who called what when, and what came of it; no arguments and no sentences."""
    made = tool(security={"auditLevel": "basic"})
    assert audit_record(made, CONTEXT, {"amount": 80}, answer, 1700.5) == {
        "level": "basic",
        "tool": "pay",
        "user": "ann",
        "session": "c-1",
        "at": 1700,
        "outcome": outcome,
    }


def test_a_full_record() -> None:
    """With the arguments, the key, the attempts, the sign-in, the risk and the error."""
    attempts = (Attempt("pay", "local", None, 1), Attempt("pay", "local", None, 2))
    answer = ToolAnswer(fault_message="down", attempts=attempts)
    assert audit_record(tool(riskLevel="high"), CONTEXT, {"amount": 80}, answer, 1700) == {
        "level": "full",
        "tool": "pay",
        "user": "ann",
        "session": "c-1",
        "at": 1700,
        "outcome": "failed",
        "risk": "high",
        "call": "c-1:2:9",
        "authenticated": True,
        "arguments": {"amount": 80},
        "attempts": 2,
        "error": "down",
    }


def test_no_record_where_none_is_asked_for() -> None:
    """Most tools only read; their calls stand in the trace like any step."""
    assert audit_record(tool(), CONTEXT, {}, ToolAnswer(value=1), 0) is None
