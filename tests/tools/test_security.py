"""Promise: what a definition says of safety has the stated effects, in our words and older ones."""

from __future__ import annotations

from typing import Any

import pytest

from saywhy.tools.call import Attempt, CallContext, ToolAnswer
from saywhy.tools.security import OPEN, audit_record, passed_one_time_code, security_of
from saywhy.tools.tool import Tool, tool_from_definition


def tool(**keys: Any) -> Tool:
    return tool_from_definition(
        {"id": "pay", "implementation": {"type": "local", "function": "pay"}, **keys}
    )


CONTEXT = CallContext(session_id="c-1", user_id="ann", key="c-1:2:9", authenticated=True)


@pytest.mark.parametrize(
    ("word", "level"),
    [
        ("none", "none"),
        ("basic", "basic"),
        ("full", "full"),
        ("low", "basic"),
        ("medium", "basic"),
        ("high", "full"),
        ("critical", "full"),
        ("everything", "full"),
    ],
)
def test_levels_of_audit(word: str, level: str) -> None:
    """Older words count as ours; one that nobody knows counts as the strictest."""
    assert security_of({"security": {"auditLevel": word}}).audit == level


@pytest.mark.parametrize(
    ("word", "known", "masked"),
    [
        ("public", "public", False),
        ("internal", "internal", False),
        ("customer_service", "internal", False),
        ("confidential", "confidential", True),
        ("financial", "confidential", True),
        ("personal", "confidential", True),
        ("restricted", "restricted", True),
        ("authentication", "restricted", True),
        ("top secret", "restricted", True),
    ],
)
def test_classes_of_data(word: str, known: str, masked: bool) -> None:
    """From confidential on, records do not show what the tool is given and gives."""
    security = security_of({"security": {"dataClassification": word}})
    assert (security.data_class, security.is_masked) == (known, masked)


@pytest.mark.parametrize(
    ("risk", "level"),
    [("low", "none"), ("medium", "basic"), ("high", "full"), ("critical", "full"), ("?", "full")],
)
def test_risk_sets_the_audit_unless_the_tool_says_how(risk: str, level: str) -> None:
    """A tool of high risk is audited in full, whoever forgot to ask for it."""
    assert security_of({"riskLevel": risk}).audit == level
    assert security_of({"riskLevel": risk, "security": {"auditLevel": "none"}}).audit == "none"


def test_a_tool_that_says_nothing() -> None:
    """Open to everybody, not audited, and shown in records."""
    assert security_of({}) is OPEN
    assert security_of({"security": {"rateLimit": {"requests": 1, "window": 1}}}) == OPEN
    assert not OPEN.requires_auth


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


def test_a_one_time_code() -> None:
    """Only `true` says that the user has entered the code, no other value does."""
    assert passed_one_time_code({"otpVerified": True})
    assert not passed_one_time_code({"otpVerified": "true"})
    assert not passed_one_time_code({"otpVerified": 1})
    assert not passed_one_time_code({})
