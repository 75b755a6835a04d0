"""Promise: a reconcile function is asked with the call's own arguments and key, within its time."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from saywhy.testing.clock import FakeClock
from saywhy.tools.invocation import CallContext
from saywhy.tools.reconcile import Finding, find_out

CONTEXT = CallContext(session_id="s-1", user_id="u-1", key="s-1:4:2", tool="Work", attempt=2)


def ask(define: Any, function: Any, reconcile: Any = "look", **keys: Any) -> Finding:
    """What comes of asking."""
    tool = define(reconcile=reconcile, **keys)
    clock = FakeClock()
    return asyncio.run(find_out(tool, {"n": 1}, CONTEXT, functions={"look": function}, clock=clock))


def test_what_it_is_handed(define: Any) -> None:
    """The arguments and a context with key, attempt, session and user."""
    seen: list[Any] = []

    def look(args: Any, *, context: CallContext) -> Any:
        seen.append((args, context.key, context.attempt, context.session_id, context.user_id))
        return {"status": "done", "result": {"id": 7}}

    assert ask(define, look) == Finding("done", {"id": 7})
    assert seen == [({"n": 1}, "s-1:4:2", 2, "s-1", "u-1")]


async def later(args: Any) -> Any:
    await asyncio.sleep(0)
    return {"status": "failed", "error": "no money"}


def raises(args: Any) -> Any:
    raise ValueError("down")


@pytest.mark.parametrize(
    ("function", "finding"),
    [
        (later, Finding("failed", error="no money")),
        (lambda args: {"status": "not_done"}, Finding("not_done")),
        (lambda args: {"status": "unknown"}, Finding("unknown")),
        (lambda args: {"status": "failed"}, Finding("failed", error="it failed")),
        (raises, Finding("unknown", trouble="down")),
    ],
)
def test_what_it_answers(define: Any, function: Any, finding: Finding) -> None:
    """One of four; an exception leaves things as unknown as they were."""
    assert ask(define, function) == finding


@pytest.mark.parametrize("answer", [None, "done", {"status": "maybe"}, {"result": 1}])
def test_answers_that_say_nothing(define: Any, answer: Any) -> None:
    """Whatever else it answers is unknown, with the reason."""
    found = ask(define, lambda args: answer)
    assert found.status == "unknown"
    assert found.trouble == "it has to answer a status out of done, not_done, failed, unknown"


def test_results_that_no_conversation_holds(define: Any) -> None:
    """It cannot be gone on with, so it is unknown."""
    found = ask(define, lambda args: {"status": "done", "result": object()})
    assert found.status == "unknown"
    assert "object" in found.trouble


def test_its_time_is_limited(define: Any) -> None:
    """Five seconds, or what the tool says."""

    async def slow(args: Any) -> Any:
        await clock.sleep(3600)

    clock = FakeClock()
    for reconcile, ms in (("look", 5000), ({"function": "look", "timeout": 70}, 70)):
        clock = FakeClock()
        tool = define(reconcile=reconcile)
        work = find_out(tool, {}, CONTEXT, functions={"look": slow}, clock=clock)
        found = asyncio.run(work)
        assert found.trouble == f"Tool execution timeout after {ms}ms - look"


def test_tools_without_one(define: Any) -> None:
    """Nobody knows."""
    tool = define()
    work = find_out(tool, {}, CONTEXT, functions={}, clock=FakeClock())
    assert asyncio.run(work) == Finding("unknown")
