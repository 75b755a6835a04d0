"""What a model is asked, as something that can be compared and put to another model."""

from __future__ import annotations

from typing import Any

import msgspec

from saywhy.chart.outcome import Answer
from saywhy.clock import SystemClock
from saywhy.models.answering import model_answerer
from saywhy.models.provider import Ask, Provider, reply_of
from saywhy.values import FrozenDict, dumps, freeze


class Request(msgspec.Struct, frozen=True):
    """One question to a model."""

    ask: Ask
    of_agent: bool = False
    """An agent's, whose answer may call tools; else a step's, which is answered with text."""

    @property
    def text(self) -> bytes:
        """The same for the same question, and for no other."""
        ask = self.ask
        told = {
            "task": ask.task,
            "system": ask.system,
            "messages": ask.messages,
            "tools": ask.tools,
            "settings": ask.settings,
            "schema": ask.schema,
            "request": ask.request,
        }
        return dumps(freeze(told))

    def on(self, **fields: Any) -> Request:
        """The same with other fields."""
        return Request(msgspec.structs.replace(self.ask, **fields), self.of_agent)


async def ask_model(provider: Provider, request: Request) -> Answer:
    """What a model says to it. An error is data."""
    if request.of_agent:
        made = await model_answerer(provider, clock=SystemClock())(request.ask)
        return Answer(made.value, made.error, made.error_name, made.facts)
    try:
        reply = await reply_of(provider, request.ask)
    except Exception as error:
        return Answer(error=f"AI communication failed: {error}", error_name="ModelFailed")
    facts: dict[str, Any] = {"model": reply.model} if reply.model else {}
    if reply.tokens_in or reply.tokens_out:
        facts["tokens"] = FrozenDict({"in": reply.tokens_in, "out": reply.tokens_out})
    return Answer(reply.text, facts=facts)


__all__ = ["Request", "ask_model"]
