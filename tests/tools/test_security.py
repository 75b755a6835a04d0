"""Promise: what a definition says of safety has the stated effects, in our words and older ones."""

from __future__ import annotations

import pytest

from saywhy.tools.security import OPEN, passed_one_time_code, security_of


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


def test_a_one_time_code() -> None:
    """Only `true` says that the user has entered the code, no other value does."""
    assert passed_one_time_code({"otpVerified": True})
    assert not passed_one_time_code({"otpVerified": "true"})
    assert not passed_one_time_code({"otpVerified": 1})
    assert not passed_one_time_code({})
