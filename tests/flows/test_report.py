"""Promise: a program reads the same findings as a person, for one flow or for all."""

from __future__ import annotations

import pytest

from saywhy.errors import UnknownFlow
from saywhy.flows.load import load_definitions
from saywhy.flows.report import begins, validate_all, validate_flow

FLOWS = [
    {
        "id": "pay",
        "name": "Pay",
        "version": "1",
        "primary": True,
        "prompt": "Pay",
        "description": "Pay a bill",
        "steps": [
            {"id": "a", "type": "SAY", "value": "{{amount}}"},
            {"id": "b", "type": "FLOW", "value": "Ask"},
            {"id": "c", "type": "FLOW", "value": "{{next}}", "callType": "replace"},
        ],
    },
    {
        "id": "ask",
        "name": "Ask",
        "version": "1",
        "steps": [{"id": "a", "type": "SAY-GET", "variable": "next", "value": "Where?"}],
    },
    {"id": "alone", "name": "Alone", "steps": [{"id": "a", "type": "SAY"}]},
]
LIBRARY = load_definitions(FLOWS)


def test_one_flow_with_all_it_leads_to() -> None:
    """Problems of other flows do not count."""
    report = validate_flow(LIBRARY, "Pay", functions=[], globals=[])
    assert report["isValid"] is False
    (error,) = report["errors"]
    assert error.startswith('/0/steps/0/value: no variable named "amount" can be set by this point')
    assert report["warnings"] == []
    assert report["visitedFlows"] == ["pay", "ask"]
    assert report["flowGraph"] == [
        {
            "from": "pay",
            "to": "ask",
            "step": "b",
            "pointer": "/steps/1",
            "callType": "call",
            "found": True,
            "dynamic": False,
        },
        {
            "from": "pay",
            "to": "{{next}}",
            "step": "c",
            "pointer": "/steps/2",
            "callType": "replace",
            "found": False,
            "dynamic": True,
        },
    ]
    assert validate_flow(LIBRARY, "ask")["isValid"] is True


def test_names_handed_over_count() -> None:
    """The host's globals make the unknown name a known one."""
    assert validate_flow(LIBRARY, "pay", globals=["amount"])["errors"] == []


def test_a_flow_that_does_not_exist() -> None:
    """Asking for it is a mistake of the caller."""
    with pytest.raises(UnknownFlow, match='no flow has the id or name "payy"') as raised:
        validate_flow(LIBRARY, "payy")
    assert raised.value.hint == 'did you mean "pay"?'


def test_the_whole_library() -> None:
    """One report for each begin, the flows no begin leads to, and figures."""
    report = validate_all(LIBRARY, functions=[], globals=[])
    assert report["isValid"] is False
    assert list(report["flows"]) == ["pay"]
    assert report["skipped"] == ["alone"]
    assert report["figures"] == {
        "flows": 3,
        "primary": 1,
        "steps": 5,
        "tools": 0,
        "checked": 2,
        "skipped": 1,
        "errors": 2,
        "warnings": 1,
        "notes": 0,
    }
    assert any("SAY has no `value`" in error for error in report["errors"])


def test_begins() -> None:
    """Primary flows; without any, those that no other flow leads to; in a circle, all."""
    assert [flow.id for flow in begins(LIBRARY)] == ["pay"]
    helpers = load_definitions([{**FLOWS[0], "primary": False}, *FLOWS[1:]])
    assert [flow.id for flow in begins(helpers)] == ["pay", "alone"]
    step = {"id": "s", "type": "FLOW", "callType": "replace"}
    circle = load_definitions(
        [
            {"id": "a", "name": "a", "steps": [{**step, "value": "b"}]},
            {"id": "b", "name": "b", "steps": [{**step, "value": "a"}]},
        ]
    )
    assert [flow.id for flow in begins(circle)] == ["a", "b"]
