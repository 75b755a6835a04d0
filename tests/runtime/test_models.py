"""Promise: a model is asked within its time, and no failure of it loses what the user said."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from saywhy import Engine, SqliteStore
from saywhy.errors import FlowExecutionError
from saywhy.models.provider import Ask, ModelReply
from saywhy.models.scripted import ScriptedModel
from saywhy.testing import FakeClock

FLOWS: list[dict[str, Any]] = [
    {
        "id": "rent-bike",
        "name": "RentBike",
        "primary": True,
        "prompt": "Rent a bike",
        "description": "Rents a bike",
        "parameters": [
            {"name": "kind", "description": "what for", "enum": ["City", "Race"]},
            {"name": "note", "description": "the clerk's", "internal": True},
        ],
        "steps": [
            {"id": "ask", "type": "SAY-GET", "variable": "days", "value": "How many days?"},
            {"id": "end", "type": "SAY", "value": "{{days}} days, {{kind}}, {{typeof note}}."},
        ],
    }
]
QUIET = {"enabled": False}


def engine(model: Any, **options: Any) -> Engine:
    return Engine(flows=FLOWS, model=model, guidance=QUIET, validate_on_init=False, **options)


async def converse(engine: Engine, *texts: str, **cargo: Any) -> list[str | None]:
    session = engine.init_session("ann", "s")
    session.cargo.update(cargo)
    said: list[str | None] = []
    for text in texts:
        session = await engine.update_activity(text, session)
        said.append(session.response)
    return said


def test_a_model_finds_flow_and_parameters() -> None:
    """Enums come in their declared spelling; what is internal or not declared is dropped."""
    found = {"flowName": "rentbike", "parameters": {"kind": " race", "note": "x", "more": 1}}
    model = ScriptedModel([{"for": "detect_flow", "reply": found}])
    said = asyncio.run(converse(engine(model), "a racing bike", "3"))
    assert said == ["How many days?", "3 days, Race, undefined."]
    request = model.asked[0].request
    assert request is not None
    assert request["task"] == "detect_flow"
    assert [each["name"] for each in request["flows"][0]["parameters"]] == ["kind"]


def test_what_was_dropped_is_logged_without_its_value(caplog: pytest.LogCaptureFixture) -> None:
    """A value that nobody declared may be anything."""
    found = {"flowName": "RentBike", "parameters": {"kind": "4242424242424242", "more": "s3cret"}}
    asyncio.run(converse(engine(ScriptedModel([{"reply": found}])), "bike"))
    assert 'parameter "kind" dropped: not one of its values' in caplog.text
    assert 'parameter "more" dropped: not declared' in caplog.text
    assert "4242" not in caplog.text
    assert "s3cret" not in caplog.text


def test_a_failing_model_is_one_line_for_who_debugs(caplog: pytest.LogCaptureFixture) -> None:
    """The host is told by the error, with the session as it was; the log has it at debug only."""
    caplog.set_level(logging.DEBUG, "saywhy")
    tried = engine(ScriptedModel([{"raise": "line down"}]))
    with pytest.raises(FlowExecutionError) as caught:
        asyncio.run(converse(tried, "bike"))
    text = "AI task processing failed: AI communication failed: line down"
    assert str(caught.value) == text
    assert caught.value.session.frame is None
    lines = [record for record in caplog.records if "line down" in record.getMessage()]
    assert [record.levelname for record in lines] == ["DEBUG"]


@pytest.mark.parametrize(
    ("timeout", "error"),
    [(60, "AI communication failed: AI call timed out after 60ms"), (0, ""), (500, "")],
)
def test_time_is_limited(timeout: float, error: str) -> None:
    """By `ai_timeout` in milliseconds; 0 waits as long as it takes."""
    clock = FakeClock()
    model = ScriptedModel([{"delay_ms": 400, "reply": {"flowName": "RentBike"}}], clock)
    tried = engine(model, ai_timeout=timeout, clock=clock)
    if not error:
        assert asyncio.run(converse(tried, "bike")) == ["How many days?"]
        return
    with pytest.raises(FlowExecutionError, match=error):
        asyncio.run(converse(tried, "bike"))


def test_an_answer_that_comes_too_late_counts_for_nothing() -> None:
    """A provider that goes on when it is told to stop gives no answer either."""
    clock = FakeClock()

    class Stubborn:
        async def ask(self, ask: Ask) -> ModelReply:
            with suppress(asyncio.CancelledError):
                await clock.sleep(1)
            return ModelReply('{"flowName": "RentBike"}')

    with pytest.raises(FlowExecutionError, match="AI call timed out after 60ms"):
        asyncio.run(converse(engine(Stubborn(), ai_timeout=60, clock=clock), "bike"))


def test_a_provider_that_times_out_by_itself_says_so() -> None:
    """Its own time limit is not taken for ours."""

    class Late:
        async def ask(self, ask: Ask) -> ModelReply:
            raise TimeoutError("the server is slow")

    with pytest.raises(FlowExecutionError, match="communication failed: the server is slow"):
        asyncio.run(converse(engine(Late()), "bike"))


def test_an_answer_that_was_cut_off_is_none() -> None:
    """Half a JSON text may look like a whole one."""
    model = ScriptedModel([{"reply": {"flowName": "RentBike"}, "finish_reason": "length"}])
    with pytest.raises(FlowExecutionError, match="communication failed: the answer was cut off"):
        asyncio.run(converse(engine(model), "bike"))


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        ("I do not know", "Invalid JSON response from AI: I do not know"),
        ("", "Invalid JSON response from AI"),
        ('{"flowName": ', "Invalid JSON response from AI"),
        ("[1]", "Invalid JSON response from AI"),
    ],
)
def test_a_reply_without_json_is_an_error(reply: str, error: str) -> None:
    """It is quoted, and the next message is asked about again."""
    model = ScriptedModel([{"reply": reply}, {"reply": {"flowName": "RentBike"}}])
    tried = engine(model)

    async def twice() -> str | None:
        session = tried.init_session("ann", "s")
        with pytest.raises(FlowExecutionError, match=error) as caught:
            await tried.update_activity("bike", session)
        return (await tried.update_activity("bike", caught.value.session)).response

    assert asyncio.run(twice()) == "How many days?"


@pytest.mark.parametrize("name", ["None", "none", "", None, "Ghost"])
def test_no_flow_leaves_the_words_to_the_host(name: str | None) -> None:
    """Whatever way the model says it, and where it names what was not offered."""
    model = ScriptedModel([{"reply": {"flowName": name, "parameters": {}}}])
    assert asyncio.run(converse(engine(model), "weather?")) == [None]


def test_a_spoken_answer_is_cleaned_and_never_lost() -> None:
    """The model's text is stored; where it fails, the words as they were said."""
    model = ScriptedModel([{"for": "voice", "reply": "3"}, {"for": "voice", "raise": "line down"}])
    tried = engine(model)
    for said in ("uhm three", "uhm three"):
        replies = asyncio.run(converse(tried, "RentBike", said, voice=True))
        kept = "3" if model.left else "uhm three"
        assert replies[-1] == f"{kept} days, undefined, undefined."
    assert model.asked[0].user == "Question:\nHow many days?\n\nAnswer as heard:\nuhm three"


def test_an_address_out_of_the_question_is_no_answer() -> None:
    """A cleaner that gives back what the question names loses to the words."""
    flows = [
        {
            "id": "mail",
            "name": "Mail",
            "steps": [
                {
                    "id": "ask",
                    "type": "SAY-GET",
                    "variable": "mail",
                    "value": "No account for ada@example.com or 555 010 9988. Which one is it?",
                },
                {"id": "end", "type": "SAY", "value": "{{mail}}"},
            ],
        }
    ]

    async def answer(said: str, cleaned: str) -> str | None:
        model = ScriptedModel([{"for": "voice", "reply": cleaned}])
        tried = Engine(flows=flows, model=model, guidance=QUIET, validate_on_init=False)
        return (await converse(tried, "Mail", said, voice=True))[-1]

    async def all_of_them() -> None:
        heard = "rada at example dot com"
        assert await answer(heard, "Ada@example.com") == heard
        assert await answer(heard, "rada@example.com") == "rada@example.com"
        assert await answer("it ends in 88", "5550109988") == "it ends in 88"
        assert await answer("ada@example.com, yes", "ada@example.com") == "ada@example.com"

    asyncio.run(all_of_them())


def test_a_turn_cut_off_while_the_model_is_asked_asks_again(tmp_path: Path) -> None:
    """Whoever takes the turn over has the answer: it was stored before anybody was asked."""

    class Stuck:
        def __init__(self) -> None:
            self.reached = asyncio.Event()

        async def ask(self, ask: Ask) -> ModelReply:
            self.reached.set()
            await asyncio.Event().wait()
            raise AssertionError

    async def run() -> tuple[str | None, list[str]]:
        path = tmp_path / "talk.db"
        stuck = Stuck()
        async with engine(stuck, store=SqliteStore(path), ai_timeout=0) as first:
            await first.take_turn("s", "RentBike", user_id="ann", cargo={"voice": True})
            turn = asyncio.create_task(
                first.take_turn("s", "uhm three", message_id="m", user_id="ann")
            )
            await asyncio.wait_for(stuck.reached.wait(), 10)
            turn.cancel()
            await asyncio.gather(turn, return_exceptions=True)
        model = ScriptedModel([{"for": "voice", "reply": "3"}])
        async with engine(model, store=SqliteStore(path)) as second:
            reply = await second.take_turn("s", "uhm three", message_id="m", user_id="ann")
            return reply.response, model.tasks

    assert asyncio.run(run()) == ("3 days, undefined, undefined.", ["voice"])


def test_a_sensitive_answer_is_nowhere_in_the_record(caplog: pytest.LogCaptureFixture) -> None:
    """Neither as it was said nor as the model wrote it, not even where the model fails with it."""
    caplog.set_level(logging.DEBUG, "saywhy")
    flows = [
        {
            "id": "pin",
            "name": "Pin",
            "steps": [
                {"id": "a", "type": "SAY-GET", "variable": "pin", "value": "PIN?", "pii": True},
                {"id": "b", "type": "SAY-GET", "variable": "ok", "value": "And now?"},
            ],
        }
    ]

    async def run(model: ScriptedModel) -> str:
        tried = Engine(flows=flows, model=model, guidance=QUIET, validate_on_init=False)
        session = tried.init_session("ann", "s")
        session.cargo["voice"] = True
        for text in ("Pin", "forty two eleven"):
            session = await tried.update_activity(text, session)
        assert session.response == "And now?"
        return repr(session.commits)

    for entry in ({"reply": "4211"}, {"raise": "cannot read forty two eleven"}):
        told = asyncio.run(run(ScriptedModel([{"for": "voice", **entry}]))) + caplog.text
        assert "4211" not in told
        assert "forty two eleven" not in told


@pytest.mark.parametrize("reply", ["es", ' "ES" ', "es-MX", "es\n"])
def test_the_language_is_found_where_nobody_said_it(reply: str) -> None:
    """Only for a session without one, and only for that session."""
    flows = [
        {
            "id": "hi",
            "name": "Hi",
            "steps": [
                {
                    "id": "a",
                    "type": "SAY-GET",
                    "variable": "n",
                    "value": "Name?",
                    "value_es": "¿Nombre?",
                }
            ],
        }
    ]
    script = [
        {"for": "detect_flow", "reply": {"flowName": "Hi"}},
        {"for": "language", "reply": reply},
    ]
    tried = Engine(
        flows=flows,
        model=ScriptedModel(script),
        guidance=QUIET,
        language=None,
        validate_on_init=False,
    )

    async def run() -> tuple[str | None, str | None, str | None]:
        session = await tried.update_activity("quiero saludar", tried.init_session("ann", "s"))
        return session.response, session.language, tried.init_session("bob", "t").language

    assert asyncio.run(run()) == ("¿Nombre?", "es", None)


def test_two_stages_ask_one_thing_at_a_time() -> None:
    """First the flow, then its parameters; without an answer to the second the flow asks itself."""
    script: list[dict[str, Any]] = [
        {"for": "detect_flow", "reply": {"flowName": "RentBike"}},
        {"for": "extract_parameters", "reply": {"parameters": {"kind": "City", "note": "x"}}},
        {"for": "detect_flow", "reply": {"flowName": "RentBike"}},
        {"for": "extract_parameters", "reply": "no idea"},
    ]
    model = ScriptedModel(script)
    tried = engine(model, intent_detection="two-stage")
    assert asyncio.run(converse(tried, "bike", "3"))[-1] == "3 days, City, undefined."
    assert asyncio.run(converse(tried, "bike", "3"))[-1] == "3 days, undefined, undefined."
    stages = [ask.request and ask.request["stage"] for ask in model.asked]
    assert stages == [1, 2, 1, 2]
    assert all(
        ask.request and "llm" in ask.request and "systemOne" in ask.request for ask in model.asked
    )
