"""Promise: no function is waited for longer than its limit, and its answer says what that means."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from saywhy.clock import SystemClock
from saywhy.testing.clock import START_MS, FakeClock
from saywhy.tools import local
from saywhy.tools.call import CallContext, call_tool
from saywhy.tools.limit import MemoryLimiter
from saywhy.tools.registry import Registry
from saywhy.tools.threads import Threads


@pytest.fixture
def gate() -> Iterator[threading.Event]:
    """Functions wait at it; opened at the end, so that no thread outlives its test."""
    event = threading.Event()
    yield event
    event.set()


def _raise(error: BaseException) -> None:
    raise error


@pytest.mark.parametrize("effect", ["reads", "repeatable", "once"])
def test_a_time_limit_ends_the_wait_for_a_plain_function(
    call: Any, define: Any, gate: threading.Event, effect: str
) -> None:
    """The wait ends although the function goes on, and the answer says what that means."""
    began = time.monotonic()
    tool = define(implementation={"timeout": 200}, effect=effect)
    answer = call(lambda: gate.wait(5), tool=tool, clock=SystemClock())
    assert 0.15 < time.monotonic() - began < 3
    assert answer.fault_message == "Tool execution timeout after 200ms - work"
    assert answer.fault_name == "TimeoutError"
    assert answer.refused is False
    assert answer.may_have_happened is (effect != "reads")
    assert answer.fault_hint == (
        "it only reads"
        if effect == "reads"
        else "it was still running when its time was up; its effect may have happened"
    )
    assert len(answer.attempts) == 1


def test_a_time_limit_cancels_an_async_function(call: Any, define: Any) -> None:
    """It is stopped at its moment, and may have had its effect before."""
    ended: list[str] = []

    async def slow() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("slow")

    clock = FakeClock()
    answer = call(slow, tool=define(implementation={"timeout": 1500}), clock=clock)
    assert answer.fault_message == "Tool execution timeout after 1500ms - work"
    assert answer.may_have_happened is True
    assert clock.now() == START_MS + 1500
    assert ended == ["slow"]


def test_the_default_time_limit(call: Any) -> None:
    """Five seconds, on the clock that was handed in."""
    clock = FakeClock()

    async def slow() -> None:
        await clock.sleep(60)

    answer = call(slow, clock=clock)
    assert answer.fault_message == "Tool execution timeout after 5000ms - work"
    assert clock.now() == START_MS + 5000


def test_just_in_time(call: Any) -> None:
    """A function that needs less than its limit is not disturbed."""
    clock = FakeClock()

    async def slow() -> str:
        await clock.sleep(4.999)
        return "done"

    assert call(slow, clock=clock).value == "done"


def test_a_time_limit_of_the_functions_own_is_its_answer(call: Any) -> None:
    """An error that the function reports leaves no doubt about its effect."""

    async def own() -> None:
        raise TimeoutError("the bank did not answer")

    for function in (own, lambda: _raise(TimeoutError("the bank did not answer"))):
        answer = call(function)
        assert answer.fault_message == "the bank did not answer"
        assert answer.may_have_happened is False


def test_an_error_made_of_our_cancelling_is_our_time_limit(call: Any) -> None:
    """A function that answers being stopped with an error of its own did not answer."""

    async def stubborn() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            raise RuntimeError("interrupted") from None

    answer = call(stubborn)
    assert answer.fault_message == "Tool execution timeout after 5000ms - work"
    assert answer.may_have_happened is True


def test_what_never_began_did_not_happen(
    define: Any, gate: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With every thread busy until the time is up, the function was not called."""
    threads = Threads(limit=1)
    monkeypatch.setattr(local, "SHARED", threads)
    busy = threads.start(lambda: gate.wait(5))
    assert busy.started
    happened: list[int] = []
    tool = define(implementation={"timeout": 50})
    answer = _call_on(SystemClock(), tool, lambda: happened.append(1))
    gate.set()
    assert answer.fault_message == "Tool execution timeout after 50ms - work"
    assert answer.fault_hint == "no thread was free in that time; the function was not called"
    assert answer.may_have_happened is False
    assert busy.done_within(5)
    assert happened == []


def test_too_many_hanging_functions_are_a_fault(
    define: Any, gate: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The limit is reported like any error of a tool."""
    monkeypatch.setattr(local, "SHARED", Threads(lost_limit=1))
    tool = define(implementation={"timeout": 20})
    first = _call_on(SystemClock(), tool, lambda: gate.wait(5))
    second = _call_on(SystemClock(), tool, lambda: 1)
    assert first.may_have_happened is True
    assert second.fault_message == "1 functions still run though their time is up"
    assert second.may_have_happened is False


def _call_on(clock: Any, tool: Any, function: Any) -> Any:
    return asyncio.run(
        call_tool(
            Registry([tool]),
            "Work",
            {},
            CallContext(),
            functions={"work": function},
            limiter=MemoryLimiter(clock),
            clock=clock,
        )
    )
