"""SAY-GET: what is asked, and what a host sees while it is."""

from __future__ import annotations

from typing import Any

import pytest

from saywhy.errors import ActiveFlowEmptyResponse
from saywhy.runtime.session import Session
from saywhy.values import dumps
from tests.flows.conftest import ask, engine_of, flow, say, talk


async def asked(*steps: dict[str, Any], **options: Any) -> Session:
    return await talk(engine_of(flow(*steps), **options), "Main")


async def test_a_host_sees_what_is_asked() -> None:
    """Variable and question of the open step, which stays on the list of steps to come."""
    frame = (await asked(say("Hello"), ask("name", "Who are {{1 + 1}}?"), say("end"))).frame
    assert frame is not None
    assert (frame.pending_variable, frame.pending_variable_context) == ("name", "Who are 2?")
    assert frame.last_say_message == "Who are 2?"
    assert [step["id"] for step in frame.flow_steps_stack] == ["s2", "s1"]
    assert frame.pending_variable_pii is False


async def test_the_question_is_found_again_without_being_stored_twice() -> None:
    """At rest a frame points into the message that asked; help can tell it all the same."""
    engine = engine_of(flow(ask("x", "Which of the seven?")))
    session = await talk(engine, "Main")
    assert dumps(session.document()).count(b"the seven") == 1
    session = await talk(engine, "help", session=session)
    assert session.response is not None
    assert "Current Question:\nWhich of the seven?" in session.response
    assert session.frame is not None
    assert session.frame.pending_variable_context == "Which of the seven?"


@pytest.mark.parametrize("text", ["", "   ", "{{ghost}}", "{{''}}"])
async def test_a_question_without_words(text: str) -> None:
    """Whatever the reason, waiting without a word is an error that names flow and step."""
    with pytest.raises(ActiveFlowEmptyResponse, match="the flow Main waits") as caught:
        await asked(ask("x", text))
    assert (caught.value.flow, caught.value.step) == ("Main", "/steps/0")
    assert caught.value.hint == "give the SAY-GET a value that is not empty"
    (ended,) = caught.value.session.transactions()
    assert ended["failureReason"] == "it waits for an answer, but asked nothing"


async def test_guidance_alone_is_no_question() -> None:
    """The sentence around a question does not make up for one."""
    with pytest.raises(ActiveFlowEmptyResponse):
        await asked(ask("x", ""), guidance={"enabled": True})


async def test_an_empty_question_behind_a_text_is_asked_by_the_text() -> None:
    """Then there is something to answer."""
    session = await asked(say("Name?"), ask("x", ""))
    assert session.response == "Name?"
    session = await asked(say("Name?"), ask("x", ""), keep_empty_says=True)
    assert session.response == "Name?\n\n"


async def test_an_answer_is_read_from_its_message() -> None:
    """The record of an answer points at the user's words."""
    engine = engine_of(flow(ask("x"), say("{{x}}")))
    session = await talk(engine, "Main", " Ann ")
    (taken,) = [one for one in session.commits if one.phase == "answered" and one.kind == "SAY-GET"]
    assert taken.reads == (("input", "3"),)
    assert [(op.key[1], op.value) for op in taken.ops] == [("x", "Ann")]
