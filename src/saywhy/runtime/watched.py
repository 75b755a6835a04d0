"""What a host may turn on and off of what an engine tells of itself while it runs."""

from __future__ import annotations

from typing import Any

from saywhy.runtime.diagnostics import Diagnostics
from saywhy.runtime.log import Log


class Watched:
    """The part of an engine that says where its log goes, and how much of it there is."""

    diagnostics: Diagnostics
    _log: Log

    @property
    def logger(self) -> Any:
        """What the engine logs to. Can be set at any time."""
        return self._log.logger

    @logger.setter
    def logger(self, logger: Any) -> None:
        self._log.replace(logger)

    @property
    def validate_tool_returns(self) -> bool:
        """Whether answers of tools are compared with their `returns`. Can be set at any time."""
        return self.diagnostics.returns

    @validate_tool_returns.setter
    def validate_tool_returns(self, wanted: bool) -> None:
        self.diagnostics.returns = wanted

    @property
    def log_tool_failures(self) -> bool:
        """Whether answers that report a failure are logged. Can be set at any time."""
        return self.diagnostics.failures

    @log_tool_failures.setter
    def log_tool_failures(self, wanted: bool) -> None:
        self.diagnostics.failures = wanted
