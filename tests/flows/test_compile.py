"""A flow as a chart."""

from __future__ import annotations

from typing import Any

from saywhy.chart.model import Chart
from saywhy.flows.compile import compile_flow
from saywhy.flows.load import load_definitions
from tests.flows.conftest import flow

SAY = {"id": "a", "type": "SAY", "value": "a"}


def chart_of(*steps: dict[str, Any], **keys: Any) -> Chart:
    return compile_flow(load_definitions([flow(*steps, **keys)]).flows[0])


def ways(chart: Chart) -> dict[str, str | None]:
    return {node.id: node.next for node in chart.nodes.values()}


def test_steps_follow_each_other() -> None:
    """Each step is a node named by its pointer, the last one goes nowhere."""
    chart = chart_of(SAY, SAY)
    assert chart.start == "/steps/0"
    assert ways(chart) == {"/steps/0": "/steps/1", "/steps/1": None}
    assert [node.kind for node in chart.nodes.values()] == ["SAY", "SAY"]


def test_a_flow_without_steps_has_no_start() -> None:
    """It ends as soon as it begins."""
    assert chart_of().start is None


def test_branches_meet_behind_their_step() -> None:
    """A branch goes on where its CASE does, and its CASE governs whether it runs."""
    chart = chart_of(
        {
            "type": "CASE",
            "branches": {
                "condition: a": SAY,
                "default": {"type": "SWITCH", "variable": "b", "branches": {"1": SAY}},
            },
        },
        SAY,
    )
    inner = "/steps/0/branches/default"
    assert ways(chart)["/steps/0/branches/condition: a"] == "/steps/1"
    assert ways(chart)[inner] == "/steps/1"
    assert ways(chart)[f"{inner}/branches/1"] == "/steps/1"
    assert chart.nodes[f"{inner}/branches/1"].under == (inner,)
    assert chart.nodes["/steps/0"].spec["branches"] == [
        ["condition: a", "/steps/0/branches/condition: a"],
        ["default", inner],
    ]
    assert chart.nodes["/steps/0"].edges == (
        ("/steps/0/branches/condition: a", "condition: a"),
        (inner, "default"),
    )


def test_what_a_branch_may_leave_out_stands_under_it() -> None:
    """Steps behind a branch that ends the flow run because it was not taken."""
    leaving = {"id": "x", "type": "RETURN"}
    replacing = {"id": "x", "type": "FLOW", "value": "Other", "callType": "replace"}
    for branch in (leaving, replacing):
        chart = chart_of({"type": "CASE", "branches": {"condition: a": branch}}, SAY, SAY)
        assert chart.nodes["/steps/1"].under == chart.nodes["/steps/2"].under == ("/steps/0",)
    harmless = chart_of({"type": "CASE", "branches": {"condition: a": SAY}}, SAY)
    assert harmless.nodes["/steps/1"].under == ()


def test_on_fail_steps_go_on_behind_the_failed_one() -> None:
    """A single step, and each of a list in its order."""
    chart = chart_of({"type": "CALL-TOOL", "tool": "t", "onFail": [SAY, SAY]}, SAY)
    assert chart.nodes["/steps/0"].spec["onFail"] == "/steps/0/onFail/0"
    assert ways(chart)["/steps/0/onFail/0"] == "/steps/0/onFail/1"
    assert ways(chart)["/steps/0/onFail/1"] == "/steps/1"


def test_an_on_fail_step_may_drop_the_rest() -> None:
    """With `callType` replace on one of them the flow ends behind the whole list."""
    dropping = {**SAY, "callType": "replace"}
    chart = chart_of({"type": "CALL-TOOL", "tool": "t", "onFail": [dropping, SAY]}, SAY)
    assert ways(chart)["/steps/0/onFail/0"] == "/steps/0/onFail/1"
    assert ways(chart)["/steps/0/onFail/1"] is None


def test_a_flow_in_on_fail_replaces_unless_it_says_otherwise() -> None:
    """Elsewhere the default is to call."""
    for given, wanted in ((None, "replace"), ("call", "call"), ("reboot", "reboot")):
        step: dict[str, Any] = {"id": "f", "type": "FLOW", "value": "Other"}
        if given:
            step["callType"] = given
        chart = chart_of({"type": "CALL-TOOL", "tool": "t", "onFail": step})
        spec = chart.nodes["/steps/0/onFail"].spec
        assert (spec["callType"], spec["rescue"]) == (wanted, True)
    assert "callType" not in chart_of({"type": "FLOW", "value": "Other"}).nodes["/steps/0"].spec


def test_fallback_steps_are_known_by_their_rule() -> None:
    """Each rule of `retryOnConditions` leads to its own step, which goes on behind."""
    rules = [
        {"errorPattern": "a", "action": "skip"},
        {"errorPattern": "b", "action": "fallback", "fallbackStep": SAY},
    ]
    chart = chart_of({"type": "CALL-TOOL", "tool": "t", "retryOnConditions": rules}, SAY)
    target = chart.nodes["/steps/0"].spec["fallbacks"]["1"]
    assert chart.nodes[target].next == "/steps/1"
    assert (target, "fallback") in chart.nodes["/steps/0"].edges


def test_the_chart_holds_what_a_run_needs_of_its_flow() -> None:
    """Version, scope, prompts, defaults and declared names, and nothing of its place."""
    keys: dict[str, Any] = {
        "version": "2.1",
        "scope": "isolated",
        "interruptable": True,
        "prompt": "P",
        "prompt_es": "Pe",
        "variables": {"a": {"type": "number", "value": 0}, "b": {"type": "string"}},
        "parameters": [{"name": "c"}, {"name": "a"}],
    }
    assert chart_of(SAY, **keys).meta == {
        "version": "2.1",
        "scope": "isolated",
        "interruptable": True,
        "prompts": {"": "P", "es": "Pe"},
        "defaults": {"a": 0},
        "declared": ["a", "b", "c"],
    }


def test_a_chart_survives_json_and_keeps_its_digest() -> None:
    """Stored charts run sessions of older flows."""
    chart = chart_of(
        {"type": "CALL-TOOL", "tool": "t", "onFail": SAY, "note": {"of the": "author"}}, SAY
    )
    again = Chart.from_json(chart.to_json())
    assert again == chart
    assert again.nodes["/steps/0"].spec["note"] == {"of the": "author"}
    assert chart_of(SAY).digest != chart_of({**SAY, "value": "b"}).digest
