"""Several recorders as one, and the usual three under one name."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Iterable
from functools import partial
from inspect import isawaitable
from typing import Any, ClassVar, Final

from saywhy.agent.hooks import HOOKS
from saywhy.agent.recorders.costs import CostRecorder, CostSummary
from saywhy.agent.recorders.pricing import Pricing
from saywhy.agent.recorders.recorder import MOST, AgentRecorder
from saywhy.agent.recorders.tokens import TokenRecorder, TokenSummary
from saywhy.agent.recorders.tool_usage import ToolUsageRecorder, ToolUsageSummary

COMPOSITE_RECORDER: Final = "composite-recorder"


class CompositeRecorder(AgentRecorder):
    """Tells each of its recorders what it is told. One that raises does not disturb the others."""

    NAME: ClassVar[str] = "Composite"

    def __init__(self, recorders: Iterable[Any], id: str = COMPOSITE_RECORDER) -> None:
        super().__init__(id)
        self.recorders = tuple(recorders)

    def __getattr__(self, name: str) -> Any:
        if name not in HOOKS:
            raise AttributeError(f"{type(self).__name__} has no {name}")
        hooks = [hook for one in self.recorders if (hook := getattr(one, name, None)) is not None]
        return partial(_tell, name, hooks)

    def get(self, id: str) -> Any:
        """The recorder with this id; None where there is none."""
        return next((one for one in self.recorders if getattr(one, "id", None) == id), None)

    async def settled(self) -> None:
        """Come back once all of them are done."""
        for one in self.recorders:
            settled = getattr(one, "settled", None)
            if settled is not None:
                await settled()

    def get_summary(self) -> dict[str, Any]:
        """The figures of each, by its id."""
        return {one.id: one.get_summary() for one in self.recorders if hasattr(one, "get_summary")}

    def to_snapshot(self) -> dict[str, Any]:
        """The snapshots of each, as a list."""
        shown = [one.to_snapshot() for one in self.recorders if hasattr(one, "to_snapshot")]
        return {"name": self.NAME, "data": shown}

    def clear(self) -> None:
        """Have each forget everything."""
        for one in self.recorders:
            clear = getattr(one, "clear", None)
            if clear is not None:
                clear()


def _tell(name: str, hooks: list[Any], event: Any) -> Awaitable[None] | None:
    waiting: list[Any] = []
    for hook in hooks:
        try:
            given = hook(event)
        except Exception:
            _complain(name)
            continue
        if isawaitable(given):
            waiting.append(given)
    return _all(name, waiting) if waiting else None


async def _all(name: str, waiting: list[Any]) -> None:
    for given in await asyncio.gather(*waiting, return_exceptions=True):
        if isinstance(given, Exception):
            _LOG.error("a recorder raised in %s; the run goes on", name, exc_info=given)


def _complain(name: str) -> None:
    _LOG.exception("a recorder raised in %s; the run goes on", name)


_LOG: Final = logging.getLogger("saywhy")

OBSERVABILITY: Final = "agent-observability"


class AgentObservability(CompositeRecorder):
    """Tokens, tools and costs."""

    NAME: ClassVar[str] = "Observability"

    def __init__(
        self, pricing: Pricing | None = None, id: str = OBSERVABILITY, *, most: int = MOST
    ) -> None:
        self.token_recorder = TokenRecorder(most=most)
        self.tool_recorder = ToolUsageRecorder()
        self.cost_recorder = CostRecorder(pricing, most=most)
        super().__init__((self.token_recorder, self.tool_recorder, self.cost_recorder), id)

    def tokens(self) -> TokenSummary:
        """How many tokens were used."""
        return self.token_recorder.get_summary()

    def tools(self) -> ToolUsageSummary:
        """Which tools were called."""
        return self.tool_recorder.get_summary()

    def cost(self) -> float:
        """What the calls of models cost."""
        return self.cost_recorder.get_total_cost()

    def costs(self) -> CostSummary:
        """What they cost, by call and by model."""
        return self.cost_recorder.get_summary()


def agent_observability(pricing: Pricing | None = None, *, most: int = MOST) -> AgentObservability:
    """Tokens, tools and costs as one recorder, with shortcuts to their figures."""
    return AgentObservability(pricing, most=most)
