"""What a host may want logged about the answers of its tools. spec: flow-engine 6.2"""

from __future__ import annotations

from saywhy.runtime.log import Log
from saywhy.tools.call import ToolAnswer
from saywhy.tools.diagnostics import Returns, failure_warning
from saywhy.tools.tool import Tool


class Diagnostics:
    """Logs warnings about tool answers; both kinds are off unless asked for."""

    def __init__(self, log: Log, *, returns: bool, failures: bool) -> None:
        self._log = log
        self.returns = returns
        """Whether answers are checked against `returns`."""
        self.failures = failures
        """Whether an answer that reports a failure is logged."""
        self._checks = Returns()

    def look_at(self, tool: Tool | None, answer: ToolAnswer) -> None:
        """Warn about an answer, as far as asked for."""
        if tool is None or answer.fault_message is not None:
            return
        warnings = [
            self._checks.warning(tool, answer.value) if self.returns else None,
            failure_warning(tool, answer.value) if self.failures else None,
        ]
        for warning in warnings:
            if warning:
                self._log.warn(warning)
