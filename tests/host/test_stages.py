"""Promise: each stage shows what it is about and no more, to a text model and to a classifier."""

from __future__ import annotations

import json
from typing import Any

from saywhy.host import (
    FlowOption,
    ParameterOption,
    build_flow_stage,
    build_parameter_stage,
    decode_flow_llm,
    decode_flow_system_one,
    decode_parameters_llm,
    decode_parameters_system_one,
)

PAY = FlowOption(
    "pay",
    "Pay",
    "Pays somebody",
    (
        ParameterOption("amount", "how much", "number"),
        ParameterOption("speed", "how fast", enum=("Normal", "Express")),
        ParameterOption("own", "the flow's own", internal=True),
        ParameterOption("urgent", "", "boolean"),
    ),
    "high",
    "Express is for euros only.",
)
HOURS = FlowOption("hours", "Hours", "Tells the opening hours")
CHAT = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]


def test_stage_1_shows_names_and_descriptions_only() -> None:
    """Neither parameters nor rules nor risk are shown where only the flow is to be chosen."""
    call = build_flow_stage(" pay Bo ", CHAT, [PAY, HOURS])
    assert call.user == (
        "<chat-history>\nuser: Hi\nassistant: Hello\n</chat-history>\n\n"
        "<user-input>\npay Bo\n</user-input>\n\n"
        "<available-flows>\n- Pay: Pays somebody\n- Hours: Tells the opening hours\n"
        "</available-flows>"
    )
    everything = call.system + call.user + json.dumps(call.request)
    for hidden in ("amount", "Express", "high", "own"):
        assert hidden not in everything
    assert 'If no flow fits: {"flowName":"None"}' in call.system


def test_the_request_of_stage_1() -> None:
    """It says the stage, has the flows without parameters, and what to ask either executor."""
    call = build_flow_stage(" pay Bo ", CHAT, [PAY, HOURS])
    request: Any = call.request
    assert {key: request[key] for key in ("task", "stage", "input", "conversation", "flows")} == {
        "task": "detect_flow",
        "stage": 1,
        "input": "pay Bo",
        "conversation": CHAT,
        "flows": [
            {"id": "pay", "name": "Pay", "description": "Pays somebody", "parameters": []},
            {
                "id": "hours",
                "name": "Hours",
                "description": "Tells the opening hours",
                "parameters": [],
            },
        ],
    }
    assert request["llm"] == {"system": call.system, "user": call.user, "schema": call.schema}
    assert [one["id"] for one in request["systemOne"]["questions"]] == ["f0", "f1"]
    assert request.keys() == {
        "task", "stage", "input", "conversation", "flows", "llm", "systemOne"
    }  # fmt: skip


def test_stage_2_shows_the_parameters_of_one_flow() -> None:
    """Name, type, values and description, and the rules that span them; nothing internal."""
    call = build_parameter_stage(" pay Bo ", CHAT, PAY)
    assert call.user.endswith(
        "<user-input>\npay Bo\n</user-input>\n\n"
        "<parameters>\n"
        "- amount (number): how much\n"
        '- speed (string, one of: "Normal" | "Express"): how fast\n'
        "- urgent (boolean): \n"
        "</parameters>"
    )
    assert "Of these parameters: Express is for euros only." in call.system
    assert "own" not in json.loads(call.schema)["json_schema"]["schema"]["properties"]["parameters"]
    assert "the flow's own" not in call.system + call.user + json.dumps(call.request)


def test_the_request_of_stage_2() -> None:
    """It has the one flow with its rules, and what to ask either executor."""
    call = build_parameter_stage(" pay Bo ", CHAT, PAY)
    request: Any = call.request
    assert (request["task"], request["stage"], request["input"]) == (
        "extract_parameters",
        2,
        "pay Bo",
    )
    (flow,) = request["flows"]
    assert flow == {
        "id": "pay",
        "name": "Pay",
        "description": "Pays somebody",
        "parameterInstructions": "Express is for euros only.",
        "parameters": [
            {"name": "amount", "description": "how much", "type": "number"},
            {
                "name": "speed",
                "description": "how fast",
                "type": "string",
                "enum": ["Normal", "Express"],
            },
            {"name": "urgent", "description": "", "type": "boolean"},
        ],
    }
    assert request["llm"] == {"system": call.system, "user": call.user, "schema": call.schema}
    assert [one["id"] for one in request["systemOne"]["questions"]] == ["p1v0", "p1v1", "p2"]


def test_a_flow_without_rules_has_none_on_the_wire() -> None:
    """Absent rules are absent, not empty text."""
    request: Any = build_parameter_stage("x", [], HOURS).request
    assert "parameterInstructions" not in request["flows"][0]
    assert "Of these parameters" not in request["llm"]["system"]


def test_both_executors_lead_to_the_same_reply() -> None:
    """Decoded from either, a stage gives the same canonical text for the engine."""
    first: Any = build_flow_stage("pay Bo fast", [], [PAY, HOURS]).request
    by_text = decode_flow_llm(first, 'Sure: {"flowName": "pay"}')
    by_classifier = decode_flow_system_one(first, {"f0": 0.9, "f1": 0.1})
    assert by_text.reply() == by_classifier.reply() == '{"flowName":"Pay"}'
    second: Any = build_parameter_stage("pay Bo fast", [], PAY).request
    told = decode_parameters_llm(second, '{"parameters": {"amount": null, "speed": "express"}}')
    judged = decode_parameters_system_one(second, {"p1v0": 0.1, "p1v1": 0.8, "p2": 0.2})
    assert told.reply() == judged.reply() == '{"parameters":{"speed":"Express"}}'


def test_a_request_survives_json() -> None:
    """What a stage hands over is plain JSON, so a host may send it to another process."""
    for call in (build_flow_stage("x", CHAT, [PAY]), build_parameter_stage("x", CHAT, PAY)):
        assert json.loads(json.dumps(call.request)) == call.request


def test_stage_1_may_ask_for_a_second_flow() -> None:
    """Both names are of those offered, and "None" where there is no second one."""
    call = build_flow_stage("pay Bo", [], [PAY, HOURS], alternative=True)
    form = json.loads(call.schema)["json_schema"]["schema"]
    assert form["required"] == ["flowName", "alternative"]
    assert form["properties"]["alternative"] == form["properties"]["flowName"]
    assert call.request["llm"]["system"] == call.system  # pyright: ignore[reportTypedDictNotRequiredAccess]
    assert '{"flowName":"None","alternative":"None"}' in call.system
