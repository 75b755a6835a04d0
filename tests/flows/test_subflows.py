"""FLOW: what a call, a replacement and a reboot ask of the engine."""

from __future__ import annotations

from typing import Any

import pytest

from saywhy.chart.outcome import Call, Goto, Return
from saywhy.chart.scope import Scope
from saywhy.errors import FlowExecutionError
from saywhy.flows.speech import QUEUE, TENTATIVE
from saywhy.flows.subflows import call_flow
from saywhy.flows.world import World
from saywhy.values import UNDEFINED
from tests.flows.conftest import ask, engine_of, flow, run, say, scope_at, talk, world_of


def stage(step: dict[str, Any], **target: Any) -> tuple[World, Scope]:
    world = world_of(flow(step, say("next")), flow(say("x"), name="Sub", **target))
    scope = scope_at(world, a=1)
    scope.keep("input", ["hi", 3])
    scope.keep("tx", "tx-main")
    return world, scope


@pytest.mark.parametrize(("kind", "scope_kind"), [("call", "shared"), ("call", "isolated")])
def test_a_call_shares_variables_or_opens_its_own(kind: str, scope_kind: str) -> None:
    """The child knows its caller's words and transaction; the caller goes on behind the call."""
    world, scope = stage(run("Sub", callType=kind, parameters={"p": "{{a}}"}), scope=scope_kind)
    outcome = call_flow(world, scope.node, scope)
    assert isinstance(outcome, Call)
    assert (outcome.then, outcome.tail) == ("/steps/1", False)
    assert (outcome.scope == "v1") is (scope_kind == "shared")
    assert scope.peek((outcome.scope, "p")) == 1
    assert outcome.data["initiator"] == "sub-flow"
    assert (outcome.data["parent"], outcome.data["input"]) == ("tx-main", ["hi", 3])
    assert ("v1", "a") in scope.reads


def test_a_replacement_takes_the_callers_place() -> None:
    """It belongs to whoever called the flow it replaces."""
    world, scope = stage(run("Sub", callType="replace"))
    scope.keep("parent", "tx-above")
    outcome = call_flow(world, scope.node, scope)
    assert isinstance(outcome, Call)
    assert (outcome.tail, outcome.scope) == (True, "v1")
    assert (outcome.data["initiator"], outcome.data["parent"]) == ("replacement", "tx-above")


def test_a_reboot_ends_all_and_begins_afresh() -> None:
    """The texts and the placeholder stay unless they are to be discarded."""
    for discard in (False, True):
        world, scope = stage(run("Sub", callType="reboot", discardSay=discard))
        scope.state.scopes["session"] |= {"queue": [["said", 1]], "tentative": "Processing"}
        outcome = call_flow(world, scope.node, scope)
        assert isinstance(outcome, Return)
        assert (outcome.unwind, outcome.how) == ("all", "rebooted")
        assert outcome.reason == "System rebooted to flow Sub"
        assert outcome.then is not None
        assert outcome.then.scope != "v1"
        assert (scope.peek(QUEUE) is UNDEFINED) is discard
        assert (scope.peek(TENTATIVE) is UNDEFINED) is discard


def test_recoveries_are_told_apart() -> None:
    """A transaction says that its flow was begun by a failure."""
    for kind, initiator in (
        ("call", "onFail-recovery"),
        ("replace", "onFail-recovery"),
        ("reboot", "reboot-recovery"),
    ):
        step = {
            "type": "CALL-TOOL",
            "tool": "t",
            "onFail": {"id": "f", **run("Sub", callType=kind)},
        }
        world, scope = stage(step)
        handler = scope.chart.nodes["/steps/0/onFail"]
        outcome = call_flow(world, handler, scope)
        opened = outcome.then if isinstance(outcome, Return) else outcome
        assert isinstance(opened, Call)
        assert opened.data["initiator"] == initiator


@pytest.mark.parametrize("value", ["Nowhere", "", "{{'No' + 'where'}}", "{{ghost}}"])
def test_an_unknown_flow_is_passed_over(value: str) -> None:
    """With a warning that names it and the step."""
    world, scope = stage(run(value))
    assert call_flow(world, scope.node, scope) == Goto("/steps/1")
    assert scope.warnings[-1].endswith("; the step does nothing")
    assert "/0/steps/0" in scope.warnings[-1]


def test_routing_is_no_flow() -> None:
    """Only flows of the author's can be called."""
    from saywhy.flows.turn import routing_chart

    world, scope = stage(run("(routing)"))
    world.charts.add(routing_chart())
    assert call_flow(world, scope.node, scope) == Goto("/steps/1")


@pytest.mark.parametrize("parameters", [None, [], "text", {}])
def test_parameters_that_are_none(parameters: Any) -> None:
    """Nothing is passed."""
    world, scope = stage(run("Sub", parameters=parameters))
    call_flow(world, scope.node, scope)
    assert scope.facts["parameters"] == []


async def test_the_depth_of_one_stack_is_limited() -> None:
    """An interruption begins to count anew."""
    branches = {
        "condition: n === 'more'": {"id": "b", **run("Deep")},
        "default": {"id": "c", **say("up")},
    }
    engine = engine_of(
        flow(run("Deep"), interruptable=True),
        flow(ask("n"), {"type": "CASE", "branches": branches}, name="Deep", interruptable=True),
        flow(run("Deep"), name="Other"),
        max_depth=4,
    )
    session = await talk(engine, "Main", "more", "more")
    other = await talk(engine, "Other", "more", session=session)
    assert [len(stack) for stack in other.flow_stacks] == [4, 3]
    with pytest.raises(FlowExecutionError, match="Maximum recursion depth reached: 4 frames"):
        await talk(engine, "more", session=session)
