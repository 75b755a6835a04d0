"""What happens when a step fails, as decisions."""

from __future__ import annotations

from typing import Any

import pytest

from saywhy.chart.outcome import Answer, Fail, Goto, Need, Return
from saywhy.chart.scope import Scope
from saywhy.flows.failures import after_error, after_fault, settle
from saywhy.flows.speech import QUEUE
from saywhy.flows.world import Options, World
from saywhy.testing import FakeClock
from tests.flows.conftest import (
    NOW,
    engine_of,
    flow,
    local_tool,
    put,
    say,
    scope_at,
    talk,
    use,
    world_of,
)

FALLBACK = {"id": "fb", **say("fallback")}


def stage(
    *, options: Options | None = None, effect: str = "once", **keys: Any
) -> tuple[World, Scope]:
    tool = {**local_tool("t"), "effect": effect}
    world = world_of(
        flow(use("t", variable="r", **keys), say("next")), tools=[tool], options=options
    )
    return world, scope_at(world)


def rule(pattern: str, action: str, **more: Any) -> dict[str, Any]:
    return {"errorPattern": pattern, "action": action, **more}


FALL_BACK = rule("BOOM", "fallback", fallbackStep=FALLBACK)


def fault(message: str, **facts: Any) -> Answer:
    return Answer(error=message, facts=facts)


@pytest.mark.parametrize(
    ("keys", "to"),
    [
        ({"retryOnConditions": [rule("boom", "skip")]}, "/steps/1"),
        ({"retryOnConditions": [rule("x", "skip"), FALL_BACK]},
         "/steps/0/retryOnConditions/1/fallbackStep"),
        ({"retryOnConditions": [rule("boom", "ask_user")]}, "/steps/7"),
        ({"onFail": FALLBACK}, "/steps/0/onFail"),
        ({"onFail": FALLBACK, "retryOnConditions": [rule("boom", "fallback")]}, "/steps/0/onFail"),
    ],
)  # fmt: skip
def test_where_a_failure_leads(keys: dict[str, Any], to: str) -> None:
    """As the author's rules say, the first that matches."""
    world, scope = stage(**keys)
    scope.keep("lastAsk", "/steps/7")
    assert after_fault(world, scope.node, scope, fault("boom")) == Goto(to)


def test_the_error_text_is_stored_for_on_fail_only() -> None:
    """From the last "Failed" on; a skipped step stores nothing."""
    world, scope = stage(onFail=FALLBACK)
    after_fault(world, scope.node, scope, fault("Failed a: Failed b"))
    assert scope.peek(("v1", "r")) == "Failed b"
    world, scope = stage(retryOnConditions=[rule("boom", "skip")])
    after_fault(world, scope.node, scope, fault("boom"))
    assert not scope.has("v1", "r")


def test_a_retry_is_a_pause_and_counts() -> None:
    """One more each time, until none are left; the record says why."""
    world, scope = stage(maxRetries=2, retryDelay=100, retryStrategy="linear")
    delays: list[Any] = []
    for _ in range(2):
        outcome = after_fault(world, scope.node, scope, fault("timeout"))
        assert isinstance(outcome, Need)
        assert outcome.kind == "timer"
        delays.append(outcome.args["ms"])
    assert delays == [100, 200]
    assert scope.facts["failure"]["action"] == "retry"
    outcome = after_fault(world, scope.node, scope, fault("timeout"))
    assert outcome == Return(how="failed", reason="timeout")
    assert scope.facts["failure"]["rule"] == "2 of 2 retries used"
    assert scope.kept("attempt") == 0


def test_how_often_a_passing_failure_is_tried_again_is_an_option() -> None:
    """Zero switches it off."""
    world, scope = stage(options=Options(default_max_retries=0))
    outcome = after_fault(world, scope.node, scope, fault("timeout"))
    assert isinstance(outcome, Return)


@pytest.mark.parametrize(
    ("effect", "again"), [("once", False), ("repeatable", True), ("reads", True)]
)
def test_what_may_have_happened_is_not_repeated_blindly(effect: str, again: bool) -> None:
    """Unless doing it twice does no harm, or the author wrote how often."""
    world, scope = stage(effect=effect)
    answer = fault("timeout", may_have_happened=True)
    outcome = after_fault(world, scope.node, scope, answer)
    assert isinstance(outcome, Need)
    assert outcome.kind == ("timer" if again else "settle")
    world, scope = stage(effect=effect, maxRetries=1)
    assert isinstance(after_fault(world, scope.node, scope, answer), Need)


def test_the_status_counts_as_a_number() -> None:
    """A 500 in the facts is a server's failure; in an amount it is not."""
    world, scope = stage()
    assert isinstance(after_fault(world, scope.node, scope, fault("no", status=500)), Need)
    world, scope = stage()
    outcome = after_fault(world, scope.node, scope, fault("paid 500 of 503"))
    assert isinstance(outcome, Return)


def test_a_failure_that_nobody_takes_care_of_is_told() -> None:
    """In the conversation's language, with the tool's name."""
    world, scope = stage()
    scope.state.scopes["session"]["language"] = "es"
    outcome = after_fault(world, scope.node, scope, fault("sin dinero"))
    assert outcome == Return(how="failed", reason="sin dinero")
    assert scope.peek(QUEUE)[0][0] == "t no funcionó: sin dinero"


def test_an_error_of_another_step_fails_its_flow_unless_something_is_declared() -> None:
    """No step but a tool is tried again of itself."""
    world = world_of(flow(put("a", "1"), put("b", "1", onFail=FALLBACK), say("x")))
    plain = scope_at(world)
    error = ValueError("timeout")
    assert after_error(world, plain.node, plain, error) == Fail(error)
    declared = scope_at(world, "/steps/1")
    outcome = after_error(world, declared.node, declared, error)
    assert outcome == Goto("/steps/1/onFail")
    assert not declared.has("v1", "b"), "only a tool's variable holds the error text"


def test_settling_is_written_only_where_something_was_counted() -> None:
    """A step that never failed leaves no trace of it."""
    _, scope = stage()
    settle(scope)
    assert scope.data == {}


async def test_pauses_last_as_long_as_they_say() -> None:
    """No retry comes early."""
    clock = FakeClock(NOW)
    calls: list[float] = []

    def fail(args: dict[str, Any]) -> None:
        calls.append(clock.now() - NOW)
        raise RuntimeError("timeout")

    for strategy, wanted in (
        ("immediate", [0, 100, 200]),
        ("linear", [0, 100, 300]),
        ("exponential", [0, 1100, 3200]),
    ):
        calls.clear()
        clock = FakeClock(NOW)
        made = engine_of(
            flow(use("t", maxRetries=2, retryDelay=100, retryStrategy=strategy)),
            tools=[local_tool("t")],
            functions={"t": fail},
            clock=clock,
        )
        await talk(made, "Main")
        assert calls == wanted


async def test_a_local_tool_has_five_seconds() -> None:
    """Unless its definition says otherwise; a time-out is not repeated blindly."""
    clock = FakeClock(NOW)
    started: list[float] = []

    async def slow(args: dict[str, Any]) -> None:
        started.append(clock.now())
        await clock.sleep(3600)

    tool = local_tool("t")
    made = engine_of(flow(use("t")), tools=[tool], functions={"t": slow}, clock=clock)
    session = await talk(made, "Main")
    assert session.response == (
        "I asked for t, but it is not known yet whether it happened. "
        "Somebody is looking at it; please do not ask for it again meanwhile."
    )
    (unknown,) = session.unknown
    assert unknown["error"] == "Tool execution timeout after 5000ms - t"
    assert (len(started), clock.now() - NOW) == (1, 5000)
