"""One call of a model within its time, and what came of it, success or failure, as plain data.

This is what answers a `Need` for a model: who made the `Ask` and what its answer means is for the
layers above. `Answered` has the fields of `chart.outcome.Answer`, which this layer does not know.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Final, Protocol

import msgspec

from saywhy.clock import Clock
from saywhy.errors import ModelError
from saywhy.models.failures import error_facts, failure_of
from saywhy.models.provider import (
    Ask,
    ModelReply,
    Piece,
    Provider,
    TextPiece,
    ThinkingPiece,
    ToolCallPiece,
    reply_of,
)
from saywhy.values import FrozenDict, Key, freeze, raw

Emit = Callable[[str, Any], object]
"""Where signals go: `token` and `thinking`, each with `{"content": text}`."""

FAILED: Final = "ModelFailed"
"""The `error_name` of a call that gave no answer, unless the error has a name of its own."""


class Answered(msgspec.Struct, frozen=True, omit_defaults=True):
    """What came of one call: the value, or an error as data."""

    value: Any = None
    """`{content, tool_calls?, usage?, model?, finish_reason?, thinking?}`, see `value_of`."""
    error: str | None = None
    error_name: str = "Error"
    facts: dict[str, Any] = {}
    """`latencyMs`; of a failure also `code`, `retryable`, and `provider`, `status`, `retryAfter`
    where they are known."""


class Answering(Protocol):
    """Makes one call and gives what came of it; never raises for what the model does."""

    async def __call__(self, ask: Ask, emit: Emit | None = None) -> Answered:
        """What came of it. Cancelled, it cancels the call."""
        ...


def model_answerer(provider: Provider, *, clock: Clock, timeout_ms: float = 0) -> Answering:
    """Calls of `provider`, each within `timeout_ms` (0: no limit).

    Signals are only given where the question wants to be streamed.
    """
    seconds = timeout_ms / 1000 if timeout_ms else None

    async def answering(ask: Ask, emit: Emit | None = None) -> Answered:
        listener = _listener(emit) if emit is not None and ask.stream else None
        began = clock.now()
        try:
            reply = await clock.wait_for(reply_of(provider, ask, listener), seconds)
            value = value_of(reply)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise  # the run is cancelled; else it is the provider's own doing
            error = ModelError("the call of the model was cancelled", code="aborted")
        except Exception as raised:
            error = failure_of(raised)
            if isinstance(raised, TimeoutError) and _is_late(clock, began, timeout_ms):
                error = _late(timeout_ms)
        else:
            if not _is_late(clock, began, timeout_ms):
                return Answered(value, facts={"latencyMs": clock.now() - began})
            error = _late(timeout_ms)  # it was told to stop and did not
        facts = {"latencyMs": clock.now() - began, **error_facts(error)}
        name = error.name if error.name != ModelError.name else FAILED
        return Answered(None, str(error), name, facts)

    return answering


def value_of(reply: ModelReply) -> FrozenDict:
    """A reply as state holds it. Raises `StateValueError` for arguments that are no JSON."""
    value: dict[str, Any] = {"content": freeze(reply.text)}
    if reply.tool_calls:
        value["tool_calls"] = [
            _call_of(call, ("tool_calls", at)) for at, call in enumerate(reply.tool_calls)
        ]
    if reply.tokens_in or reply.tokens_out:
        read, wrote = freeze(reply.tokens_in), freeze(reply.tokens_out)
        value["usage"] = {"input_tokens": read, "output_tokens": wrote}
    if reply.model:
        value["model"] = freeze(reply.model)
    if reply.stop:
        value["finish_reason"] = freeze(reply.stop)
    if reply.thinking:
        value["thinking"] = freeze(reply.thinking)
    return FrozenDict(value)


def _call_of(call: ToolCallPiece, where: Key) -> dict[str, Any]:
    """A call as state holds it. Its arguments are copied: they are the provider's."""
    if call.raw or call.vendor:
        return raw(freeze(call.as_call(), where))
    arguments = raw(freeze(call.arguments, (*where, "arguments")))
    return {"id": freeze(call.id), "name": freeze(call.name), "arguments": arguments}


def _listener(emit: Emit) -> Callable[[Piece], object]:
    def listen(piece: Piece) -> None:
        if isinstance(piece, TextPiece):
            emit("token", {"content": piece.text})
        elif isinstance(piece, ThinkingPiece):
            emit("thinking", {"content": piece.text})

    return listen


def _is_late(clock: Clock, began: float, timeout_ms: float) -> bool:
    return bool(timeout_ms) and clock.now() - began >= timeout_ms


def _late(timeout_ms: float) -> ModelError:
    text = f"the model gave no answer within {timeout_ms:g} ms"
    return ModelError(text, code="timeout", hint="a longer time limit")
