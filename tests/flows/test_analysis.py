"""Whether words want another flow: what is asked, and how an answer counts."""

from __future__ import annotations

import json
from typing import Any

import pytest

from saywhy.chart.outcome import Answer
from saywhy.flows.analysis import TASK, analysis_of, decision_of, prompt
from saywhy.models.scripted import ScriptedModel
from saywhy.runtime.engine import Engine
from tests.flows.conftest import ask, engine_of, flow, put, run, say, talk, world_of

STRONG = {"isStrongIntent": True, "targetFlow": "Track", "confidence": 0.9, "reasoning": "r"}
PAY = flow(
    ask("x", "How much?"), say("paid {{x}}"), name="Pay", interruptable=True, prompt="Pay a bill"
)
TRACK = flow(say("tracked {{userInput}}"), name="Track", description="Tracks\nan order")
OTHER: dict[str, Any] = {**TRACK, "id": "other-id", "name": "Other"}


def answer(**changes: Any) -> Answer:
    return Answer(json.dumps({**STRONG, **changes}))


def engine(*replies: Any, flows: tuple[dict[str, Any], ...] = (PAY, TRACK), **more: Any) -> Engine:
    script = [{"for": TASK, **one} for one in replies]
    return engine_of(*flows, model=ScriptedModel(script), **more)


def test_the_question_in_words() -> None:
    """What was said, what runs and asked, and what there is to go to; the form is strict."""
    facts = {
        "input": " where is it? ",
        "stack": [{"flow": "Pay", "question": ""}, {"flow": "Sub", "question": "How much?"}],
        "conversation": [
            {"role": "user", "content": "pay"},
            {"role": "assistant", "content": "How much?"},
            {"role": "user", "content": "where is it?"},
        ],
    }
    asked = prompt(world_of(PAY, TRACK), facts)
    assert asked.user == (
        "<chat-history>\nuser: pay\nassistant: How much?\n</chat-history>\n\n"
        "<running-flows>\n- Pay: \n- Sub: How much?\n</running-flows>\n\n"
        "<user-input>\nwhere is it?\n</user-input>\n\n"
        "<available-flows>\n- Pay: Pay a bill\n- Track: Tracks an order\n</available-flows>"
    )
    form = json.loads(asked.schema or "")["json_schema"]
    assert (form["name"], form["strict"]) == ("intent_analysis", True)
    assert form["schema"]["required"] == list(form["schema"]["properties"])
    assert asked.request is None


@pytest.mark.parametrize(
    ("changes", "target"),
    [
        ({}, "Track"),
        ({"targetFlow": "track"}, "Track"),
        ({"confidence": 0.1}, "Track"),
        ({"isStrongIntent": False}, "stay"),
        ({"isStrongIntent": "true"}, "stay"),
        ({"isStrongIntent": None}, "stay"),
        ({"targetFlow": None}, "stay"),
        ({"targetFlow": "Ghost"}, "stay"),
        ({"targetFlow": "Pay"}, "stay"),
        ({"targetFlow": 5}, "stay"),
    ],
)
def test_what_counts(changes: dict[str, Any], target: str) -> None:
    """Strong, and to another flow; how sure the model says it is does not."""
    found = analysis_of(world_of(PAY, TRACK), answer(**changes))
    assert decision_of(found, "Pay").chosen == target


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        (Answer(error="AI communication failed: x"), "AI communication failed: x"),
        (Answer("no idea"), "Invalid JSON response from AI: no idea"),
        (Answer(None), "Invalid JSON response from AI"),
        (answer(targetFlow="Ghost"), "it names no flow that there is: 'Ghost'"),
    ],
)
def test_what_says_nothing_is_no_interruption(given: Answer, problem: str) -> None:
    """And the decision says why."""
    decision = decision_of(analysis_of(world_of(PAY, TRACK), given), "Pay")
    assert (decision.chosen, decision.default) == ("stay", True)
    assert problem in decision.conditions[0].error


async def test_a_strong_intent_switches_and_comes_back() -> None:
    """The other flow is not told the words; afterwards the question is asked again."""
    session = await talk(engine({"reply": STRONG}), "Pay", "where is my parcel?")
    assert session.response == (
        'Switched to Track\n\n(Your previous "Pay a bill" progress has been saved)\n\n'
        "tracked undefined\n\n"
        "Resuming Pay a bill - Type 'cancel flow' or 'help' for options.\n\nHow much?"
    )
    decision = next(
        one.decision
        for one in reversed(session.commits)
        if one.kind == "interruption" and one.decision
    )
    assert decision is not None
    assert [one.text for one in decision.conditions] == [
        "the intent is strong",
        "it leads to another flow",
    ]


@pytest.mark.parametrize(
    "entry", [{"raise": "line down"}, {"reply": "?"}, {"reply": {**STRONG, "targetFlow": "Pay"}}]
)
async def test_anything_else_is_the_answer(entry: dict[str, Any]) -> None:
    """No failure of the model loses what the user said."""
    assert (await talk(engine(entry), "Pay", "80")).response == "paid 80"


async def test_it_is_found_by_id_and_by_name() -> None:
    """Whatever a model writes, where id and name differ."""
    for named in ("other-id", "Other", "OTHER"):
        tried = engine({"reply": {**STRONG, "targetFlow": named}}, flows=(PAY, OTHER))
        session = await talk(tried, "Pay", "x")
        assert str(session.response).startswith("Switched to Other")
        session = await talk(engine_of(PAY, OTHER), "Pay", named)
        assert str(session.response).startswith("Switched to Other")


async def test_a_flow_that_does_not_want_it_asks_no_model() -> None:
    """Nor does one with such a flow above it."""
    strict = {**PAY, "interruptable": False}
    tried = engine({"reply": STRONG}, flows=(strict, TRACK))
    assert (await talk(tried, "Pay", "x")).response == "paid x"
    caller = flow(run("Pay"), name="Caller", interruptable=True)
    tried = engine({"reply": STRONG}, flows=(caller, strict, TRACK))
    assert (await talk(tried, "Caller", "x")).response == "paid x"
    assert isinstance(tried.model, ScriptedModel)
    assert tried.model.tasks == []


async def test_a_sensitive_answer_is_shown_to_no_model() -> None:
    """There only a flow's name leads elsewhere."""
    secretive = flow(ask("pin", "PIN?", pii=True), say("thanks"), name="Pay", interruptable=True)
    tried = engine({"reply": STRONG}, flows=(secretive, TRACK))
    assert (await talk(tried, "Pay", "482913")).response == "thanks"
    assert str((await talk(tried, "Pay", "track")).response).startswith("Switched to Track")
    assert isinstance(tried.model, ScriptedModel)
    assert tried.model.tasks == []


async def test_the_model_knows_the_history_of_the_flow() -> None:
    """From its first words on, with sensitive answers masked."""
    secretive = flow(
        ask("pin", "PIN?", pii=True),
        put("done", "1"),
        ask("x", "How much?"),
        name="Pay",
        interruptable=True,
    )
    weak = {"reply": {**STRONG, "isStrongIntent": False}}
    tried = engine(weak, flows=(secretive, TRACK))
    await talk(tried, "Pay", "482913", "80")
    assert isinstance(tried.model, ScriptedModel)
    assert tried.model.asked[-1].user.startswith(
        "<chat-history>\nuser: Pay\nassistant: PIN?\nuser: [REDACTED]\nassistant: How much?\n"
    )


async def test_an_interruption_can_be_offered() -> None:
    """Then the user is asked, and says whether to go."""
    tried = engine({"reply": STRONG}, offer_interruptions=True)
    session = await talk(tried, "Pay", "where is my parcel?")
    assert session.frame is not None
    assert session.frame.pending_interruption == {
        "flow": "track",
        "targetFlow": "Track",
        "currentFlow": "Pay a bill",
    }
    session = await talk(tried, "switch", session=session)
    assert str(session.response).startswith("Switching to Track.")
