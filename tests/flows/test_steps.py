"""The step table, and what surrounds every step."""

from __future__ import annotations

import pytest

from saywhy.errors import FlowExecutionError, RequiredSetFailed
from saywhy.flows.agents.carried import CALL, DONE, FAILED, FLOW
from saywhy.flows.corrections.chart import correction_chart
from saywhy.flows.steps import KINDS, flow_language
from tests.flows.conftest import (
    Lines,
    ask,
    engine_of,
    flow,
    local_tool,
    put,
    say,
    talk,
    use,
    world_of,
)


def test_the_table_is_the_language() -> None:
    """Twelve kinds of steps, each with what it does; flows end as the language says."""
    assert set(KINDS) == {
        "SAY", "SAY-GET", "SET", "CALL-TOOL", "FLOW", "CASE", "SWITCH", "FORM",
        "AGENT", "RETURN", "END", "DISPATCH",
    }  # fmt: skip
    language = flow_language(world_of(flow(say("x"))))
    assert set(language.steps) == (
        set(KINDS) | set(correction_chart().nodes) | {CALL, DONE, FAILED, FLOW}
    )
    assert set(language.close) == {"flow"}


@pytest.mark.parametrize("step", [{"variable": "v"}, {"value": "1"}, {"variable": "", "value": 1}])
async def test_a_set_needs_variable_and_value(step: dict[str, object]) -> None:
    """The error says so, and where."""
    engine = engine_of(flow({"type": "SET", **step}))
    with pytest.raises(FlowExecutionError) as caught:
        await talk(engine, "Main")
    assert str(caught.value) == "SET step requires both 'variable' and 'value'"
    assert caught.value.place is not None
    assert caught.value.place.pointer == "/0/steps/0"


async def test_null_is_a_value() -> None:
    """Null, false, zero and empty text can be stored."""
    session = await talk(
        engine_of(flow(*(put(f"v{n}", v) for n, v in enumerate((None, False, 0, ""))), ask("x"))),
        "Main",
    )
    assert session.frame is not None
    assert session.frame.variables == {"v0": None, "v1": False, "v2": 0, "v3": ""}


@pytest.mark.parametrize("value", ["1", "'true'", "false", "undefined", "ghost", 1, "true"])
async def test_a_required_set_takes_true_alone(value: object) -> None:
    """Neither 1 nor the text "true" is true; nothing is stored otherwise."""
    engine = engine_of(flow(put("v", value, requireTrue=True), say("{{v}}")))
    if value == "true":
        assert (await talk(engine, "Main")).response == "true"
        return
    with pytest.raises(RequiredSetFailed, match='SET of "v" had to give true') as caught:
        await talk(engine, "Main")
    assert caught.value.name == "JSFERequiredSetFailed"


async def test_an_outcome_is_declared_once_its_step_has_run() -> None:
    """Not while it waits, and not when it failed; it may read what the step has stored."""
    log = Lines()
    engine = engine_of(
        flow(
            use("work", variable="r", outcome="{{r.state}}", reason="{{r.why}}"),
            ask("x", outcome="answered {{x}}"),
        ),
        tools=[local_tool("work")],
        functions={"work": lambda args: {"state": "done", "why": "because"}},
        logger=log,
    )
    session = await talk(engine, "Main")
    assert session.frame is not None
    assert session.frame.declared_outcome == {"outcome": "done", "reason": "because"}
    session = await talk(engine, "yes", session=session)
    assert session.last_flow_outcome == {
        "flowName": "Main",
        "outcome": "answered yes",
        "endedBy": "completion",
    }
    assert log.lines == []


async def test_a_step_of_unknown_type_fails_by_name() -> None:
    """The error names the types there are."""
    with pytest.raises(FlowExecutionError, match="there is no step of the type DANCE") as caught:
        await talk(engine_of(flow({"type": "DANCE"})), "Main")
    assert caught.value.hint.startswith("known: AGENT, CALL-TOOL, CASE")
