"""A running flow as hosts know it."""

from __future__ import annotations

from saywhy.runtime.frame_view import FIELDS
from tests.flows.conftest import (
    NOW,
    ask,
    engine_of,
    flow,
    local_tool,
    put,
    run,
    say,
    talk,
    use,
)


async def test_every_field_has_its_name() -> None:
    """All fields that hosts read, under their names, as data."""
    engine = engine_of(
        flow(run("Sub"), say("end"), version="2.0"),
        flow(
            put("a", "1", outcome="set", reason="why"),
            use("t", variable="r"),
            ask("x", "who?"),
            name="Sub",
        ),
        tools=[local_tool("t")],
        functions={"t": lambda args: {"n": 5}},
    )
    session = await talk(engine, "Main", {"role": "assistant", "content": "between"})
    frame = session.frame
    assert frame is not None
    view = frame.to_dict()
    assert list(view) == list(FIELDS)
    assert view["flowName"] == "Sub"
    assert (view["flowId"], view["flowVersion"], view["userId"]) == ("sub", "1.0", "user-1")
    assert view["flowStepsStack"] == [
        {"id": "s2", "type": "SAY-GET", "variable": "x", "value": "who?"}
    ]
    assert view["inputStack"] == ["Main"]
    assert view["variables"] == {"a": 1, "r": {"n": 5}}
    assert view["startTime"] == NOW
    assert (view["pendingVariable"], view["pendingVariableContext"]) == ("x", "who?")
    assert view["lastSayMessage"] == "who?"
    assert (view["pendingVariablePii"], view["pendingInterruption"]) == (False, None)
    assert view["accumulatedMessages"] == []
    assert view["declaredOutcome"] == {"outcome": "set", "reason": "why"}
    assert view["justResumed"] is False
    transaction = view["transaction"]
    assert transaction["initiator"] == "sub-flow"
    assert [step["stepId"] for step in transaction["steps"]] == ["s0", "s1", "s2"]
    assert view["parentTransaction"] not in (None, transaction["id"])


async def test_the_history_of_a_flow() -> None:
    """What was said since it began and what its tools gave, with the author's names of steps."""
    engine = engine_of(
        flow(use("t"), ask("x", "who?")),
        tools=[local_tool("t")],
        functions={"t": lambda args: "done"},
    )
    session = await talk(
        engine, "before", "Main", {"role": "assistant", "content": "between"}, "help"
    )
    frame = session.frame
    assert frame is not None
    history = [(entry["role"], entry["content"]) for entry in frame.context_stack]
    assert history[:2] == [("user", "Main"), ("assistant", "who?")]
    assert ("assistant", "between") in history
    (tool,) = (entry for entry in frame.context_stack if entry["role"] == "tool")
    assert tool == {
        "role": "tool",
        "content": "done",
        "timestamp": NOW,
        "stepId": "s0",
        "toolName": "t",
    }


async def test_a_correction_is_pending_for_its_field() -> None:
    """The variable that the next words go to, and the words that asked for it."""
    rules = {"patterns": [{"field": "n", "pattern": "1", "message": "one"}]}
    engine = engine_of(flow(ask("n"), say("x", inputValidation=rules)))
    frame = (await talk(engine, "Main", "2")).frame
    assert frame is not None
    assert frame.pending_variable == "n"
    assert frame.pending_variable_context is not None
    assert frame.pending_variable_context.startswith("❌ one")


async def test_a_resumed_flow_says_so() -> None:
    """Until its question is answered."""
    engine = engine_of(flow(ask("x"), ask("y"), interruptable=True), flow(say("b"), name="Other"))
    session = await talk(engine, "Main", "Other")
    assert session.frame is not None
    assert session.frame.just_resumed
    session = await talk(engine, "1", session=session)
    assert session.frame is not None
    assert not session.frame.just_resumed


async def test_reading_a_frame_changes_nothing() -> None:
    """Variables come out as copies."""
    engine = engine_of(flow(put("o", {"k": [1]}), ask("x", "{{o.k.length}}")))
    session = await talk(engine, "Main")
    before = session.to_json()
    assert session.frame is not None
    session.frame.variables["o"]["k"].append(2)
    session.frame.to_dict()["inputStack"].append("x")
    assert session.to_json() == before


async def test_a_frame_that_stands_nowhere_can_be_looked_at() -> None:
    """What is wrong with it is told when a turn is to go on; a look at it raises nothing."""
    session = await talk(engine_of(flow(ask("n"))), "Main")
    session.cursor.top.at = "/steps/99"
    assert session.frame is not None
    assert session.frame.flow_steps_stack == []
