"""How often which tool was called, how often that failed, and how long it took."""

from __future__ import annotations

from typing import ClassVar, Final

import msgspec

from saywhy.agent.hooks import ToolCalled
from saywhy.agent.recorders.costs import OTHERS
from saywhy.agent.recorders.figures import Figures
from saywhy.agent.recorders.recorder import AgentRecorder

TOOL_USAGE_RECORDER: Final = "tool-usage-recorder"

MOST_TOOLS: Final = 1_000
"""So many names are told apart: a model can make them up without end."""

LONGEST_NAME: Final = 100


class ToolUsage(msgspec.Struct):
    """The calls of one tool."""

    calls: int = 0
    errors: int = 0
    total_latency_ms: float = 0.0
    longest_ms: float = 0.0

    @property
    def average_latency_ms(self) -> int:
        """How long a call took, rounded; 0 where there was none."""
        return round(self.total_latency_ms / self.calls) if self.calls else 0


class ToolUsageSummary(Figures, frozen=True, kw_only=True):
    """The calls of all tools. Those that were refused, or that nobody knows, are errors."""

    total_calls: int
    total_errors: int
    by_tool: dict[str, ToolUsage]


class ToolUsageRecorder(AgentRecorder):
    """Counts the calls of tools."""

    NAME: ClassVar[str] = "Tools"

    def __init__(self, id: str = TOOL_USAGE_RECORDER) -> None:
        super().__init__(id)
        self._tools: dict[str, ToolUsage] = {}

    def on_tool_call(self, event: ToolCalled) -> None:
        """A call came to something."""
        name = event.tool_name[:LONGEST_NAME]
        if name not in self._tools and len(self._tools) >= MOST_TOOLS:
            name = OTHERS
        usage = self._tools.setdefault(name, ToolUsage())
        usage.calls += 1
        usage.errors += event.error
        usage.total_latency_ms += event.latency_ms
        usage.longest_ms = max(usage.longest_ms, event.latency_ms)

    def get_summary(self) -> ToolUsageSummary:
        """All of it."""
        tools = {name: msgspec.structs.replace(usage) for name, usage in self._tools.items()}
        return ToolUsageSummary(
            total_calls=sum(one.calls for one in tools.values()),
            total_errors=sum(one.errors for one in tools.values()),
            by_tool=tools,
        )

    def clear(self) -> None:
        """Forget everything."""
        self._tools.clear()
