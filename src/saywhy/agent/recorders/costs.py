"""What the calls of models cost, by call and by model."""

from __future__ import annotations

from collections import deque
from typing import ClassVar, Final

import msgspec

from saywhy.agent.hooks import LLMCalled
from saywhy.agent.recorders.figures import Figures
from saywhy.agent.recorders.pricing import FREE, Pricing, prices_of
from saywhy.agent.recorders.recorder import MOST, AgentRecorder

COST_RECORDER: Final = "cost-recorder"

OTHERS: Final = "(others)"
"""Stands for what came after as many names as are told apart."""

MOST_MODELS: Final = 200


class CostEntry(msgspec.Struct, frozen=True):
    """What one call cost."""

    model: str
    input_tokens: int
    output_tokens: int
    input_cost: float
    output_cost: float
    turn_number: int
    loop_iteration: int

    @property
    def total_cost(self) -> float:
        """Both together."""
        return self.input_cost + self.output_cost


class CostSummary(Figures, frozen=True, kw_only=True):
    """What all calls cost."""

    total_cost: float
    input_cost: float
    output_cost: float
    total_calls: int
    by_model: dict[str, float]
    unlisted: tuple[str, ...] = ()
    """Models without a price, counted as free."""
    entries: tuple[CostEntry, ...] = ()
    """The newest of them."""


class CostRecorder(AgentRecorder):
    """Adds up what calls cost by a table of prices; a model that is not in it costs nothing."""

    NAME: ClassVar[str] = "Costs"

    def __init__(
        self, pricing: Pricing | None = None, id: str = COST_RECORDER, *, most: int = MOST
    ) -> None:
        super().__init__(id)
        self._prices = prices_of(pricing)
        self._entries: deque[CostEntry] = deque(maxlen=most)
        self._by_model: dict[str, float] = {}
        self.clear()

    def on_llm_call(self, event: LLMCalled) -> None:
        """The model has answered."""
        used = event.usage or {}
        tokens = (used.get("input_tokens", 0), used.get("output_tokens", 0))
        costs = self._prices.get(event.model, FREE).of(*tokens)
        self._count += 1
        self._input += costs[0]
        self._output += costs[1]
        known = event.model in self._by_model or len(self._by_model) < MOST_MODELS
        name = event.model if known else OTHERS
        self._by_model[name] = self._by_model.get(name, 0.0) + sum(costs)
        entry = CostEntry(event.model, *tokens, *costs, event.turn_number, event.loop_iteration)
        self._entries.append(entry)

    def get_total_cost(self) -> float:
        """What all calls cost together."""
        return self._input + self._output

    def get_entries(self) -> list[CostEntry]:
        """The calls that are kept, oldest first."""
        return list(self._entries)

    def get_summary(self) -> CostSummary:
        """All of it."""
        return CostSummary(
            total_cost=self.get_total_cost(),
            input_cost=self._input,
            output_cost=self._output,
            total_calls=self._count,
            by_model=dict(self._by_model),
            unlisted=tuple(name for name in self._by_model if name not in self._prices),
            entries=tuple(self._entries),
        )

    def clear(self) -> None:
        """Forget everything."""
        self._entries.clear()
        self._by_model.clear()
        self._count = 0
        self._input = self._output = 0.0
