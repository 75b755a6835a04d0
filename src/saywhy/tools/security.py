"""Who may call a tool, how sensitive it is, and whether its calls are noted.

The words stand in a definition under `security`, and as `riskLevel`. Older files use words of their
own (`critical`, `financial`): each counts as one of ours, and one that nobody knows as the
strictest. What is noted of a call is `audit`'s.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

AuditLevel: TypeAlias = Literal["none", "basic", "full"]
DataClass: TypeAlias = Literal["public", "internal", "confidential", "restricted"]

AUDIT_WORDS: Final[Mapping[str, AuditLevel]] = {
    "none": "none",
    "basic": "basic",
    "full": "full",
    "low": "basic",
    "medium": "basic",
    "high": "full",
    "critical": "full",
}
CLASS_WORDS: Final[Mapping[str, DataClass]] = {
    "public": "public",
    "internal": "internal",
    "confidential": "confidential",
    "restricted": "restricted",
    "customer_service": "internal",
    "financial": "confidential",
    "personal": "confidential",
    "authentication": "restricted",
}
RISKS: Final = ("low", "medium", "high", "critical")
MASKED: Final = frozenset({"confidential", "restricted"})
"""Classes whose arguments and answers are masked in whatever is recorded and logged."""


@dataclass(frozen=True, slots=True)
class Security:
    """What a definition says of safety, in our words."""

    requires_auth: bool = False
    audit: AuditLevel = "none"
    data_class: DataClass = "public"
    risk: str = ""

    @property
    def is_masked(self) -> bool:
        """Whether no record and no log may show what the tool is given and gives."""
        return self.data_class in MASKED


OPEN: Final = Security()


def security_of(definition: Mapping[str, Any]) -> Security:
    """What a checked definition says under `security` and `riskLevel`.

    A tool of high risk is audited in full unless it says how, one of medium risk basically.
    """
    given = definition.get("security")
    given = given if isinstance(given, Mapping) else {}
    risk = str(definition.get("riskLevel") or "")
    audit, data_class = given.get("auditLevel"), given.get("dataClassification")
    if not given and not risk:
        return OPEN
    return Security(
        # A word such as "yes" is reported by `check`, and refuses until it is put right.
        bool(given.get("requiresAuth")),
        AUDIT_WORDS.get(str(audit), "full") if audit is not None else _audit_for(risk),
        CLASS_WORDS.get(str(data_class), "restricted") if data_class is not None else "public",
        risk,
    )


def _audit_for(risk: str) -> AuditLevel:
    if not risk or risk == "low":
        return "none"
    return "basic" if risk == "medium" else "full"


def passed_one_time_code(cargo: Mapping[str, Any]) -> bool:
    """Whether the user has entered the code that was sent to them: `otpVerified` is true."""
    return cargo.get("otpVerified") is True
