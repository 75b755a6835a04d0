"""What a call hands over, as a cause: too little, one thing for another, kept to itself."""

from __future__ import annotations

from typing import Any

from saywhy import Reply, Trace
from saywhy.trace.causes.chain import Cause
from tests.faults.playing import had


async def traced(flows: dict[str, Any], turns: list[str], **more: Any) -> Trace:
    """The record of a dialogue."""
    played = await had({"flows": flows, "turns": turns, **more})
    await played.close()
    return played.trace


def one(trace: Trace, name: str, part: str) -> Cause:
    """The likeliest cause of that name, of some words of the newest reply."""
    return next(cause for cause in trace.why(Reply(None, part)).ranked if name in cause.names)


def asks(name: str) -> dict[str, Any]:
    return {"id": f"ask-{name}", "type": "SAY-GET", "variable": name, "value": f"{name}?"}


def says(text: str) -> dict[str, Any]:
    return {"id": "tell", "type": "SAY", "value": text}


async def test_a_call_that_hands_over_too_little() -> None:
    """What an earlier call had handed over is told to come from there, and the call is named."""
    flows = {
        "Walls": {
            "steps": [
                asks("one"),
                {"id": "a", "type": "FLOW", "value": "Paint", "parameters": {"area": "{{one}}"}},
                asks("two"),
                {"id": "b", "type": "FLOW", "value": "Paint"},
                says("{{cans}} cans."),
            ]
        },
        "Paint": {
            "parameters": [{"name": "area", "internal": True, "description": "m2"}],
            "steps": [
                {"id": "sum", "type": "SET", "variable": "cans", "value": "Number(area) / 5"}
            ],
        },
    }
    trace = await traced(flows, ["Walls", "20", "45"])
    call = one(trace, "step:Walls/b", "4 cans")
    assert call.ref == "flow:Paint"
    assert "it hands over no area" in call.details
    assert "the call of Paint hands over none" in one(trace, "variable:area", "4 cans").details


async def test_one_end_where_the_other_is_wanted() -> None:
    """An argument for the start that is filled with the end is told."""
    hire = {"takes": {"from": "string", "until": "string"}, "effect": "reads", "kind": "echo"}
    args = {"from": "{{end}}", "until": "{{start}}"}
    call = {"id": "hire", "type": "CALL-TOOL", "tool": "hire", "args": args, "variable": "hired"}
    flows = {"Boat": {"steps": [asks("start"), asks("end"), call, says("From {{hired.from}}.")]}}
    trace = await traced(flows, ["Boat", "May", "June"], tools={"hire": hire})
    found = one(trace, "step:Boat/hire", "From June")
    assert "from is filled with end" in found.details
    assert "crosswise" in found.signs


async def test_one_variable_in_two_places() -> None:
    """A variable that fills two arguments of one call is told."""
    hire = {"takes": {"a": "string", "b": "string"}, "effect": "reads", "kind": "echo"}
    args = {"a": "{{left}}", "b": "{{left}}"}
    call = {"id": "mix", "type": "CALL-TOOL", "tool": "mix", "args": args, "variable": "mixed"}
    flows = {"Mix": {"steps": [asks("left"), asks("right"), call, says("With {{mixed.b}}.")]}}
    trace = await traced(flows, ["Mix", "red", "blue"], tools={"mix": hire})
    assert "left stands in two places of the call" in one(trace, "step:Mix/mix", "red").details


async def test_a_flow_that_keeps_its_variable_to_itself() -> None:
    """What a flow with variables of its own set under the same name stands beside the value."""
    flows = {
        "Order": {
            "variables": {"total": {"type": "number", "description": "sum", "value": 10}},
            "steps": [
                asks("what"),
                {"id": "add", "type": "FLOW", "value": "Extra"},
                says("{{total}} EUR"),
            ],
        },
        "Extra": {
            "scope": "isolated",
            "steps": [{"id": "sum", "type": "SET", "variable": "total", "value": "15"}],
        },
    }
    trace = await traced(flows, ["Order", "lamp"])
    found = one(trace, "step:Extra/sum", "10 EUR")
    assert found.details == ("Extra has variables of its own",)
    assert "total stays inside" in one(trace, "step:Order/add", "10 EUR").details


async def test_a_flow_that_gives_an_agent_too_little() -> None:
    """What a flow found out last and does not hand back is told, with the step that found it."""
    answered = {"when": {"last": "most"}, "reply": "At most 5."}
    wanted = {"when": {"user": "dose"}, "tool_calls": [{"name": "dosing", "arguments": {}}]}
    flow_tool = {"flow": "dosing", "returns": ["most"]}
    desk = {"system": "You help.", "tools": [flow_tool], "script": [answered, wanted]}
    help_ = {"id": "help", "type": "AGENT", "agent": "desk", "value": "{{w}}", "variable": "told"}
    flows = {
        "Ask": {"steps": [asks("w"), help_, says("{{told}}")]},
        "Dosing": {
            "steps": [
                {"id": "adult", "type": "SET", "variable": "most", "value": "5"},
                {"id": "child", "type": "SET", "variable": "child", "value": "2"},
            ]
        },
    }
    trace = await traced(flows, ["Ask", "which dose?"], agents={"desk": desk})
    gave = one(trace, "tool:dosing", "At most 5.")
    assert gave.ref == "flow:Dosing"
    assert gave.details == ("not child",)
    assert one(trace, "step:Dosing/child", "At most 5.").kind == "value"


async def test_the_call_of_a_form_is_called_by_the_form() -> None:
    """A form names the call it ends with itself; the cause has the name its author gave."""
    hire = {"takes": {"day": "string"}, "effect": "once", "kind": "echo"}
    submit = {"tool": "hire", "args": {"day": "{{form.day}}"}, "variable": "hired"}
    inputs = [{"name": "day", "kind": "date", "label": "day", "prompt": "Which day?"}]
    form = {"id": "form", "type": "FORM", "variable": "form", "inputs": inputs, "submit": submit}
    flows = {"Bike": {"steps": [form, says("Fetch it on {{hired.day}}.")]}}
    trace = await traced(flows, ["Bike", "2031-05-03"], tools={"hire": hire})
    names = {name for cause in trace.why(Reply(None, "Fetch")).causes for name in cause.names}
    assert "step:Bike/form" in names
    assert not [name for name in names if "form_submit" in name]
