"""What an answer rests on: what tools gave, what the model said, which calls it decided on."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Any, ClassVar, Final

import msgspec

from saywhy.agent.hooks import LLMCalled, ToolCalled, TurnCompleted
from saywhy.agent.recorders.figures import Figures
from saywhy.agent.recorders.recorder import MOST, AgentRecorder
from saywhy.trace.words import count, quoted

EXPLAIN_RECORDER: Final = "explain-recorder"


class ExplainSource(msgspec.Struct, frozen=True):
    """What a tool gave."""

    tool_name: str
    args: Mapping[str, Any]
    result: str
    turn_number: int
    loop_iteration: int
    error: bool = False


class ExplainClaim(msgspec.Struct, frozen=True):
    """What was answered in a turn, by which model, after how many rounds of tools."""

    content: str
    model: str
    iteration: int
    turn_number: int


class ExplainDecision(msgspec.Struct, frozen=True):
    """A call the model decided on, or one that a rule carried out."""

    tool_name: str
    args: Mapping[str, Any]
    turn_number: int
    loop_iteration: int
    tool_call_id: str = ""


class ExplainSummary(Figures, frozen=True, kw_only=True):
    """All of it, and a sentence about it."""

    summary: str
    sources: tuple[ExplainSource, ...]
    claims: tuple[ExplainClaim, ...]
    decisions: tuple[ExplainDecision, ...]


class ExplainRecorder(AgentRecorder):
    """Keeps what is needed to check an answer against its sources."""

    NAME: ClassVar[str] = "Explain"

    def __init__(self, id: str = EXPLAIN_RECORDER, *, most: int = MOST) -> None:
        super().__init__(id)
        self._sources: deque[ExplainSource] = deque(maxlen=most)
        self._claims: deque[ExplainClaim] = deque(maxlen=most)
        self._decisions: deque[ExplainDecision] = deque(maxlen=most)
        self._models: deque[tuple[str, int, str]] = deque(maxlen=most)

    def on_tool_call(self, event: ToolCalled) -> None:
        """A call came to something."""
        where = (event.turn_number, event.loop_iteration)
        decision = ExplainDecision(event.tool_name, event.args, *where, event.tool_call_id)
        self._decisions.append(decision)
        source = ExplainSource(event.tool_name, event.args, event.result, *where, event.error)
        self._sources.append(source)

    def on_llm_call(self, event: LLMCalled) -> None:
        """The model has answered."""
        self._models.append((event.run_id, event.turn_number, event.model))

    def on_turn_complete(self, event: TurnCompleted) -> None:
        """A turn came to its answer."""
        asked = (event.run_id, event.turn_number)
        model = next((name for *run, name in reversed(self._models) if tuple(run) == asked), "")
        claim = ExplainClaim(event.content, model, event.total_loop_iterations, event.turn_number)
        self._claims.append(claim)

    def get_sources(self) -> list[ExplainSource]:
        """What tools gave, oldest first."""
        return list(self._sources)

    def get_claims(self) -> list[ExplainClaim]:
        """What was answered, oldest first."""
        return list(self._claims)

    def get_decisions(self) -> list[ExplainDecision]:
        """Which calls were made, oldest first."""
        return list(self._decisions)

    def explain(self) -> str:
        """One sentence: what was answered last, and what it rests on."""
        tools = dict.fromkeys(one.tool_name for one in self._sources)
        rests = f"{count(len(self._sources), 'result')} of {', '.join(tools)}" if tools else ""
        sources = f"resting on {rests}" if rests else "without any tool"
        if not self._claims:
            return f"Nothing was answered yet, {sources}." if tools else "Nothing was answered yet."
        answered = quoted(self._claims[-1].content)
        return f"{count(len(self._claims), 'answer')}, the last one {answered}, {sources}."

    def get_summary(self) -> ExplainSummary:
        """All of it."""
        return ExplainSummary(
            summary=self.explain(),
            sources=tuple(self._sources),
            claims=tuple(self._claims),
            decisions=tuple(self._decisions),
        )

    def clear(self) -> None:
        """Forget everything."""
        for kept in (self._sources, self._claims, self._decisions, self._models):
            kept.clear()
