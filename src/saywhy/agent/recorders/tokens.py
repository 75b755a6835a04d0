"""How many tokens were used, by which calls, and how long those took."""

from __future__ import annotations

from collections import deque
from typing import ClassVar, Final

import msgspec

from saywhy.agent.hooks import LLMCalled
from saywhy.agent.recorders.figures import Figures
from saywhy.agent.recorders.pricing import FREE, Pricing, prices_of
from saywhy.agent.recorders.recorder import MOST, AgentRecorder

TOKEN_RECORDER: Final = "token-recorder"


class TokenEntry(msgspec.Struct, frozen=True, omit_defaults=True):
    """One call of a model."""

    model: str
    input_tokens: int
    output_tokens: int
    latency_ms: float
    turn_number: int
    loop_iteration: int
    """How many rounds of tools were done before."""
    finish_reason: str = ""
    cost: float | None = None


class TokenSummary(Figures, frozen=True, kw_only=True):
    """What all calls came to."""

    total_calls: int
    total_input_tokens: int
    total_output_tokens: int
    average_latency_ms: int
    total_cost: float | None = None
    """None where no prices are known."""
    calls: tuple[TokenEntry, ...] = ()
    """The newest of them."""


class TokenRecorder(AgentRecorder):
    """Counts tokens; with `pricing` it says what they cost as well."""

    NAME: ClassVar[str] = "Tokens"

    def __init__(
        self, id: str = TOKEN_RECORDER, *, pricing: Pricing | None = None, most: int = MOST
    ) -> None:
        super().__init__(id)
        self._prices = None if pricing is None else prices_of(pricing)
        self._calls: deque[TokenEntry] = deque(maxlen=most)
        self.clear()

    def on_llm_call(self, event: LLMCalled) -> None:
        """The model has answered."""
        used = event.usage or {}
        tokens = (used.get("input_tokens", 0), used.get("output_tokens", 0))
        cost = None
        if self._prices is not None:
            cost = sum(self._prices.get(event.model, FREE).of(*tokens))
            self._cost += cost
        self._count += 1
        self._input += tokens[0]
        self._output += tokens[1]
        self._latency += event.latency_ms
        entry = TokenEntry(
            event.model,
            *tokens,
            event.latency_ms,
            event.turn_number,
            event.loop_iteration,
            event.finish_reason,
            cost,
        )
        self._calls.append(entry)

    def get_total_tokens(self) -> int:
        """Those that were handed in and those that came back."""
        return self._input + self._output

    def get_entries(self) -> list[TokenEntry]:
        """The calls that are kept, oldest first."""
        return list(self._calls)

    def get_summary(self) -> TokenSummary:
        """All of it."""
        return TokenSummary(
            total_calls=self._count,
            total_input_tokens=self._input,
            total_output_tokens=self._output,
            average_latency_ms=round(self._latency / self._count) if self._count else 0,
            total_cost=None if self._prices is None else self._cost,
            calls=tuple(self._calls),
        )

    def clear(self) -> None:
        """Forget everything."""
        self._calls.clear()
        self._count = self._input = self._output = 0
        self._latency = self._cost = 0.0
