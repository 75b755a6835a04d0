"""Which answers break rules of the host's. They are noted, not stopped."""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, ClassVar, Final, Literal, TypeAlias, cast, get_args

import msgspec

from saywhy.agent.hooks import LLMCalled, ToolCalled, TurnCompleted
from saywhy.agent.recorders.figures import Figures
from saywhy.agent.recorders.later import Later
from saywhy.agent.recorders.recorder import MOST, AgentRecorder
from saywhy.errors import CallerError
from saywhy.values import raw

GUARDRAIL_RECORDER: Final = "guardrail-recorder"

Severity: TypeAlias = Literal["info", "warning", "error"]

Check: TypeAlias = Callable[[Any], Any]
"""Gives a `Violation` or a mapping like one, or None; `async` or not."""


class Violation(msgspec.Struct, frozen=True):
    """A broken rule."""

    rule: str
    message: str
    severity: Severity = "warning"
    turn_number: int = 0
    run_id: str = ""


class GuardrailSummary(Figures, frozen=True, kw_only=True):
    """All broken rules."""

    total: int
    by_rule: dict[str, int]
    by_severity: dict[str, int]
    violations: tuple[Violation, ...] = ()
    """The newest of them."""


MOST_RULES: Final = 1_000


class GuardrailRecorder(AgentRecorder):
    """Has a check look at each answer of a model, each turn (`each="turn"`), or each call of a tool
    (`each="tool"`), and notes what it finds.

    An async check does not hold up the run; `await recorder.settled()` waits for it.
    """

    NAME: ClassVar[str] = "Guardrails"

    def __init__(
        self,
        check: Check,
        id: str = GUARDRAIL_RECORDER,
        *,
        each: Literal["call", "turn", "tool"] = "call",
        most: int = MOST,
    ) -> None:
        super().__init__(id)
        self.check = check
        self.each = each
        self._later = Later(f"the check of {id}")
        self._violations: deque[Violation] = deque(maxlen=most)
        self._rules: dict[str, int] = {}
        self._severities: dict[str, int] = {}
        self.clear()

    def on_llm_call(self, event: LLMCalled) -> Awaitable[None] | None:
        """The model has answered."""
        return self._ask(event) if self.each == "call" else None

    def on_turn_complete(self, event: TurnCompleted) -> Awaitable[None] | None:
        """A turn came to its answer."""
        return self._ask(event) if self.each == "turn" else None

    def on_tool_call(self, event: ToolCalled) -> Awaitable[None] | None:
        """A call came to something."""
        return self._ask(event) if self.each == "tool" else None

    async def settled(self) -> None:
        """Come back once the check is done with everything."""
        await self._later.settled()

    def get_violations(self, severity: Severity | None = None) -> list[Violation]:
        """Those that are kept, oldest first; all, or those of one severity."""
        return [one for one in self._violations if severity in (None, one.severity)]

    def get_summary(self) -> GuardrailSummary:
        """All of it."""
        return GuardrailSummary(
            total=self._count,
            by_rule=dict(self._rules),
            by_severity=dict(self._severities),
            violations=tuple(self._violations),
        )

    def clear(self) -> None:
        """Forget everything. What a check has still to say comes after that."""
        self._violations.clear()
        self._rules.clear()
        self._severities.clear()
        self._count = 0

    def _ask(self, event: Any) -> Awaitable[None] | None:
        def take(given: Any) -> None:
            self._take(given, event)

        return self._later.ask(lambda: self.check(event), take)

    def _take(self, given: Any, event: Any) -> None:
        told: Any = raw(given)
        if told is None:
            return
        found = told if isinstance(told, Violation) else self._violation(told)
        turn = found.turn_number or event.turn_number
        found = msgspec.structs.replace(found, turn_number=turn, run_id=event.run_id)
        self._violations.append(found)
        self._count += 1
        if found.rule in self._rules or len(self._rules) < MOST_RULES:
            self._rules[found.rule] = self._rules.get(found.rule, 0) + 1
        self._severities[found.severity] = self._severities.get(found.severity, 0) + 1

    def _violation(self, told: Any) -> Violation:
        fields: Mapping[str, Any] = told if isinstance(told, Mapping) else {}
        severity = fields.get("severity", "warning")
        if "rule" not in fields or severity not in get_args(Severity):
            raise CallerError(
                f"the check of {self.id} gave {told!r} instead of a violation",
                hint='return None, or {"rule": "no-prices", "message": "…", "severity": "error"}',
            )
        return Violation(
            str(fields["rule"]),
            str(fields.get("message", "")),
            cast("Severity", severity),
            int(fields.get("turn_number", 0)),
        )
