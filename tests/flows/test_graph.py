"""Promise: which flow leads to which, and where that goes in a circle or too deep."""

from __future__ import annotations

from typing import Any

from saywhy.flows.graph import circles, deepest_calls, edges_of, flow_graph
from saywhy.flows.load import load_definitions
from saywhy.flows.model import Library


def go(target: str, call_type: str | None = None, **keys: Any) -> dict[str, Any]:
    step = {"id": f"to_{target}", "type": "FLOW", "value": target, **keys}
    return step | ({"callType": call_type} if call_type else {})


def library(**flows: list[dict[str, Any]]) -> Library:
    return load_definitions(
        [{"id": name, "name": name.upper(), "steps": steps} for name, steps in flows.items()]
    )


def test_every_flow_step_is_an_edge() -> None:
    """Also in branches, in `onFail` (where it replaces by default) and in fallbacks."""
    say = {"id": "s", "type": "SAY", "value": "x"}
    case = {
        "id": "c",
        "type": "CASE",
        "branches": {"condition: 1": go("B"), "default": {**say, "onFail": go("b")}},
        "retryOnConditions": [{"fallbackStep": go("b", "call")}],
    }
    loaded = library(
        a=[case, go("{{next}}"), go("gone", "reboot"), {"type": "FLOW", "name": "b"}], b=[]
    )
    edges = flow_graph(loaded)
    assert [(edge.target, edge.call_type, edge.pointer, edge.conditional) for edge in edges] == [
        ("b", "call", "/steps/0/branches/condition: 1", True),
        ("b", "replace", "/steps/0/branches/default/onFail", True),
        ("b", "call", "/steps/0/retryOnConditions/0/fallbackStep", True),
        ("{{next}}", "call", "/steps/1", False),
        ("gone", "reboot", "/steps/2", False),
        ("b", "call", "/steps/3", False),
    ]
    assert [(edge.found, edge.dynamic) for edge in edges] == [
        *[(True, False)] * 3,
        (False, True),
        (False, False),
        (True, False),
    ]
    assert tuple(edges_of(loaded.flows[0], loaded)) == edges


def test_circles_are_found_once() -> None:
    """Each circle begins at its first flow and prefers the step that makes the stack grow."""
    loaded = library(
        a=[go("b", "replace"), go("b")],
        b=[go("c", "replace"), go("a", "replace")],
        c=[go("a", "reboot"), go("c")],
        d=[go("a")],
    )
    found = [[edge.flow for edge in circle] for circle in circles(flow_graph(loaded))]
    assert found == [["a", "b"], ["b", "c", "a"], ["c"]]
    first = next(circles(flow_graph(loaded)))
    assert first[0].call_type == "call"


def test_depth_counts_calls_only() -> None:
    """A replaced flow makes room, a reboot begins anew, circles are left out."""
    loaded = library(
        a=[go("b")], b=[go("c", "replace")], c=[go("d"), go("c")], d=[go("e", "reboot")], e=[]
    )
    depth = deepest_calls(flow_graph(loaded))
    assert depth == {"a": 3, "b": 2, "c": 2, "d": 1}


def test_a_long_chain_of_flows() -> None:
    """Thousands of flows are measured without going deep ourselves."""
    chain = library(**{f"f{n}": [go(f"f{n + 1}")] for n in range(2000)}, f2000=[])
    assert deepest_calls(flow_graph(chain))["f0"] == 2001
