"""From the words to an open flow: what is asked, what is kept, what the flow begins with."""

from __future__ import annotations

from typing import Any

import pytest

from saywhy.chart.commit import Commit
from saywhy.errors import FlowExecutionError
from saywhy.models.scripted import ScriptedModel
from saywhy.runtime.engine import Engine
from saywhy.runtime.session import Session
from tests.flows.conftest import Lines, ask, engine_of, flow, say, talk

PAY = flow(
    ask("x", "How?"),
    say("{{amount}} {{userInput}}"),
    name="Pay",
    primary=True,
    parameters=[
        {"name": "amount", "description": "how much"},
        {"name": "key", "description": "the clerk's", "internal": True},
    ],
    variables={"amount": {"type": "number", "value": 1}},
)
HAND_ON = flow(
    ask("x", "What now?"), {"type": "DISPATCH", "outcome": "moved"}, name="Hand", primary=True
)
WORKER = flow(say("worked on {{userInput}}"), name="Worker")


def engine(*script: Any, **options: Any) -> Engine:
    return engine_of(PAY, HAND_ON, WORKER, model=ScriptedModel(list(script)), **options)


def found(name: Any, **parameters: Any) -> dict[str, Any]:
    return {"for": "detect_flow", "reply": {"flowName": name, "parameters": parameters}}


def commit(session: Session, node: str) -> Commit:
    return next(one for one in reversed(session.commits) if one.node == node)


def tasks(made: Engine) -> list[str]:
    assert isinstance(made.model, ScriptedModel)
    return made.model.tasks


async def test_parameters_win_over_defaults() -> None:
    """What was not declared never gets in, and the log tells of it."""
    lines = Lines()
    tried = engine(found("Pay", amount=7, key="k", x="y"), logger=lines)
    session = await talk(tried, "seven please")
    assert session.frame is not None
    assert session.frame.variables == {"amount": 7}
    assert lines.lines == [
        'W intent detection, parameter "key" dropped: internal',
        'W intent detection, parameter "x" dropped: not declared',
    ]


async def test_the_record_holds_candidates_and_reply() -> None:
    """Those on offer, and the model's text as it came."""
    session = await talk(engine(found("Pay", amount=7)), "seven please")
    done = commit(session, "intent")
    assert done.facts["considered"] == ["Pay", "Hand"]
    assert done.answered is not None
    assert done.answered.value == '{"flowName":"Pay","parameters":{"amount":7}}'
    assert done.reads == (("input", "1"),)
    assert done.decision is not None
    assert done.decision.chosen == "Pay"


async def test_a_name_asks_no_model() -> None:
    """Helpers too; the words are the flow's input."""
    tried = engine()
    assert (await talk(tried, " worker ")).response == "worked on worker"
    assert tasks(tried) == []


async def test_the_chat_before_is_told_once() -> None:
    """What user and host said that no flow handled; a flow that starts ends it."""
    tried = engine(found("None"), found("Pay"), found("None"))
    session = await talk(tried, "hello", {"role": "assistant", "content": "Hi!"}, "pay it")
    assert isinstance(tried.model, ScriptedModel)
    assert tried.model.asked[1].user.startswith(
        "<chat-history>\nuser: hello\nassistant: Hi!\n</chat-history>"
    )
    await talk(tried, "cash", "bye", session=session)
    assert "<chat-history>" not in tried.model.asked[2].user


async def test_dispatched_words_are_detected_as_if_nothing_had_run() -> None:
    """A match forgets how the flow ended; none leaves its outcome and the words to the host."""
    session = await talk(engine(found("Pay", amount=7)), "Hand", "seven please")
    assert session.response == "How?"
    assert session.last_turn_dispatch == {"fromFlow": "Hand", "matchedFlow": "Pay"}
    assert session.last_flow_outcome is None
    session = await talk(engine(found("None")), "Hand", "weather?")
    assert session.response is None
    assert session.last_turn_dispatch == {"fromFlow": "Hand", "matchedFlow": None}
    assert session.last_flow_outcome is not None
    assert session.last_flow_outcome["outcome"] == "moved"


async def test_a_dispatch_may_end_in_a_question_which_flow() -> None:
    """Nothing has matched then, until the user says which one is meant."""
    both = {"for": "detect_flow", "reply": {"flowName": "Pay", "alternative": "Hand"}}
    tried = engine(both, clarify=True)
    session = await talk(tried, "Hand", "either")
    assert session.response == 'Do you mean "Pay" or "Hand"?'
    assert session.last_turn_dispatch == {"fromFlow": "Hand", "matchedFlow": None}
    assert session.frame is None


async def test_a_failing_detection_leaves_the_session_usable() -> None:
    """The error has it, and the next message is detected anew."""
    tried = engine({"for": "detect_flow", "raise": "line down"}, found("Pay"))
    with pytest.raises(FlowExecutionError, match="AI communication failed: line down") as caught:
        await talk(tried, "seven")
    assert (await talk(tried, "seven", session=caught.value.session)).response == "How?"


async def test_the_language_is_asked_for_last() -> None:
    """After flow and parameters; a failure leaves it open, and is asked again next time."""
    tried = engine(
        {"for": "detect_flow", "reply": {"flowName": "Pay"}},
        {"for": "extract_parameters", "raise": "x"},
        {"for": "language", "raise": "x"},
        {"for": "detect_flow", "reply": {"flowName": "Worker"}},
        {"for": "detect_flow", "reply": {"flowName": "Hand"}},
        {"for": "language", "reply": "de"},
        intent_detection="two-stage",
        language=None,
    )
    session = await talk(tried, "siete", "cash")
    assert (session.response, session.language) == ("1 cash", None)
    session = await talk(tried, "no worker is on offer", session=session)
    assert session.response is None
    session = await talk(tried, "hand it on", session=session)
    assert (session.response, session.language) == ("What now?", "de")
    assert tasks(tried)[:3] == ["detect_flow", "extract_parameters", "language"]


async def test_a_hosts_start_asks_nothing() -> None:
    """Any flow, by id or name, with its arguments, and whatever the words are."""
    tried = engine()
    start = {
        "role": "user",
        "content": "Hand",
        "start": {"flow": "pay", "arguments": {"amount": 9}},
    }
    session = await talk(tried, start, "cash")
    assert session.response == "9 cash"
    assert tasks(tried) == []
