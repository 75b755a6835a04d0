"""Who answers what a loop asks, where the host names nobody else: its model, its tools.

This is where a loop acts. Stages only say what they need.
"""

from __future__ import annotations

import logging
from asyncio import Semaphore, ensure_future
from collections.abc import Awaitable, Callable
from typing import Any, Final

from saywhy.agent.loop.approving import GIVEN, TO_APPROVE
from saywhy.agent.loop.config import AgentLoopConfig
from saywhy.agent.loop.request import request_of
from saywhy.agent.loop.toolbox import Toolbox
from saywhy.agent.tool_reply import ToolReply, not_found, reply_to
from saywhy.agent.tools import AgentTool
from saywhy.chart.brought import Answers, Asking, Running
from saywhy.chart.drive import Stopped, watched
from saywhy.chart.outcome import Answer
from saywhy.models.answering import model_answerer
from saywhy.tools.answer import ToolAnswer
from saywhy.tools.call import Approved, CallContext, call_tool
from saywhy.tools.guards import Guards
from saywhy.tools.limit import MemoryLimiter
from saywhy.tools.registry import Registry
from saywhy.values import UNDEFINED, FrozenDict, raw


def model_answers(config: AgentLoopConfig) -> Answers | None:
    """Who asks the loop's model; None where it has none."""
    provider, timeout_ms = config.provider, config.model_timeout_ms
    if provider is None:
        return None

    async def answers(asking: Asking) -> Answer:
        running = asking.running
        call = running.kept.get(answers)
        if call is None:
            call = model_answerer(provider, clock=running.clock, timeout_ms=timeout_ms)
            running.kept[answers] = call
        ask = request_of(running.cursor, asking.need)
        signal = running.env.get("signal")
        if signal is None or running.watched:
            made = await call(ask, asking.emit)
        else:  # a signal for the model's calls alone
            try:
                made = await watched(call(ask, asking.emit), signal)
            except Stopped:
                facts = {"code": "aborted", "retryable": False}
                return Answer(None, signal.reason, "Cancelled", facts)
        return Answer(made.value, made.error, made.error_name, made.facts)

    return answers


class ToolAnswers:
    """Makes the calls of tools, all through `call_tool`."""

    def __init__(self, config: AgentLoopConfig, box: Toolbox) -> None:
        self.box = box
        self.concurrency = config.tool_concurrency
        self.guards = Guards()
        self._registries: dict[AgentTool, Registry] = {}

    def __call__(self, asking: Asking) -> Awaitable[Answer]:
        """What came of one call, as a value that goes through JSON."""
        return self._in_turn(asking) if self.concurrency > 1 else self._answer(asking)

    async def _in_turn(self, asking: Asking) -> Answer:
        async with self._places(asking.running):
            return await self._answer(asking)

    def _places(self, running: Running) -> Semaphore:
        places = running.kept.get(self)
        if places is None:
            places = running.kept[self] = Semaphore(self.concurrency)
        return places

    async def _answer(self, asking: Asking) -> Answer:
        need, running = asking.need, asking.running
        tool = self._tool(asking)
        if not isinstance(tool, AgentTool):
            return _given(tool or not_found(need.name), 0, None)
        clock = running.clock
        began = clock.now()
        made = await call_tool(
            self._registry(tool),
            tool.id,
            raw(need.args),  # nothing in it is changed: the call gets copies
            self._context(asking),
            functions={},
            limiter=running.kept.get(MemoryLimiter) or _limiter(running),
            clock=clock,
            strict=True,
            approved=_approval(asking),
            guards=self.guards,
            known=None,
        )
        if made.to_approve is not None:
            return Answer(None, made.fault_message, facts={TO_APPROVE: made.to_approve})
        return _given(reply_to(made), clock.now() - began, made)

    def _tool(self, asking: Asking) -> AgentTool | ToolReply | None:
        state, scope = asking.running.cursor.state, asking.frame.scope

        def held(name: str) -> Any:
            value = state.get(scope, name)
            return None if value is UNDEFINED else value

        return self.box.find(asking.need.name, held)

    def _registry(self, tool: AgentTool) -> Registry:
        known = self._registries.get(tool)
        if known is None:
            known = Registry([tool.tool])
            if tool is self.box.registry.get(tool.id):  # others may be made anew for each call
                self._registries[tool] = known
        return known

    def _context(self, asking: Asking) -> CallContext:
        running, scope = asking.running, asking.frame.scope
        state = running.cursor.state
        run_id = state.get(scope, "runId")
        run = run_id if isinstance(run_id, str) else "run"
        return CallContext(
            session_id=run,
            key=f"{run}:{state.seq}",
            tool=asking.need.name,
            clock=running.clock,
            signal=running.env.get("signal"),
        )


def _approval(asking: Asking) -> Approved | None:
    """What a person has said for the call at hand."""
    given = asking.running.cursor.state.get(asking.frame.scope, GIVEN)
    return Approved(given["digest"], given["salt"]) if isinstance(given, FrozenDict) else None


def _limiter(running: Running) -> MemoryLimiter:
    """What counts the calls of a run."""
    return running.kept.setdefault(MemoryLimiter, MemoryLimiter(running.clock))


def _given(reply: ToolReply, latency_ms: float, made: ToolAnswer | None) -> Answer:
    facts: dict[str, Any] = {"reply": True, "latencyMs": latency_ms}
    if made is not None and made.may_have_happened:
        facts["may_have_happened"] = True
    if made is not None and made.warnings:
        facts["warnings"] = list(made.warnings)
    if made is not None and made.mapped is not None:
        facts["mapped"] = made.mapped
    error = None if reply.error is None else str(reply.error.get("message", ""))
    return Answer(reply.to_value(), error, facts=facts)


def beside(saving: Awaitable[Any], on_error: Callable[[Exception], object] | None) -> None:
    """Let the history be saved while the run is over; `on_error` is told of a failure."""

    async def save() -> None:
        try:
            await saving
        except Exception as error:
            if on_error is not None:
                on_error(error)
            else:
                _LOG.warning("the history of a conversation could not be saved: %s", error)

    task = ensure_future(save())
    _SAVING.add(task)
    task.add_done_callback(_SAVING.discard)


_SAVING: set[Any] = set()
"""Held here, since an event loop holds its tasks only weakly."""

_LOG: Final = logging.getLogger("saywhy")
