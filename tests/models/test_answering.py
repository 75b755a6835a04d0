"""Promise: a call of a model ends in its time, and what came of it is data, whatever it was."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any

import pytest

from saywhy.clock import SystemClock
from saywhy.errors import CallerError, ModelError
from saywhy.models.answering import Answered, model_answerer
from saywhy.models.chat import user_message
from saywhy.models.provider import (
    Ask,
    ModelReply,
    Piece,
    Provider,
    StopPiece,
    TextPiece,
    ToolCallPiece,
)
from saywhy.models.scripted import ScriptedModel
from saywhy.testing import FakeClock
from saywhy.values import FrozenDict

HI = Ask("chat", messages=[user_message("Hi")])
STREAMED = Ask("chat", messages=[user_message("Hi")], stream=True)


async def answered(entry: dict[str, Any], ask: Ask = HI, **options: Any) -> Answered:
    clock = FakeClock()
    return await model_answerer(ScriptedModel([entry], clock), clock=clock, **options)(ask)


async def test_a_whole_answer() -> None:
    """The value is frozen JSON with the keys that say something, and the time it took is kept."""
    call = {"id": "1", "name": "now", "arguments": {"deep": [1]}}
    entry = {
        "reply": "Hello.",
        "tool_calls": [call],
        "usage": {"input_tokens": 3, "output_tokens": 4},
        "model": "m-1",
        "thinking": "hm",
        "delay_ms": 250,
    }
    found = await answered(entry)
    assert found.value == {
        "content": "Hello.",
        "tool_calls": [call],
        "usage": {"input_tokens": 3, "output_tokens": 4},
        "model": "m-1",
        "finish_reason": "tool_calls",
        "thinking": "hm",
    }
    assert isinstance(found.value, FrozenDict)
    assert (found.error, found.facts) == (None, {"latencyMs": 250.0})
    plain = await answered({"reply": "x"})
    assert plain.value == {"content": "x", "finish_reason": "stop"}


async def test_a_failure_is_data() -> None:
    """Its code, whether it may pass, and how long to wait, beside the text."""
    found = await answered({"raise": "slow down", "code": "rate_limit", "retry_after": 2})
    assert found == Answered(
        None,
        "slow down",
        "ModelFailed",
        {"latencyMs": 0.0, "code": "rate_limit", "retryable": True, "retryAfter": 2},
    )


async def test_somebody_elses_exception_is_data_too() -> None:
    """A name of ours stays, a stranger's class does not become one."""

    class Broken:
        def __init__(self, error: Exception) -> None:
            self.error = error

        async def ask(self, ask: Ask) -> ModelReply:
            raise self.error

    async def of(error: Exception) -> Answered:
        return await model_answerer(Broken(error), clock=SystemClock())(HI)

    found = await of(KeyError("k"))
    assert (found.error, found.error_name, found.facts["code"]) == (
        "KeyError: 'k'",
        "ModelFailed",
        "unknown",
    )
    found = await of(ConnectionError("cut"))
    assert (found.error, found.facts["code"], found.facts["retryable"]) == ("cut", "network", True)
    found = await of(TimeoutError("the server is slow"))
    assert (found.error, found.facts["code"]) == ("the server is slow", "timeout")
    found = await of(ModelError("full", code="server", status_code=503, provider="openai"))
    assert (found.facts["status"], found.facts["provider"]) == (503, "openai")
    found = await of(CallerError("no"))
    assert (found.error, found.facts["code"]) == ("no", "unknown")


async def test_time_is_up() -> None:
    """The call is cancelled where it stands."""
    found = await answered({"chunks": ["Hel"], "hang": True}, timeout_ms=60)
    assert found.error == "the model gave no answer within 60 ms"
    assert found.facts == {"latencyMs": 60.0, "code": "timeout", "retryable": True}


async def test_an_answer_that_comes_too_late_is_none() -> None:
    """One that goes on when it is told to stop is not rewarded for it."""
    clock = FakeClock()

    class Stubborn:
        async def ask(self, ask: Ask) -> ModelReply:
            with suppress(asyncio.CancelledError):
                await clock.sleep(1)
            return ModelReply("late")

    found = await model_answerer(Stubborn(), clock=clock, timeout_ms=60)(HI)
    assert found.error == "the model gave no answer within 60 ms"


async def test_who_is_cancelled() -> None:
    """The run's cancelling goes through; a provider that cancels itself has failed."""

    class Cancels:
        async def ask(self, ask: Ask) -> ModelReply:
            raise asyncio.CancelledError

    found = await model_answerer(Cancels(), clock=SystemClock())(HI)
    assert (found.error, found.facts["code"]) == ("the call of the model was cancelled", "aborted")

    closed = asyncio.Event()

    class Hangs:
        async def ask(self, ask: Ask) -> AsyncIterator[Piece]:
            try:
                yield TextPiece("Hel")
                await asyncio.Event().wait()
            finally:
                closed.set()

    call = asyncio.ensure_future(model_answerer(Hangs(), clock=SystemClock())(HI))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert closed.is_set()


async def test_signals_are_for_who_wants_them() -> None:
    """Tokens and thoughts as they come, where the question is to be streamed."""
    heard: list[Any] = []

    def emit(kind: str, data: Any) -> None:
        heard.append((kind, data))

    entry = {"thinking": "hm", "chunks": ["Hel", "lo"], "tool_calls": [{"name": "now"}]}
    clock = FakeClock()
    answering = model_answerer(ScriptedModel([entry, entry], clock), clock=clock)
    assert (await answering(HI, emit)).value["content"] == "Hello"
    assert heard == []
    assert (await answering(STREAMED, emit)).value["content"] == "Hello"
    assert heard == [
        ("thinking", {"content": "hm"}),
        ("token", {"content": "Hel"}),
        ("token", {"content": "lo"}),
    ]


async def test_arguments_that_no_state_can_hold_are_a_failure() -> None:
    """A provider of a host's own may give anything."""

    class Odd:
        async def ask(self, ask: Ask) -> AsyncIterator[Piece]:
            yield ToolCallPiece("1", "now", {"a": object()})
            yield StopPiece()

    provider: Provider = Odd()
    found = await model_answerer(provider, clock=SystemClock())(HI)
    assert "is a object, which a conversation cannot hold" in str(found.error)
    assert found.error_name == "ModelFailed"
