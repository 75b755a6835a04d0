"""A flow that rests while routing looks for another one."""

from __future__ import annotations

from typing import Any

from saywhy.trace.narrative.story import narrative
from tests.flows.conftest import ask, engine_of, flow, say, talk

FORM: dict[str, Any] = {
    "type": "FORM",
    "variable": "form",
    "maxRetries": 0,
    "inputs": [{"name": "amount", "kind": "amount", "prompt": "How much?", "digits": {"max": 4}}],
}


async def test_what_is_found_opens_above_the_form() -> None:
    """Like an interruption, though the flow of the form does not let itself be interrupted."""
    engine = engine_of(flow(FORM), flow(ask("city", "Which city?"), name="Weather"))
    session = await talk(engine, "Main", "weather")
    assert session.flow_stacks == [["Main"], ["Weather"]]
    assert session.cargo == {}  # the keypad is not told of a question that is not open
    assert session.last_turn_dispatch == {"fromFlow": "Main", "matchedFlow": "Weather"}
    session = await talk(engine, "Paris", session=session)
    assert session.flow_stacks == [["Main"]]
    assert session.cargo == {"digits": {"max": 4}}
    assert "Flow Weather" in narrative(session.trace)


async def test_no_flow_fits() -> None:
    """There is no reply, which is no error; the form waits on."""
    engine = engine_of(flow(FORM), flow(say("hi"), name="Weather"))
    session = await talk(engine, "Main", "what is this?")
    assert session.response is None
    assert session.flow_stacks == [["Main"]]
    assert session.last_turn_dispatch == {"fromFlow": "Main", "matchedFlow": None}
    session = await talk(engine, {"role": "assistant", "content": "A bank."}, "80", session=session)
    assert session.response == "Resuming Main\n\nSo far: amount 80."
    assert session.last_flow_outcome is not None


async def test_a_sub_flow_with_a_form() -> None:
    """Its caller rests below it; the flow that is found stands above both."""
    engine = engine_of(
        flow({"type": "FLOW", "value": "collect"}, say("{{form.amount}}!")),
        flow(FORM, name="Collect"),
        flow(ask("city", "Which city?"), name="Weather"),
    )
    session = await talk(engine, "Main", "weather", "Paris", "80")
    assert session.response == "80!"


async def test_a_flow_that_is_found_and_dispatches() -> None:
    """DISPATCH ends every flow, the form below as well."""
    engine = engine_of(flow(FORM), flow({"type": "DISPATCH"}, name="Other"))
    session = await talk(engine, "Main", "other")
    assert session.flow_stacks == []
    assert session.last_flow_outcome is not None
    assert session.last_flow_outcome["form"]["completion"] == "abandoned"
