"""What one run tells while it goes on: events to whoever listens, hooks to the recorders.

It listens to the commits and signals of the run and takes no part in it. The beginning and the end
are told here and not by the chart, so that every run has both, however it ends.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from saywhy.agent.events import (
    AgentEvent,
    ErrorEvent,
    ToolEnd,
    ToolStart,
    TurnEnd,
    TurnStart,
    event_of,
)
from saywhy.agent.hooks import (
    InstructionsFired,
    LLMCalled,
    RunFailed,
    ToolCalled,
    ToolsBlocked,
    TurnCompleted,
    TurnStarted,
)
from saywhy.agent.recorders.retold import PHASES
from saywhy.chart.commit import Commit
from saywhy.chart.drive import Signal
from saywhy.runtime.agents.dispatch import Backlog, Dispatch
from saywhy.runtime.agents.result import AgentResult, Usage
from saywhy.values import FrozenDict, raw

OnEvent = Callable[[AgentEvent], Any]


class About(msgspec.Struct, frozen=True):
    """Which run it is."""

    turn_number: int
    run_id: str
    conversation_id: str

    def fields(self) -> dict[str, Any]:
        """For the events of hooks."""
        return msgspec.structs.asdict(self)


class _OnEvent:
    """A listener for events as a recorder with one hook, for the same care to be taken of it."""

    def __init__(self, listener: OnEvent) -> None:
        self.on_event = listener


class Telling:
    """The voice of one run."""

    def __init__(
        self, about: About, dispatch: Dispatch, on_event: OnEvent | None, used: Usage
    ) -> None:
        self.about = about.fields()
        self.dispatch = dispatch
        self.listener = None if on_event is None else Backlog(_OnEvent(on_event), live=True)
        self.usage = used
        """What the model calls used so far, those before a pause included."""
        self.iteration = 0
        self.phase = ""
        """What is being waited for, or was about to be done: `llm`, `tool`, or a stage."""
        self.records = bool(dispatch.recorders)
        self._arguments: dict[str, Mapping[str, Any]] = {}

    @property
    def listens(self) -> bool:
        """Whether anybody wants to know; else signals need not be sent at all."""
        return self.records or self.listener is not None

    # ------------------------------------------------------------ beginning and end

    def begin(self, message: str, *, resumed: bool) -> None:
        """The run begins. A resumed one goes on with a turn that recorders know already."""
        self._show(TurnStart(message))
        if not resumed:
            self.dispatch.tell("on_turn_start", TurnStarted(message=message, **self.about))

    def go_on(self, iteration: int, calls: Sequence[Mapping[str, Any]]) -> None:
        """What is known of a run that rested, perhaps in another process: where it stands."""
        self.iteration = iteration
        self._arguments = {call["id"]: FrozenDict(raw(call["arguments"])) for call in calls}

    async def end(self, result: AgentResult) -> None:
        """The run is over. A turn that is paused is not complete yet."""
        self._show(TurnEnd(result.content, result.iterations, result.paused or None))
        if not result.paused:
            completed = TurnCompleted(
                content=result.content,
                message_count=len(result.messages),
                total_loop_iterations=result.iterations,
                stop_reason=result.stop_reason,
                **self.about,
            )
            self.dispatch.tell("on_turn_complete", completed)
        await self.settled()

    async def settled(self) -> None:
        """Come back once whoever listens has dealt with everything."""
        if self.listener is not None:
            await self.listener.settled()

    def fail(self, error: Exception, phase: str = "") -> None:
        """The run failed, or was cancelled."""
        phase = phase or self.phase or "run"
        self._show(ErrorEvent(phase, str(error)))
        failed = RunFailed(phase=phase, error=error, **self.about)
        self.dispatch.tell("on_error", failed)

    # ------------------------------------------------------------ in between

    def signal(self, signal: Signal) -> None:
        """Something for the screen, or for the recorders."""
        if signal.kind == "instructions_fired":
            self.dispatch.tell(
                "on_instructions_fired", InstructionsFired(**signal.data, **self.about)
            )
            return
        event = event_of(signal.kind, signal.data)
        if event is None or isinstance(event, TurnStart | TurnEnd | ErrorEvent):
            return
        self._show(event)
        if isinstance(event, ToolStart):
            self._arguments[event.tool_call_id] = event.args
        elif isinstance(event, ToolEnd):
            self._tool_called(event)

    def commit(self, commit: Commit) -> None:
        """A step of the run."""
        asked, answered = commit.asked, commit.answered
        blocked = commit.facts.get("blocked")
        if blocked and self.records:
            told = ToolsBlocked(names=tuple(blocked), **self.about)
            self.dispatch.tell("on_tools_blocked", told)
        if commit.error:
            self.phase = self.phase or commit.node
        elif commit.phase != "closed":
            self.phase = ""
        if answered is not None and answered.kind == "model" and not answered.error:
            self._model_answered(raw(answered.value), answered.facts)
        if asked is not None:
            self.phase = PHASES.get(asked.kind, commit.node)
            if asked.kind == "model":
                args: Any = raw(asked.args)
                self.iteration = int(args.get("iteration", 0)) if isinstance(args, dict) else 0

    def _model_answered(self, value: Any, facts: Mapping[str, Any]) -> None:
        told: dict[str, Any] = value if isinstance(value, dict) else {}
        usage: Any = raw(told.get("usage"))
        used: dict[str, Any] = usage if isinstance(usage, dict) else {}
        tokens = (int(used.get("input_tokens") or 0), int(used.get("output_tokens") or 0))
        before = self.usage
        self.usage = Usage(
            before.input_tokens + tokens[0], before.output_tokens + tokens[1], before.calls + 1
        )
        if not self.records:
            return
        called = LLMCalled(
            model=str(told.get("model") or ""),
            usage={"input_tokens": tokens[0], "output_tokens": tokens[1]} if used else None,
            latency_ms=float(facts.get("latencyMs") or 0.0),
            loop_iteration=self.iteration,
            finish_reason=str(told.get("finish_reason") or ""),
            content=str(told.get("content") or ""),
            **self.about,
        )
        self.dispatch.tell("on_llm_call", called)

    def _tool_called(self, event: ToolEnd) -> None:
        called = ToolCalled(
            tool_name=event.tool_name,
            args=self._arguments.pop(event.tool_call_id, {}),
            result=event.result,
            error=event.error,
            latency_ms=event.latency_ms or 0.0,
            tool_call_id=event.tool_call_id,
            loop_iteration=self.iteration,
            **self.about,
        )
        self.dispatch.tell("on_tool_call", called)

    def _show(self, event: AgentEvent) -> None:
        if self.listener is not None:
            self.listener.tell("on_event", event)
