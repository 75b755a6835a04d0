"""Promise: a tool that keeps failing is left alone for a while, then tried by one call."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

import pytest

from saywhy.testing.clock import FakeClock
from saywhy.tools.answer import ToolAnswer
from saywhy.tools.breaker import has_failed
from saywhy.tools.call import CallContext, call_tool
from saywhy.tools.guards import Guards
from saywhy.tools.limit import MemoryLimiter
from saywhy.tools.registry import Registry
from saywhy.tools.tool import tool_from_definition

RULE = {"failures": 2, "windowMs": 60_000, "openMs": 30_000}


class Service:
    """A tool that fails while it is `down`."""

    def __init__(self, rule: Any = RULE, **keys: Any) -> None:
        self.down = True
        self.calls = 0
        self.gate: asyncio.Event | None = None
        self.clock = FakeClock()
        self.guards = Guards()
        self.limiter = MemoryLimiter(self.clock)
        implementation = {"type": "local", "function": "work", "circuitBreaker": rule}
        self.tool = tool_from_definition(
            {"id": "work", "name": "Work", "implementation": implementation, **keys}
        )

    async def work(self, arguments: dict[str, Any]) -> str:
        self.calls += 1
        if self.gate is not None:
            await self.gate.wait()
        if self.down:
            raise RuntimeError("down")
        return "done"

    async def call_now(self, **options: Any) -> ToolAnswer:
        return await call_tool(
            Registry([self.tool]),
            "work",
            {},
            CallContext(user_id="ann"),
            functions={"work": self.work},
            limiter=self.limiter,
            clock=self.clock,
            guards=self.guards,
            **options,
        )

    def call(self, **options: Any) -> ToolAnswer:
        return asyncio.run(self.call_now(**options))


def test_after_so_many_failures_no_call_is_made() -> None:
    """The refusal says why and when it is tried again; the call is not made."""
    service = Service()
    assert [service.call().circuit for _ in range(2)] == ["", "opened"]
    refused = service.call()
    assert service.calls == 2
    assert refused.fault_message == "Work was not called: it failed 2 times within 60 seconds"
    assert (refused.fault_name, refused.refused, refused.circuit) == ("CircuitOpen", True, "open")
    assert refused.fault_hint == "tried again in 30 seconds"
    assert refused.attempts == ()


def test_a_refused_call_leaves_no_row_and_is_not_counted() -> None:
    """Neither the journal nor the rate limit hears of a call that an open circuit refuses."""
    service = Service(security={"rateLimit": {"requests": 3, "window": 60_000}})
    heard: list[str] = []

    async def around(call: Any) -> ToolAnswer:
        heard.append("asked")
        return await call()

    answers = [service.call(around=around) for _ in range(5)]
    assert heard == ["asked", "asked"]
    assert [one.fault_name for one in answers[2:]] == ["CircuitOpen"] * 3


def test_a_probe_that_succeeds_closes_the_circuit() -> None:
    """After the time one call goes through; then all do."""
    service = Service()
    for _ in range(2):
        service.call()
    service.clock.advance(30)
    service.down = False
    assert service.call().circuit == "closed"
    assert service.call().value == "done"
    service.down = True
    assert service.call().circuit == ""  # it counts from nothing again
    assert service.call().circuit == "opened"


def test_a_probe_that_fails_begins_the_wait_again() -> None:
    """One failure is enough then."""
    service = Service()
    for _ in range(2):
        service.call()
    service.clock.advance(30)
    assert service.call().circuit == "opened"
    service.clock.advance(29)
    assert service.call().fault_hint == "tried again in 1 seconds"
    service.clock.advance(1)
    service.down = False
    assert service.call().circuit == "closed"


def test_only_one_call_is_the_probe() -> None:
    """While it is out, others are refused, and told so."""

    async def both() -> tuple[ToolAnswer, ToolAnswer]:
        service.gate = asyncio.Event()
        probe = asyncio.create_task(service.call_now())
        while service.calls < 3:
            await asyncio.sleep(0)
        other = await service.call_now()
        service.down = False
        service.gate.set()
        return await probe, other

    service = Service()
    for _ in range(2):
        service.call()
    service.clock.advance(30)
    probe, other = asyncio.run(both())
    assert (probe.value, probe.circuit) == ("done", "closed")
    assert (other.fault_name, other.fault_hint) == ("CircuitOpen", "one call is trying it now")


@pytest.mark.parametrize("where", ["in the call", "in the journal"])
def test_a_probe_that_is_cancelled_makes_room_for_the_next(where: str) -> None:
    """A turn that ends in the midst of the probe does not keep the tool closed for ever."""

    async def journal(call: Any) -> ToolAnswer:
        await asyncio.Event().wait()
        return await call()

    async def cancelled() -> None:
        service.gate = asyncio.Event()
        around = journal if where == "in the journal" else None
        task = asyncio.create_task(service.call_now(around=around))
        for _ in range(5):  # until it waits
            await asyncio.sleep(0)
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task

    service = Service()
    for _ in range(2):
        service.call()
    service.clock.advance(30)
    asyncio.run(cancelled())
    service.gate, service.down = None, False
    assert service.call().circuit == "closed"


def test_failures_of_long_ago_do_not_count() -> None:
    """Only those within the window do."""
    service = Service()
    service.call()
    service.clock.advance(60)
    assert service.call().circuit == ""
    assert service.call().circuit == "opened"


def test_the_usual_figures() -> None:
    """`true` means five failures within a minute, and half a minute of rest."""
    service = Service(rule=True)
    assert [service.call().circuit for _ in range(5)] == ["", "", "", "", "opened"]
    assert service.call().fault_message == (
        "Work was not called: it failed 5 times within 60 seconds"
    )


@pytest.mark.parametrize(
    ("answer", "failed"),
    [
        (ToolAnswer(value=1), False),
        (ToolAnswer(fault_message="down"), True),
        (ToolAnswer(fault_message="HTTP 503", http_status=503), True),
        (ToolAnswer(fault_message="HTTP 429", http_status=429), True),
        (ToolAnswer(fault_message="HTTP 404", http_status=404), False),
        (ToolAnswer(fault_message="no mapping", ran=True), False),
        (ToolAnswer(fault_message="no such argument", refused=True), None),
    ],
)
def test_what_counts_as_a_failure(answer: ToolAnswer, failed: bool | None) -> None:
    """A service that answers that the request is wrong works; a refused call tells nothing."""
    assert has_failed(answer) is failed


def test_other_tools_are_not_touched() -> None:
    """Each tool has a circuit of its own, each engine counts for itself."""
    service, other = Service(), Service()
    other.guards = service.guards
    for _ in range(2):
        service.call()
    assert other.call().circuit == "open"
    other.guards = Guards()
    assert other.call().circuit == ""
