"""Which actions were offered to the model, and which of them were taken."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any, ClassVar, Final

import msgspec

from saywhy.agent.hooks import InstructionsFired, ToolCalled
from saywhy.agent.recorders.figures import Figures
from saywhy.agent.recorders.recorder import MOST, AgentRecorder
from saywhy.agent.recorders.tool_usage import LONGEST_NAME, MOST_TOOLS
from saywhy.values import dumps, thaw

FOLLOW_UP_RECORDER: Final = "follow-up-recorder"


class FollowUpCount(msgspec.Struct):
    """The offers of calls of one tool."""

    offered: int = 0
    taken: int = 0
    strict: int = 0
    """Of those offered."""


class FollowUpSummary(Figures, frozen=True, kw_only=True):
    """All offers, by the tool that was offered."""

    offered: int
    taken: int
    by_tool: dict[str, FollowUpCount]


class FollowUpRecorder(AgentRecorder):
    """Counts an offer as taken when the tool is called with the very arguments that were bound."""

    NAME: ClassVar[str] = "Follow-ups"

    def __init__(self, id: str = FOLLOW_UP_RECORDER, *, most: int = MOST) -> None:
        super().__init__(id)
        self.most = most
        self._tools: dict[str, FollowUpCount] = {}
        self._open: OrderedDict[tuple[str, str, bytes], None] = OrderedDict()

    def on_instructions_fired(self, event: InstructionsFired) -> None:
        """What the rules made of a result; among it what they offer."""
        for one in event.fired:
            offered = one.resolved_follow_up
            if offered is None:
                continue
            counts = self._counts(offered.tool_id)
            counts.offered += 1
            counts.strict += offered.strict
            self._open[_key(event.conversation_id, offered.tool_id, offered.params)] = None
            if len(self._open) > self.most:
                self._open.popitem(last=False)

    def on_tool_call(self, event: ToolCalled) -> None:
        """A call came to something."""
        key = _key(event.conversation_id, event.tool_name, event.args)
        if key in self._open:
            del self._open[key]
            self._counts(event.tool_name).taken += 1

    def get_summary(self) -> FollowUpSummary:
        """All of it."""
        tools = {name: msgspec.structs.replace(one) for name, one in self._tools.items()}
        return FollowUpSummary(
            offered=sum(one.offered for one in tools.values()),
            taken=sum(one.taken for one in tools.values()),
            by_tool=tools,
        )

    def clear(self) -> None:
        """Forget everything."""
        self._tools.clear()
        self._open.clear()

    def _counts(self, tool: str) -> FollowUpCount:
        name = tool[:LONGEST_NAME]
        if name not in self._tools and len(self._tools) >= MOST_TOOLS:
            return FollowUpCount()
        return self._tools.setdefault(name, FollowUpCount())


def _key(conversation: str, tool: str, args: Any) -> tuple[str, str, bytes]:
    """Offer and call have one where they are the same, whatever the order of the arguments."""
    plain = thaw(args)
    return conversation, tool, dumps(dict(sorted(plain.items())))
