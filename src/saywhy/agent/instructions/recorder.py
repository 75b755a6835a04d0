"""How often which instruction fired or not, why not, and which actions were offered, by tool."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar, Final

import msgspec

from saywhy.agent.hooks import InstructionsFired
from saywhy.agent.instructions.judge import Verdict
from saywhy.agent.instructions.rule import ResolvedInstruction
from saywhy.agent.recorders.recorder import AgentRecorder


class InstructionFiring(msgspec.Struct):
    """How often one instruction fired."""

    fired: int = 0
    safety: bool = False


class FollowUpOffering(msgspec.Struct):
    """How often a call of one tool was offered."""

    offered: int = 0
    tool_id: str = ""


class InstructionSkips(msgspec.Struct):
    """How often one instruction had no effect, or a part of it had none, and why last."""

    false: int = 0
    """Its condition did not hold."""
    raised: int = 0
    """Its condition raised; a rule of safety fires all the same."""
    dropped: int = 0
    """It fired, and a part of it was left out."""
    last_error: str = ""


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

MOST_NAMES: Final = 1_000
"""So many tools, and instructions of each, are told apart: handlers can make ids without end."""


class InstructionRecorder(AgentRecorder):
    """Counts; a recorder like any other, told by `on_instructions_fired`."""

    NAME: ClassVar[str] = "Instructions"

    def __init__(self, id: str = RECORDER_ID) -> None:
        super().__init__(id)
        self._tools: dict[str, ToolInstructionStats] = {}
        self._skips: dict[str, dict[str, InstructionSkips]] = {}

    def on_instructions_fired(self, event: InstructionsFired) -> None:
        """After each result of a tool."""
        self.record_firings(event.tool_id, event.fired)
        for verdict in event.log:
            self._note(event.tool_id, verdict)

    def record_firings(self, tool_id: str, fired: Iterable[ResolvedInstruction]) -> None:
        """Count what fired for one result."""
        for one in fired:
            if tool_id not in self._tools and len(self._tools) >= MOST_NAMES:
                return
            stats = self._tools.setdefault(tool_id, ToolInstructionStats())
            if one.id not in stats.instructions and len(stats.instructions) >= MOST_NAMES:
                continue
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

    def get_skipped(self, tool_id: str) -> dict[str, InstructionSkips]:
        """What did not fire for a tool, or only in part, by instruction."""
        found = self._skips.get(tool_id, {})
        return {rule: msgspec.structs.replace(skips) for rule, skips in found.items()}

    def clear(self) -> None:
        """Forget everything."""
        self._tools.clear()
        self._skips.clear()

    def _note(self, tool_id: str, verdict: Verdict) -> None:
        if verdict.outcome == "fired" or len(self._skips) >= MOST_NAMES:
            return
        skips = self._skips.setdefault(tool_id, {})
        if verdict.id not in skips and len(skips) >= MOST_NAMES:
            return
        one = skips.setdefault(verdict.id, InstructionSkips())
        setattr(one, verdict.outcome, getattr(one, verdict.outcome) + 1)
        if verdict.error:
            one.last_error = ": ".join(filter(None, (verdict.error_name, verdict.error)))
