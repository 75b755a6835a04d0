"""Promise: every declaration of `pii` in flows and tools is read, whatever it stands on."""

from __future__ import annotations

from typing import Any

from saywhy.flows.compile import compile_flow
from saywhy.flows.load import load_definitions
from saywhy.flows.privacy import declared_in, sensitive_names
from saywhy.tools.tool import Tool, tool_from_definition
from saywhy.trace.masking.declared import NOTHING, Declared


def tool(**more: Any) -> Tool:
    """A local tool."""
    implementation = {"type": "local", "function": "look"}
    keys = {"id": "look", "name": "Look", "description": "x", "effect": "reads"}
    return tool_from_definition({**keys, "implementation": implementation, **more})


def declared(*steps: dict[str, Any], tools: tuple[Tool, ...] = (), **more: Any) -> Declared:
    """What is declared by one flow and some tools."""
    numbered = [{"id": f"s{number}", **step} for number, step in enumerate(steps)]
    library = load_definitions([{"id": "f", "name": "F", "steps": numbered, **more}])
    return declared_in(library.flows, tools)


def test_nothing_is_nothing() -> None:
    """So a conversation without personal data costs no more than before."""
    assert declared({"type": "SAY", "value": "x", "pii": False}, tools=(tool(),)) is NOTHING
    assert not NOTHING


def test_variables_parameters_and_paths() -> None:
    """Each by its name; a path in the flow's own list leads to cargo or names a variable."""
    found = declared(
        variables={"a": {"type": "string", "pii": True}, "b": {"type": "string"}},
        parameters=[{"name": "c", "pii": True}, {"name": "d"}],
        pii=["cargo.customer.ssn", "globals.pin", "e"],
    )
    assert found.variables == {"F": {"a", "c", "e"}}
    assert found.paths == (("cargo", "customer", "ssn"), ("globals", "pin"))


def test_steps_wherever_they_stand() -> None:
    """Also in branches; a question makes the flow one that asks, by a condition too."""
    inner = {"id": "in", "type": "SET", "variable": "x", "value": "1", "pii": True}
    case = {"type": "CASE", "branches": {"default": inner}}
    found = declared(case, {"type": "SAY-GET", "variable": "y", "value": "?", "pii": "x > 1"})
    assert found.steps == {("F", "/steps/0/branches/default")}
    assert found.asking
    form = {"type": "FORM", "variable": "f", "inputs": [{"name": "p", "kind": "text", "pii": True}]}
    assert declared(form).asking


def test_properties_of_tools() -> None:
    """At any depth, under the id and the name of the tool."""
    ssn = {"type": "string", "pii": True}
    deep = {"people": {"type": "array", "items": {"type": "object", "properties": {"ssn": ssn}}}}
    made = tool(
        parameters={"type": "object", "properties": {"who": ssn, "how": {"type": "string"}}},
        returns={"type": "object", "properties": deep},
    )
    found = declared(tools=(made,))
    assert found.arguments == {"look": (("who",),), "Look": (("who",),)}
    assert found.answers == {"look": (("people", "ssn"),), "Look": (("people", "ssn"),)}
    flat = declared(tools=(tool(parameters={"who": ssn}),))
    assert flat.arguments["look"] == (("who",),)


def test_parts_of_answers_that_are_harmless() -> None:
    """At any depth, but not in something that is sensitive as a whole."""
    no, yes = {"type": "string", "pii": False}, {"type": "string", "pii": True}
    items = {"type": "array", "items": {"type": "object", "properties": {"id": no, "ssn": yes}}}
    whole = {"type": "object", "pii": True, "properties": {"id": no}}
    made = tool(
        returns={"type": "object", "properties": {"list": items, "whole": whole, "id": no}},
        parameters={"type": "object", "properties": {"who": yes}},
    )
    found = declared(tools=(made,))
    assert found.harmless["look"] == (("list", "id"), ("id",))
    assert found.answers["look"] == (("list", "ssn"), ("whole",))


def test_what_each_argument_is_made_of() -> None:
    """The paths in its template, also in an object."""
    call = {
        "type": "CALL-TOOL",
        "tool": "look",
        "args": {"a": "{{x.y}}", "b": {"c": "{{cargo.z}}"}},
    }
    sub = {
        "type": "FLOW",
        "value": "F",
        "parameters": {"p": "plain", "{{k}}": "{{x}}"},
        "pii": True,
    }
    found = declared(call, sub)
    assert found.parts == {
        ("F", "/steps/0"): {"a": (("x", "y"),), "b": (("cargo", "z"),)},
        ("F", "/steps/1"): {"p": ()},
    }


def test_a_question_for_a_declared_variable_is_a_sensitive_one() -> None:
    """A form's input as well; the host is told while it is open."""
    form = {"id": "b", "type": "FORM", "variable": "f", "inputs": [{"name": "a"}, {"name": "c"}]}
    steps = [{"id": "a", "type": "SAY-GET", "variable": "a", "value": "?"}, form]
    variables = {"a": {"type": "string", "pii": True}}
    library = load_definitions([{"id": "f", "name": "F", "steps": steps, "variables": variables}])
    assert sensitive_names(library.flows[0]) == {"a"}
    nodes = compile_flow(library.flows[0]).nodes
    assert nodes["/steps/0"].spec["pii"] is True
    assert [entry.get("pii") for entry in nodes["/steps/1"].spec["inputs"]] == [True, None]
