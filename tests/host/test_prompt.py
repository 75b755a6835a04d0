"""Promise: a text model is told everything it needs to choose a flow, and nothing is paid twice."""

from __future__ import annotations

import gc
import json
import time

from msgspec.structs import replace

from saywhy.host import FlowOption, ParameterOption, build_detect_flow_request
from saywhy.host.prompt import flow_line

RENT = FlowOption(
    "rent-bike",
    "RentBike",
    "Rents out\n a bike",
    (
        ParameterOption("days", "number of days", "number"),
        ParameterOption("colour", "colour of the bike", enum=("Red", "Sea green")),
        ParameterOption("price", "what it costs", "number", internal=True),
        ParameterOption("helmet"),
    ),
    "low",
)
HELMET = RENT.parameters[-1]
HOURS = FlowOption("hours", "Hours", "Tells the opening hours")
CHAT = [
    {"role": "user", "content": "Hello"},
    {"role": "assistant", "content": "Hi. What can I do?"},
]


def test_the_user_text_without_a_chat() -> None:
    """The user's words come trimmed between tags, then a line for each flow."""
    call = build_detect_flow_request("  a red bike \n", [], [RENT, HOURS])
    assert call.user == (
        "<user-input>\na red bike\n</user-input>\n\n"
        "<available-flows>\n"
        "- RentBike: Rents out a bike [risk: low] parameters: days (number): number of days; "
        'colour (string, one of: "Red" | "Sea green"): colour of the bike; helmet (string): \n'
        "- Hours: Tells the opening hours [risk: unknown]\n"
        "</available-flows>"
    )


def test_the_chat_stands_before_the_words() -> None:
    """The last turn comes first, oldest message first; only user and assistant are in it."""
    call = build_detect_flow_request(
        "a bike", [*CHAT, {"role": "system", "content": "secret"}], [HOURS]
    )
    assert call.user.startswith(
        "<chat-history>\nuser: Hello\nassistant: Hi. What can I do?\n</chat-history>\n\n"
        "<user-input>\na bike\n</user-input>\n"
    )
    assert call.request["conversation"] == CHAT


def test_the_request_says_the_same_in_structured_form() -> None:
    """The fourth argument has the words, the chat and the flows; `internal` is in neither form."""
    call = build_detect_flow_request(" a bike ", CHAT, [RENT, HOURS])
    assert call.request == {
        "task": "detect_flow",
        "input": "a bike",
        "conversation": CHAT,
        "flows": [
            {
                "id": "rent-bike",
                "name": "RentBike",
                "description": "Rents out\n a bike",
                "parameters": [
                    {"name": "days", "description": "number of days", "type": "number"},
                    {
                        "name": "colour",
                        "description": "colour of the bike",
                        "type": "string",
                        "enum": ["Red", "Sea green"],
                    },
                    {"name": "helmet", "description": "", "type": "string"},
                ],
            },
            {
                "id": "hours",
                "name": "Hours",
                "description": "Tells the opening hours",
                "parameters": [],
            },
        ],
    }
    assert "price" not in call.user


def test_a_host_may_change_what_it_was_handed() -> None:
    """Every list of a request is a copy: the next call does not see what a host did to it."""
    chat = [dict(said) for said in CHAT]
    first = build_detect_flow_request("a bike", chat, [RENT]).request
    first["conversation"][0]["content"] = "?"
    first["flows"][0]["parameters"][1].get("enum", []).append("Black")
    first["flows"].clear()
    assert chat == CHAT
    second = build_detect_flow_request("a bike", chat, [RENT]).request
    assert second["flows"][0]["parameters"][1].get("enum") == ["Red", "Sea green"]


def test_the_schema_is_that_of_the_single_call() -> None:
    """The third argument is JSON text: a wrapper named detect_flow, not strict, both keys asked."""
    call = build_detect_flow_request("a bike", [], [RENT])
    assert json.loads(call.schema) == {
        "type": "json_schema",
        "json_schema": {
            "name": "detect_flow",
            "strict": False,
            "schema": {
                "type": "object",
                "properties": {"flowName": {"type": "string"}, "parameters": {"type": "object"}},
                "required": ["flowName", "parameters"],
            },
        },
    }


def test_the_system_text_has_task_rules_form_and_the_empty_reply() -> None:
    """The system text shows the inner schema, the reply where nothing fits, and wants JSON alone.

    It is the same for every call, so a server can keep it.
    """
    call = build_detect_flow_request("a bike", [], [RENT])
    inner = json.dumps(json.loads(call.schema)["json_schema"]["schema"], separators=(",", ":"))
    assert inner in call.system
    assert 'If no flow fits: {"flowName":"None","parameters":{}}' in call.system
    assert call.system.endswith("Reply with the JSON object alone: no other words, no code fences.")
    assert call.system == build_detect_flow_request("other", CHAT, [HOURS]).system


def test_without_flows_nothing_is_offered() -> None:
    """An empty list is an empty list, not an error."""
    call = build_detect_flow_request("a bike", [], [])
    assert call.user.endswith("<available-flows>\n\n</available-flows>")
    assert call.request["flows"] == []


def test_the_prompt_for_200_flows_costs_under_2_ms_and_grows_no_faster_than_the_flows() -> None:
    """A large library does not slow a turn down: under 2 ms for 200 flows, in proportion beyond."""
    few, many = seconds(200), seconds(800)
    for _ in range(15):  # in turns, so that a busy machine slows both
        few, many = min(few, seconds(200)), min(many, seconds(800))
    assert few < 0.002
    assert many < 7 * few


def test_a_flow_that_was_offered_before_costs_less() -> None:
    """The line of a flow is kept, and a flow that has changed in anything has a new one."""
    flow_line.cache_clear()
    for _ in range(3):
        build_detect_flow_request("a bike", [], [RENT, HOURS])
    assert flow_line.cache_info()[:2] == (4, 2)
    changed = replace(RENT, parameters=(*RENT.parameters[:1], replace(HELMET, type="boolean")))
    assert "helmet (boolean)" in build_detect_flow_request("a bike", [], [changed]).user


def seconds(flows: int) -> float:
    """What one prompt costs of the processor, without the collector that looks after the tests.

    All flows differ, and none was offered before.
    """
    offered = [replace(RENT, id=str(number), name=f"Rent {number}") for number in range(flows)]
    flow_line.cache_clear()
    gc.collect(0)
    gc.disable()
    try:
        began = time.thread_time()
        build_detect_flow_request("a bike", CHAT, offered)
        return time.thread_time() - began
    finally:
        gc.enable()


def test_a_second_flow_is_asked_for_where_it_is_wanted() -> None:
    """In rule and schema; the request stays the same, since classifiers tell by their scores."""
    plain = build_detect_flow_request("pay", [], [HOURS])
    two = build_detect_flow_request("pay", [], [HOURS], alternative=True)
    assert "alternative" not in plain.system + plain.schema
    assert 'name that one as "alternative"; else it is "None"' in two.system
    form = json.loads(two.schema)["json_schema"]["schema"]
    assert list(form["properties"]) == ["flowName", "alternative", "parameters"]
    assert form["required"] == ["flowName", "parameters"]
    assert two.request == plain.request
