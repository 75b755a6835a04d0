"""Asks the language model what a step wants to know, within its time."""

from __future__ import annotations

import asyncio
from typing import Any, Final

import msgspec

from saywhy.chart.failure import failure_text
from saywhy.chart.outcome import Answer, Need
from saywhy.clock import Clock
from saywhy.flows.prompts import prompt_of
from saywhy.flows.world import World
from saywhy.models.provider import Provider, question, reply_of
from saywhy.values import FrozenDict

FAILED: Final = "AI communication failed"
MAX_REPLY: Final = 200_000
"""Characters of an answer that are looked at: more is no answer to any question of ours."""


class Models(msgspec.Struct, frozen=True):
    """Who is asked, and how long it may take."""

    provider: Provider
    timeout_ms: float
    """0: no limit."""

    async def answer(self, world: World, clock: Clock, need: Need) -> Answer:
        """The model's text, or why there is none."""
        ask = question(need.name, *prompt_of(world, need))
        limit = self.timeout_ms / 1000 if self.timeout_ms else None
        began = clock.now()
        try:
            reply = await clock.wait_for(reply_of(self.provider, ask), limit)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise  # the turn is cancelled; else it is the provider's own doing
            return _failed("it was cancelled")
        except TimeoutError as error:
            return (
                self._late() if self._is_late(clock.now() - began) else _failed(failure_text(error))
            )
        except Exception as error:
            return _failed(failure_text(error))
        if self._is_late(clock.now() - began):  # it was told to stop and did not
            return self._late()
        if reply.stop == "length":  # half a JSON text must not be read as a whole one
            return _failed("the answer was cut off")
        facts: dict[str, Any] = {}
        if reply.model:
            facts["model"] = reply.model
        if reply.tokens_in or reply.tokens_out:
            facts["tokens"] = FrozenDict({"in": reply.tokens_in, "out": reply.tokens_out})
        return Answer(reply.text[:MAX_REPLY], facts=facts)

    def _is_late(self, took_ms: float) -> bool:
        return bool(self.timeout_ms) and took_ms >= self.timeout_ms

    def _late(self) -> Answer:
        return _failed(f"AI call timed out after {self.timeout_ms:g}ms")


def _failed(why: str) -> Answer:
    return Answer(error=f"{FAILED}: {why}", error_name="ModelFailed")
