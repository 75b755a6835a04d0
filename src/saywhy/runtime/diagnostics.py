"""What a host may want to be told about the answers of its tools. spec: flow-engine 6.2"""

from __future__ import annotations

from saywhy.flows.privacy import sensitive_spots
from saywhy.tools.answer import ToolAnswer
from saywhy.tools.diagnostics import Returns, failure_warning
from saywhy.tools.tool import Tool


class Diagnostics:
    """Finds what to warn about in tool answers; both kinds are off unless asked for."""

    def __init__(self, *, returns: bool, failures: bool) -> None:
        self.returns = returns
        """Whether answers are checked against `returns`."""
        self.failures = failures
        """Whether an answer that reports a failure is logged."""
        self._checks = Returns()

    def warnings(self, tool: Tool | None, answer: ToolAnswer, hidden: bool = False) -> list[str]:
        """What to log about an answer, as far as asked for; `hidden`: nothing of what it says."""
        if tool is None or answer.fault_message is not None:
            return []
        found = [
            self._checks.warning(tool, answer.value) if self.returns else None,
            self._failure(tool, answer, hidden) if self.failures else None,
        ]
        return [warning for warning in found if warning]

    def _failure(self, tool: Tool, answer: ToolAnswer, hidden: bool) -> str | None:
        """What a tool says of its failure may be made of anything it was given or has found."""
        warning = failure_warning(tool, answer.value, hidden=hidden)
        if warning is None or hidden or not _declares(tool):
            return warning
        return failure_warning(tool, answer.value, hidden=True)


def _declares(tool: Tool) -> bool:
    """Whether something of what it is given or gives is sensitive."""
    schemas = (tool.shown_schema, tool.returns)
    return any(True for schema in schemas for _ in sensitive_spots(schema))
