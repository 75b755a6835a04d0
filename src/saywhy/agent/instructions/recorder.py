"""How often which instruction fired, and which actions were offered, by tool."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import msgspec

from saywhy.agent.hooks import InstructionsFired
from saywhy.agent.instructions.rule import ResolvedInstruction


class InstructionFiring(msgspec.Struct):
    """How often one instruction fired."""

    fired: int = 0
    safety: bool = False


class FollowUpOffering(msgspec.Struct):
    """How often a call of one tool was offered."""

    offered: int = 0
    tool_id: str = ""


class ToolInstructionStats(msgspec.Struct):
    """What happened after results of one tool."""

    instructions: dict[str, InstructionFiring] = {}
    follow_ups: dict[str, FollowUpOffering] = {}
    """By the tool that was offered."""


class InstructionSummary(msgspec.Struct):
    """What happened after all results."""

    total_fired: int = 0
    total_follow_ups_offered: int = 0
    by_tool: dict[str, ToolInstructionStats] = {}

    def to_value(self) -> dict[str, Any]:
        """The summary as JSON."""
        return msgspec.to_builtins(self)


RECORDER_ID: Final = "instruction-recorder"


class InstructionRecorder:
    """Counts; a recorder like any other, told by `on_instructions_fired`."""

    def __init__(self, id: str = RECORDER_ID) -> None:
        self.id = id
        self._tools: dict[str, ToolInstructionStats] = {}

    def on_instructions_fired(self, event: InstructionsFired) -> None:
        """After each result of a tool."""
        self.record_firings(event.tool_id, event.fired)

    def record_firings(self, tool_id: str, fired: Iterable[ResolvedInstruction]) -> None:
        """Count what fired for one result."""
        for one in fired:
            stats = self._tools.setdefault(tool_id, ToolInstructionStats())
            firing = stats.instructions.setdefault(one.id, InstructionFiring())
            firing.fired += 1
            firing.safety = firing.safety or one.safety
            if one.resolved_follow_up is not None:
                target = one.resolved_follow_up.tool_id
                offering = stats.follow_ups.setdefault(target, FollowUpOffering(0, target))
                offering.offered += 1

    def get_summary(self) -> InstructionSummary:
        """All counts, as they are now."""
        tools = msgspec.convert(msgspec.to_builtins(self._tools), dict[str, ToolInstructionStats])
        firings = [one for stats in tools.values() for one in stats.instructions.values()]
        offerings = [one for stats in tools.values() for one in stats.follow_ups.values()]
        return InstructionSummary(
            sum(one.fired for one in firings), sum(one.offered for one in offerings), tools
        )

    def get_firing_count(self, tool_id: str, instruction_id: str) -> int:
        """How often an instruction fired for a tool."""
        stats = self._tools.get(tool_id, ToolInstructionStats())
        return stats.instructions.get(instruction_id, InstructionFiring()).fired

    def get_fired_instruction_ids(self, tool_id: str) -> list[str]:
        """What fired for a tool, in the order of the first times."""
        return list(self._tools.get(tool_id, ToolInstructionStats()).instructions)

    def to_snapshot(self) -> dict[str, Any]:
        """The counts under the name by which a report shows them."""
        return {"name": "Instructions", "data": self.get_summary().to_value()}

    def clear(self) -> None:
        """Forget everything."""
        self._tools.clear()
