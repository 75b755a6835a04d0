"""CASE and SWITCH leave the evidence of what they decided."""

from __future__ import annotations

from typing import Any

import pytest

from saywhy.chart.commit import Decision
from saywhy.chart.outcome import Goto
from saywhy.errors import FlowExecutionError
from saywhy.flows.branching import case, switch
from tests.flows.conftest import flow, say, scope_at, world_of

A, B, C = ({"id": name, **say(name)} for name in "abc")


def case_step(**branches: dict[str, Any]) -> dict[str, Any]:
    return {"type": "CASE", "branches": branches}


def decided(decision: Decision | None) -> list[tuple[str, bool, str]]:
    assert decision is not None
    return [(one.text, one.result, one.error) for one in decision.conditions]


def test_a_case_tells_every_condition_up_to_the_first_that_holds() -> None:
    """With the values it read, and why it counted as false where it could not be told."""
    branches = {
        "condition: ghost.x": A,
        "condition: amount > limit": B,
        "condition: never_asked": C,
        "default": C,
    }
    world = world_of(flow({"type": "CASE", "branches": branches}), globals={"limit": 5})
    scope = scope_at(world, amount=6)
    outcome = case(world, scope.node, scope)
    assert outcome == Goto("/steps/0/branches/condition: amount > limit")
    assert decided(scope.decision) == [
        ("ghost.x", False, "ReferenceError: ghost is not defined"),
        ("amount > limit", True, ""),
    ]
    assert scope.decision is not None
    assert scope.decision.conditions[1].read == ((("v1", "amount"), 6), (("globals", "limit"), 5))
    assert not scope.decision.default


def test_a_case_without_match_takes_the_default_and_says_so() -> None:
    """All conditions stand in the record, none of them true."""
    world = world_of(flow({"type": "CASE", "branches": {"condition: a": A, "default": B}}))
    scope = scope_at(world, a=0)
    assert case(world, scope.node, scope) == Goto("/steps/0/branches/default")
    assert scope.decision is not None
    assert (scope.decision.chosen, scope.decision.default) == ("default", True)


def test_a_case_reads_the_users_words() -> None:
    """A condition on userInput has the words as its evidence."""
    world = world_of(flow({"type": "CASE", "branches": {"condition: userInput === 'yes'": A}}))
    scope = scope_at(world)
    scope.keep("input", ["yes", 4])
    case(world, scope.node, scope)
    assert scope.decision is not None
    assert scope.decision.conditions[0].read == ((("input", "4"), "yes"),)


def test_a_case_that_nothing_fits() -> None:
    """The error says what to add."""
    world = world_of(flow({"type": "CASE", "branches": {"condition: false": A, "odd": B}}))
    scope = scope_at(world)
    with pytest.raises(FlowExecutionError, match="no conditions matched") as caught:
        case(world, scope.node, scope)
    assert caught.value.hint == "add a `default` branch"


@pytest.mark.parametrize(
    ("value", "branch"),
    [(1, "1"), (1.0, "1"), ("1", "1"), (True, "true"), (None, "null"), ("x", "default")],
)
def test_a_switch_compares_texts(value: Any, branch: str) -> None:
    """1, 1.0 and "1" are one branch."""
    branches = {"1": A, "true": B, "null": C, "default": A}
    world = world_of(flow({"type": "SWITCH", "variable": "v", "branches": branches}))
    scope = scope_at(world, v=value)
    assert switch(world, scope.node, scope) == Goto(f"/steps/0/branches/{branch}")
    assert scope.decision is not None
    assert scope.decision.default is (branch == "default")
    assert scope.reads == [("v1", "v")]
    assert [one.text for one in scope.decision.conditions] == [
        "v is 1",
        "v is true",
        "v is null",
    ]


def test_a_switch_on_a_global_reads_the_global() -> None:
    """The evidence names where the value stands."""
    step = {"type": "SWITCH", "variable": "plan", "branches": {"gold": A, "default": B}}
    world = world_of(flow(step), globals={"plan": "gold"})
    scope = scope_at(world)
    assert switch(world, scope.node, scope) == Goto("/steps/0/branches/gold")
    assert scope.reads == [("globals", "plan")]


@pytest.mark.parametrize(
    ("value", "told"), [("", ""), (None, "null"), ([1], "[1]"), ("x", "x"), (0, "0")]
)
def test_a_switch_that_nothing_fits(value: Any, told: str) -> None:
    """The error tells the value, also one that is empty."""
    world = world_of(flow({"type": "SWITCH", "variable": "v", "branches": {"a": A}}))
    scope = scope_at(world, v=value)
    with pytest.raises(FlowExecutionError) as caught:
        switch(world, scope.node, scope)
    assert str(caught.value) == f'No branch fits the value "{told}" of v.'
