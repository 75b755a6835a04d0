"""Promise: the record tells which flows there were to choose from, and why not the others."""

from __future__ import annotations

from typing import Any

import pytest

from saywhy.errors import CallerError
from saywhy.flows.modelled import ModelFailed
from saywhy.models.scripted import ScriptedModel
from saywhy.runtime.engine import Engine
from saywhy.stores.memory import MemoryStore
from saywhy.trace.causes.intents import listed
from tests.flows.conftest import ask, engine_of, flow, say, talk

PAY = flow(
    ask("x", "How?"),
    say("{{amount}} {{x}}"),
    name="Pay",
    primary=True,
    interruptable=True,
    parameters=[{"name": "amount", "description": "how much"}],
)
TRACK = flow(say("tracked"), name="Track", primary=True)
WORKER = flow(say("worked"), name="Worker")


def engine(*replies: Any, **options: Any) -> Engine:
    script = [one if "for" in one else {"for": "detect_flow", "reply": one} for one in replies]
    return engine_of(PAY, TRACK, WORKER, model=ScriptedModel(script), **options)


def details(session: Any) -> list[str]:
    chain = session.trace.why()
    return [line for cause in chain.causes if cause.kind == "decision" for line in cause.details]


async def test_why_names_candidates_reply_and_what_was_dropped() -> None:
    """Beside the words that were said; the same in the data."""
    reply = {"flowName": "Pay", "parameters": {"amount": "5", "x": "s3cret"}}
    session = await talk(engine(reply), "five please")
    chain = session.trace.why()
    assert 'Pay was started, as the user said in turn 1: "five please"' in [
        cause.sentence for cause in chain.causes
    ]
    assert details(session) == [
        "the model was asked which flow the words start, and answered "
        '{"flowName":"Pay","parameters":{"amount":"5","x":"s3cret"}}',
        "2 flows to choose from: Pay and Track",
        "Track not taken: it was not what the model chose",
        'with a warning: intent detection, parameter "x" dropped: not declared',
    ]
    causes = chain.to_json()["causes"]
    assert next(one for one in causes if one["kind"] == "decision")["details"] == details(session)


@pytest.mark.parametrize("mode", ["single-call", "two-stage"])
async def test_a_first_value_leads_to_the_model_and_the_words(mode: str) -> None:
    """In one call or in two."""
    values = {"parameters": {"amount": "5"}}
    detected = {"flowName": "Pay", **(values if mode == "single-call" else {})}
    script = [detected, {"for": "extract_parameters", "reply": values}, {"flowName": "None"}]
    tried = engine(*script, {"for": "intent_analysis", "raise": "x"}, intent_detection=mode)
    session = await talk(tried, "five please", "cash")
    assert session.response == "5 cash"
    told = [cause.sentence for cause in session.trace.why().causes]
    assert 'amount = "5" is what the model found in the words that started Pay' in told
    assert 'the user said in turn 1: "five please"' in told
    asked = "which flow the words start" if mode == "single-call" else "which values the words give"
    assert any(one.startswith(f"the model was asked {asked}, and answered") for one in told)


async def test_the_story_tells_what_the_model_chose() -> None:
    """In the turn in which it did."""
    session = await talk(engine({"flowName": "Pay"}), "five please")
    assert "1.2  The model chose Pay from 2 flows." in session.trace.narrative()


@pytest.mark.parametrize(
    ("reply", "flow", "said"),
    [
        ({"flowName": "Pay"}, "Pay", "Pay was started in turn 1"),
        (
            {"flowName": "Pay"},
            "Track",
            "the model chose Pay: the model was asked which flow the words start, and answered "
            '{"flowName":"Pay"}',
        ),
        (
            {"flowName": "None"},
            "Track",
            "the model found that no flow fits: the model was asked which flow the words start, "
            'and answered {"flowName":"None"}',
        ),
        ({"flowName": "Pay"}, "Worker", "Worker was not to choose from: Pay and Track were"),
    ],
)
async def test_why_not_another_flow(reply: Any, flow: str, said: str) -> None:
    """Of the newest turn: what the model chose instead, or that it had no such choice."""
    session = await talk(engine(reply), "five please")
    assert str(session.trace.why_not(flow)) == said


async def test_why_not_without_a_model() -> None:
    """A name is found at once; other words find nothing."""
    tried = engine_of(PAY, TRACK)
    session = await talk(tried, "Pay")
    assert str(session.trace.why_not("Pay")) == "Pay was started in turn 1"
    told = str(session.trace.why_not("Track")) if _knows(session, "Track") else None
    assert told in (None, "the words led to Pay: exact match of a name or id")
    session = await talk(tried, "Pay", "cash", "weather")
    said = "the words are no flow's name, and there is no model to ask for Pay"
    assert str(session.trace.why_not("Pay")) == said
    assert str(session.trace.why_not("Pay", 1)) == "Pay was started in turn 1"


def _knows(session: Any, name: str) -> bool:
    return any(chart.name == name for chart in session.trace.charts)


async def test_why_not_an_interruption() -> None:
    """The words went to the question: no strong intent, or no answer of the model."""
    weak = {"isStrongIntent": False, "targetFlow": "Track", "confidence": 0.4, "reasoning": "?"}
    tried = engine({"flowName": "Pay"}, {"for": "intent_analysis", "reply": weak})
    session = await talk(tried, "five please", "track it")
    said = "the words were taken as an answer: it was not so that the intent is strong"
    assert str(session.trace.why_not("Track", 2)) == said
    tried = engine({"flowName": "Pay"}, {"for": "intent_analysis", "raise": "line down"})
    session = await talk(tried, "five please", "track it")
    said = "the words were taken as an answer: AI communication failed: line down"
    assert str(session.trace.why_not("Track", 2)) == said


async def test_why_not_where_nobody_looked() -> None:
    """A command, an answer to a flow that cannot be interrupted."""
    session = await talk(engine({"flowName": "Pay"}), "five please", "help")
    assert str(session.trace.why_not("Track")) == (
        "nobody looked for a flow in turn 2: the words are a command"
    )
    strict = {**PAY, "interruptable": False}
    tried = engine_of(strict, TRACK)
    session = await talk(tried, "Pay", "cash")
    assert str(session.trace.why_not("Pay")) == (
        "nobody looked for a flow in turn 2: the words answer the open question"
    )


async def test_a_flow_nobody_knows_is_refused() -> None:
    """With the names that there are."""
    session = await talk(engine({"flowName": "Pay"}), "five please")
    with pytest.raises(CallerError, match='this record knows no flow "Trak"') as caught:
        session.trace.why_not("Trak")
    assert caught.value.hint == 'did you mean "Track"?'


def test_a_list_in_words() -> None:
    """Short ones whole, long ones counted."""
    assert listed([]) == ""
    assert listed(["a"]) == "a"
    assert listed(["a", "b", "c"]) == "a, b and c"
    assert listed(list("abcdefgh")) == "a, b, c, d, e, f and 2 more"


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ({"raise": "line down"}, "and failed: AI communication failed: line down"),
        ({"hang": True}, "and failed: AI communication failed: AI call timed out after 20ms"),
        ({"reply": "hm"}, 'and answered "hm": AI task processing failed: Invalid JSON response'),
    ],
)
async def test_a_model_that_found_nothing_out(answer: Any, why: str) -> None:
    """Where the turn failed in looking for a flow, both explanations say so."""
    engine_of_it = engine({"for": "detect_flow", **answer}, ai_timeout=20, store=MemoryStore())
    with pytest.raises(ModelFailed):
        await engine_of_it.take_turn("c", "my money")
    trace = await engine_of_it.trace("c")
    told = trace.why_not("flow:Track").text()
    assert told.startswith(
        "no flow was found in turn 1, and nothing was said: the model was asked which flow the "
        f"words start, {why}"
    )
    assert not trace.why_not("flow:Track").considered[0].happened
    story = trace.narrative()
    assert (
        "1.2  What to do with these words was not found out, so that there is no reply: " in story
    )
    assert "gibt es keine Antwort: AI task processing" in trace.narrative(language="de")
    assert "no hay respuesta: AI task processing" in trace.narrative(language="es")
    with pytest.raises(CallerError, match="no reply is recorded") as error:
        trace.why()
    assert error.value.hint.startswith("routing failed in turn 1, at commit 3: AI task")
