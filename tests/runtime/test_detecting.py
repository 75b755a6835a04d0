"""Promise: what words would start can be known without anything happening."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from saywhy.errors import CallerError, FlowExecutionError
from saywhy.models.scripted import ScriptedModel
from saywhy.runtime.detecting import DetectedFlow
from saywhy.runtime.engine import Engine
from tests.flows.conftest import Lines, engine_of, flow, local_tool, say, use

PAY = flow(
    use("charge", args={}),
    name="Pay",
    primary=True,
    description="Pays a bill",
    prompt="Pay a bill",
    prompt_es="Pagar",
    parameters=[
        {"name": "amount", "description": "how much"},
        {"name": "kind", "description": "how", "enum": ["Card", "Cash"]},
        {"name": "key", "description": "the clerk's", "internal": True},
    ],
)
BARE = flow(say("hi"), name="Greet", primary=True, description="Greets")
HELPER = flow(say("x"), name="Worker")


def charge(args: Any) -> None:
    raise AssertionError("nothing is called")


def engine(script: list[dict[str, Any]] | None = None, **options: Any) -> Engine:
    model = None if script is None else ScriptedModel(script)
    tools = [local_tool("charge")]
    return engine_of(
        PAY, BARE, HELPER, model=model, tools=tools, functions={"charge": charge}, **options
    )


def shown(found: DetectedFlow | None) -> Any:
    return found and (found.flow.name, dict(found.parameters), found.how)


async def test_one_call_finds_flow_and_parameters() -> None:
    """Declared ones alone, enums in their spelling; what was dropped is logged."""
    reply = {"flowName": "pay", "parameters": {"amount": 5, "kind": " card", "key": 1, "x": 2}}
    lines = Lines()
    tried = engine([{"for": "detect_flow", "reply": reply}], logger=lines)
    found = await tried.detect_flow_with_parameters("five by card")
    assert found is not None
    assert shown(found) == ("Pay", {"amount": 5, "kind": "Card"}, "model")
    assert (found.flow.id, found.flow.description) == ("pay", "Pays a bill")
    assert found.label == "Pay a bill"
    assert lines.lines == [
        'W intent detection, parameter "key" dropped: internal',
        'W intent detection, parameter "x" dropped: not declared',
    ]


async def test_two_stages_find_them_one_after_the_other() -> None:
    """A flow without parameters is not asked about; a failing second stage gives none."""
    script: list[dict[str, Any]] = [
        {"for": "detect_flow", "reply": {"flowName": "Pay"}},
        {"for": "extract_parameters", "reply": {"parameters": {"amount": "5"}}},
        {"for": "detect_flow", "reply": {"flowName": "Pay"}},
        {"for": "extract_parameters", "raise": "line down"},
        {"for": "detect_flow", "reply": {"flowName": "Pay"}},
        {"for": "extract_parameters", "reply": "no idea"},
        {"for": "detect_flow", "reply": {"flowName": "Greet"}},
    ]
    tried = engine(script, intent_detection="two-stage")
    found = [shown(await tried.detect_flow_with_parameters("five")) for _ in range(4)]
    assert found == [
        ("Pay", {"amount": "5"}, "model"),
        ("Pay", {}, "model"),
        ("Pay", {}, "model"),
        ("Greet", {}, "model"),
    ]


async def test_without_a_model_names_count() -> None:
    """The whole name or id, helpers too, then a part of it; the guard holds here as well."""
    tried = engine()
    assert shown(await tried.detect_flow_with_parameters(" PAY ")) == ("Pay", {}, "exact")
    assert shown(await tried.detect_flow_with_parameters("worker")) == ("Worker", {}, "exact")
    assert shown(await tried.detect_flow_with_parameters("gree")) == ("Greet", {}, "partial")
    assert await tried.detect_flow_with_parameters("hello") is None
    guarded = engine(partial_match="safe")
    assert await guarded.detect_flow_with_parameters("ay") is None


async def test_a_name_asks_no_model() -> None:
    """Nor do words that are none."""
    tried = engine([])
    assert shown(await tried.detect_flow_with_parameters("Pay")) == ("Pay", {}, "exact")
    assert await tried.detect_flow_with_parameters("  ") is None


@pytest.mark.parametrize("name", ["None", "", None, "Ghost"])
async def test_no_flow_is_none(name: str | None) -> None:
    """However the model says it."""
    tried = engine([{"reply": {"flowName": name, "parameters": {}}}])
    assert await tried.detect_flow_with_parameters("weather") is None


@pytest.mark.parametrize(
    ("entry", "error"),
    [
        ({"raise": "line down"}, "AI task processing failed: AI communication failed: line down"),
        ({"reply": "dunno"}, "AI task processing failed: Invalid JSON response from AI: dunno"),
    ],
)
async def test_a_failing_model_raises_as_a_turn_does(
    entry: dict[str, Any], error: str, caplog: pytest.LogCaptureFixture
) -> None:
    """With the same words, and a line in the log for who debugs, no more."""
    caplog.set_level(logging.DEBUG, "saywhy")
    tried = engine([entry, entry], logger=None)
    with pytest.raises(FlowExecutionError) as caught:
        await tried.detect_flow_with_parameters("five")
    with pytest.raises(FlowExecutionError) as turned:
        await tried.update_activity("five", tried.init_session("u"))
    assert str(caught.value) == str(turned.value) == error
    assert all(record.levelname == "DEBUG" for record in caplog.records)


async def test_what_was_said_before_is_told() -> None:
    """In the order given; other keys of a message stay behind."""
    script = [{"reply": {"flowName": "Pay", "parameters": {}}}]
    tried = engine(script)
    said = [
        {"role": "user", "content": "hi", "timestamp": "1"},
        {"role": "assistant", "content": "Hello!"},
    ]
    await tried.detect_flow_with_parameters("five", conversation=said)
    assert isinstance(tried.model, ScriptedModel)
    request = tried.model.asked[0].request
    assert request is not None
    assert request["conversation"] == [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": "Hello!"},
    ]


async def test_the_label_is_in_the_language_asked_for() -> None:
    """Else in the engine's."""
    tried = engine(language="es")
    found = await tried.detect_flow_with_parameters("Pay")
    assert found is not None
    assert found.label == "Pagar"
    found = await tried.detect_flow_with_parameters("Pay", language="en")
    assert found is not None
    assert found.label == "Pay a bill"


async def test_what_it_gives_is_the_callers() -> None:
    """The parameters can be changed, and what is no text or no message is refused."""
    reply = {"flowName": "Pay", "parameters": {"amount": {"a": [1]}}}
    tried = engine([{"reply": reply}])
    found = await tried.detect_flow_with_parameters("five")
    assert found is not None
    found.parameters["amount"]["a"].append(2)
    wrong: Any = 5
    with pytest.raises(CallerError, match="detect_flow_with_parameters wants text, not int"):
        await tried.detect_flow_with_parameters(wrong)
    with pytest.raises(CallerError, match="a message of the conversation has role and content"):
        await tried.detect_flow_with_parameters("x", conversation=[{"role": "user"}])
