"""Promise: every call takes one path, and what came of it is data that survives being stored."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import msgspec
import pytest

from saywhy.clock import SystemClock
from saywhy.errors import Fault
from saywhy.testing.clock import START_MS, FakeClock
from saywhy.tools.answer import Attempt, ToolAnswer
from saywhy.tools.call import CallContext, call_tool
from saywhy.tools.limit import MemoryLimiter
from saywhy.tools.registry import Registry
from saywhy.tools.tool import tool_from_definition
from saywhy.values import UNDEFINED, BigInt, Date, freeze, loads, same

NUMBERS = {
    "type": "object",
    "properties": {"a": {"type": "number"}, "b": {"type": "number"}},
    "required": ["a", "b"],
}


def add(args: dict[str, Any]) -> Any:
    return args["a"] + args["b"]


def test_a_call_that_succeeds(call: Any, define: Any) -> None:
    """The value, and one attempt with the tool's name, kind, transaction and moment."""
    answer = call(add, {"a": 2, "b": 40}, tool=define(NUMBERS, name="Add", id="Work"))
    assert answer.value == 42
    assert answer.fault is None
    assert answer.attempts == (Attempt("Add", "local", "t-1", int(START_MS)),)
    assert (answer.refused, answer.may_have_happened) == (False, False)


def test_an_unknown_tool(call: Any) -> None:
    """The text hosts know, and what was probably meant."""

    async def main() -> ToolAnswer:
        clock = FakeClock()
        tool = tool_from_definition({"id": "Charge", "implementation": {"type": "mock"}})
        return await call_tool(
            Registry([tool]),
            "Chrage",
            {},
            CallContext(),
            functions={},
            limiter=MemoryLimiter(clock),
            clock=clock,
        )

    answer = asyncio.run(main())
    assert answer.fault == Fault("Tool Chrage not found in registry")
    assert answer.fault_hint == 'did you mean "Charge"?'
    assert (answer.refused, answer.attempts) == (True, ())


def test_wrong_arguments_are_refused(call: Any, define: Any) -> None:
    """Nothing is called, nothing is listed, every error is named."""
    called: list[Any] = []
    answer = call(called.append, {"a": "one", "b": 2}, tool=define(NUMBERS))
    assert answer.fault_message == "Tool argument validation failed: a must be a number, not text"
    assert answer.fault_hint == "see the parameters of tool Work"
    assert (answer.refused, answer.may_have_happened, answer.attempts) == (True, False, ())
    assert called == []


def test_nulls_are_completed_before_the_check(call: Any, define: Any) -> None:
    """A null for a number is 0, an empty text is still refused."""
    assert call(add, {"a": None, "b": UNDEFINED}, tool=define(NUMBERS)).value == 0
    assert call(add, {"a": "", "b": 1}, tool=define(NUMBERS)).refused is True


def test_flat_parameters_are_checked_for_models_only(call: Any, define: Any) -> None:
    """What a flow gives passes, what a model gives does not."""
    tool = define({"a": {"type": "number"}})
    assert call(lambda a: a, {"a": "x"}, tool=tool).value == "x"
    assert call(lambda a: a, {"a": "x"}, tool=tool, strict=True).refused is True


def limited(**keys: Any) -> dict[str, Any]:
    return {"security": {"rateLimit": {"requests": 1, "window": 60_000}}, **keys}


def calls(tool: Any, *steps: tuple[str, dict[str, Any], float]) -> list[ToolAnswer]:
    """Several calls in a row: user, arguments, seconds to wait before."""

    async def main() -> list[ToolAnswer]:
        clock = FakeClock(auto=False)
        limiter = MemoryLimiter(clock)
        answers: list[ToolAnswer] = []
        for user, args, wait in steps:
            clock.advance(wait)
            answers.append(
                await call_tool(
                    Registry([tool]),
                    "Work",
                    args,
                    CallContext(user_id=user),
                    functions={"work": lambda args: "pong"},
                    limiter=limiter,
                    clock=clock,
                )
            )
        return answers

    return asyncio.run(main())


def test_a_rate_limit_refuses(define: Any) -> None:
    """The second call within the window is refused, another user's is not, a later one neither."""
    answers = calls(
        define(None, **limited()), ("u", {}, 0), ("u", {}, 15), ("v", {}, 0), ("u", {}, 45)
    )
    assert [answer.refused for answer in answers] == [False, True, False, False]
    refused = answers[1]
    assert refused.fault_message == "Rate limit exceeded for Work. Max 1 requests per 60 seconds."
    assert refused.fault_hint == "allowed again in 45 seconds"
    assert refused.attempts == ()


def test_the_rate_limit_comes_before_the_check(define: Any) -> None:
    """A call refused for its arguments has used up its turn."""
    answers = calls(define(NUMBERS, **limited()), ("u", {}, 0), ("u", {"a": 1, "b": 2}, 0))
    assert [str(answer.fault_message)[:23] for answer in answers] == [
        "Tool argument validatio",
        "Rate limit exceeded for",
    ]


def test_an_answer_no_conversation_can_hold(call: Any, define: Any) -> None:
    """The fault names tool and place; it ran, so a repeat could do harm."""
    answer = call(lambda: {"items": {1, 2}}, tool=define(name="Look", id="Work"))
    assert answer.fault_message == (
        "Tool Look gave no usable answer: "
        "the answer.items is a set, which a conversation cannot hold"
    )
    assert answer.fault_name == "StateValueError"
    assert answer.fault_hint == (
        "answer with text, numbers, true or false, None, lists and dicts of these"
    )
    assert answer.may_have_happened is True
    assert len(answer.attempts) == 1
    assert call(lambda: {1}, tool=define(effect="reads")).may_have_happened is False


def test_an_unusable_answer_is_not_repeated(call: Any, define: Any) -> None:
    """`retries` are for errors, not for answers."""
    answer = call(lambda: {1}, tool=define(implementation={"retries": 3}))
    assert len(answer.attempts) == 1


def test_attempts_are_heard_of_before_they_are_made(call: Any) -> None:
    """Whoever listens knows of the attempt even while it runs."""
    heard: list[Attempt] = []
    answer = call(lambda: len(heard), on_attempt=heard.append)
    assert answer.value == 1
    assert tuple(heard) == answer.attempts


@pytest.mark.parametrize("is_async", [False, True])
def test_a_cancelled_turn_is_cancelled(define: Any, is_async: bool) -> None:
    """Cancelling goes through, and the attempt that was made is not forgotten."""
    heard: list[Attempt] = []
    gate = threading.Event()

    async def forever() -> None:
        await asyncio.Event().wait()

    async def main() -> None:
        clock = SystemClock()
        task = asyncio.create_task(
            call_tool(
                Registry([define()]),
                "Work",
                {},
                CallContext(),
                functions={"work": forever if is_async else lambda: gate.wait(5)},
                limiter=MemoryLimiter(clock),
                clock=clock,
                on_attempt=heard.append,
            )
        )
        await asyncio.sleep(0.02)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    gate.set()
    assert [attempt.tool for attempt in heard] == ["Work"]


@pytest.mark.parametrize(
    "answer",
    [
        ToolAnswer(),
        ToolAnswer(value=freeze({"a": [1, UNDEFINED, BigInt(3), Date(0), float("nan")]})),
        ToolAnswer(value=freeze({"$date": "mine"}), http_status=200),
        ToolAnswer(
            fault_message="no",
            fault_name="CardDeclined",
            fault_hint="try another card",
            fault_at="pay.py:3 in pay",
            refused=True,
            may_have_happened=True,
            http_status=503,
            attempts=(Attempt("A", "local", None, 1), Attempt("A", "http", "t", 2)),
            arguments_after=freeze({"box": {"seen": 1}}),
        ),
    ],
)
def test_an_answer_survives_being_stored(answer: ToolAnswer) -> None:
    """Written as JSON and read again it is the same."""
    again = ToolAnswer.from_json(answer.to_json())
    for field in msgspec.structs.fields(ToolAnswer):
        assert same(getattr(again, field.name), getattr(answer, field.name)), field.name
    assert again.to_json() == answer.to_json()
    assert ToolAnswer.from_json(answer.to_json().decode()).to_json() == answer.to_json()


def test_the_stored_form() -> None:
    """Names are in camelCase, and what is as usual is left out."""
    answer = ToolAnswer(value=1, attempts=(Attempt("A", "local", "t", 5),), may_have_happened=True)
    assert loads(answer.to_json()) == freeze(
        {
            "value": 1,
            "mayHaveHappened": True,
            "attempts": [{"tool": "A", "implementation": "local", "transactionId": "t", "at": 5}],
        }
    )


def test_the_fault_of_an_answer() -> None:
    """An error as data, or None."""
    assert ToolAnswer(fault_message="no", fault_name="X").fault == Fault("no", "X")
    assert ToolAnswer(value=1).fault is None
