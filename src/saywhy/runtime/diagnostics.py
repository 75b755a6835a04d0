"""What a host may want to be told about the answers of its tools. spec: flow-engine 6.2"""

from __future__ import annotations

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

    def warnings(self, tool: Tool | None, answer: ToolAnswer) -> list[str]:
        """What to log about an answer, as far as asked for."""
        if tool is None or answer.fault_message is not None:
            return []
        found = [
            self._checks.warning(tool, answer.value) if self.returns else None,
            failure_warning(tool, answer.value) if self.failures else None,
        ]
        return [warning for warning in found if warning]
