"""What an engine tells of itself while it runs: whom, and how much of it."""

from __future__ import annotations

from typing import Any, Final

from saywhy.runtime.diagnostics import Diagnostics
from saywhy.runtime.log import Log
from saywhy.runtime.machinery import Machinery

TOLD_SECONDS: Final = 5.0
"""How long it is waited for recorders, when somebody waits for them."""


class Watched:
    """The part of an engine that says where its log goes, and who listens to its turns."""

    diagnostics: Diagnostics
    _log: Log
    _machinery: Machinery

    def watch(self, recorder: Any) -> None:
        """Have `recorder` told of every turn from now on, while it goes on.

        A recorder of agents hears of the agents of this engine as if each ran alone;
        `OpenTelemetry` sends spans of flows as well. Raises `CallerError` for anything else.
        It is told on a thread of its own: a turn never waits for it, and may be over before.
        """
        self._machinery.watchers.add(recorder)

    async def told(self, timeout_seconds: float = TOLD_SECONDS) -> bool:
        """Wait until recorders have heard of all turns so far; False when the time is over first.

        `close` does so as well.
        """
        return await self._machinery.watchers.told(timeout_seconds)

    @property
    def untold(self) -> int:
        """How many steps recorders never heard of, because they are slower than the turns."""
        return self._machinery.watchers.untold

    async def _close_parts(self) -> None:
        await self.told()
        await self._machinery.http.close()

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
