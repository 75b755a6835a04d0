"""Which tools were kept from the model, and which calls were let through or refused."""

from __future__ import annotations

from typing import ClassVar, Final

from saywhy.agent.hooks import ToolCalled, ToolsBlocked
from saywhy.agent.recorders.costs import OTHERS
from saywhy.agent.recorders.figures import Figures
from saywhy.agent.recorders.recorder import AgentRecorder
from saywhy.agent.recorders.tool_usage import LONGEST_NAME, MOST_TOOLS
from saywhy.agent.slots.offers import DENIED

PERMISSION_RECORDER: Final = "permission-recorder"


class PermissionSummary(Figures, frozen=True, kw_only=True):
    """How often, by tool."""

    blocked: dict[str, int]
    """Not offered."""
    denied: dict[str, int]
    """Called all the same, and refused."""
    allowed: dict[str, int]
    """Called."""


class PermissionRecorder(AgentRecorder):
    """Counts what `gated_tools` lets through and what it does not."""

    NAME: ClassVar[str] = "Permissions"

    def __init__(self, id: str = PERMISSION_RECORDER) -> None:
        super().__init__(id)
        self._blocked: dict[str, int] = {}
        self._denied: dict[str, int] = {}
        self._allowed: dict[str, int] = {}

    def on_tools_blocked(self, event: ToolsBlocked) -> None:
        """Tools were kept from the model."""
        for name in event.names:
            _count(self._blocked, name)

    def on_tool_call(self, event: ToolCalled) -> None:
        """A call came to something."""
        denied = event.error and event.result.startswith(DENIED.format(event.tool_name))
        _count(self._denied if denied else self._allowed, event.tool_name)

    def get_summary(self) -> PermissionSummary:
        """All of it."""
        return PermissionSummary(
            blocked=dict(self._blocked), denied=dict(self._denied), allowed=dict(self._allowed)
        )

    def clear(self) -> None:
        """Forget everything."""
        for counts in (self._blocked, self._denied, self._allowed):
            counts.clear()


def _count(counts: dict[str, int], name: str) -> None:
    name = name[:LONGEST_NAME]
    if name not in counts and len(counts) >= MOST_TOOLS:
        name = OTHERS
    counts[name] = counts.get(name, 0) + 1
