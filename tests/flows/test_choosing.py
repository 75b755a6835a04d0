"""Two flows fit: the user is asked, and the answer picks by name, number or place."""

from __future__ import annotations

import json
from typing import Any

import pytest

from saywhy.flows.choosing import PLACES, Choice, picked
from saywhy.flows.commands import folded
from saywhy.models.scripted import ScriptedModel
from saywhy.runtime.engine import Engine
from tests.flows.conftest import ask, engine_of, flow, say, talk

CARD: dict[str, Any] = flow(
    say("{{userInput}}: {{amount}}"),
    ask("x", "Which card?"),
    name="Card",
    primary=True,
    prompt="Block a card",
    prompt_es="Bloquear una tarjeta",
    parameters=[{"name": "amount", "description": "how much"}],
)
LIMIT: dict[str, Any] = flow(
    say("{{userInput}}: {{amount}}"),
    ask("x", "Which limit?"),
    name="Limit",
    primary=True,
    prompt="Change a limit",
    prompt_es="Cambiar un límite",
    parameters=[{"name": "amount", "description": "how much"}],
)
BOTH = {"flowName": "Card", "alternative": "Limit", "parameters": {"amount": "5"}}
QUESTION = 'Do you mean "Block a card" or "Change a limit"?'


def desk(*script: Any, **options: Any) -> Engine:
    entries = [
        one if "for" in one else {"for": "detect_flow", "reply": one} for one in (BOTH, *script)
    ]
    settings = {"clarify": True, "model": ScriptedModel(entries), **options}
    return engine_of(CARD, LIMIT, **settings)


def asked(engine: Engine) -> list[str]:
    model = engine.model
    assert isinstance(model, ScriptedModel)
    return model.tasks


async def test_the_user_is_asked_which_one_is_meant() -> None:
    """By the names that users know; nothing has started, and the host sees what is open."""
    engine = desk()
    session = await talk(engine, "my card limit")
    assert (session.response, session.frame) == (QUESTION, None)
    kept = json.loads(session.to_json())["cursor"]["state"]["scopes"]["session"]["pendingChoice"]
    assert (kept["flows"], kept["text"]) == (["card", "limit"], "my card limit")
    decision = session.commits[-1].decision
    assert decision is not None
    assert (decision.chosen, decision.selected) == ("ask which one", ("Card", "Limit"))


@pytest.mark.parametrize(
    "answer", ["1", "the first one", "First.", "block a card", "I mean block a card!", "CARD"]
)
async def test_an_answer_picks_the_first(answer: str) -> None:
    """It starts with the words that fitted both, and with the values that they gave."""
    engine = desk()
    session = await talk(engine, "my card limit", answer)
    assert session.response == "my card limit: 5\n\nWhich card?"
    assert asked(engine) == ["detect_flow"]


@pytest.mark.parametrize("answer", ["2", "the second", "two", "change a limit please"])
async def test_an_answer_picks_the_second(answer: str) -> None:
    """Its values were not asked for yet: that is one more question to the model, about the words
    that fitted both."""
    values = {"for": "extract_parameters", "reply": {"parameters": {"amount": "7"}}}
    engine = desk(values)
    session = await talk(engine, "my card limit", answer)
    assert session.response == "my card limit: 7\n\nWhich limit?"
    assert asked(engine) == ["detect_flow", "extract_parameters"]
    assert isinstance(engine.model, ScriptedModel)
    assert "my card limit" in engine.model.asked[-1].user


async def test_anything_else_is_detected_anew() -> None:
    """With the question as what was said before; the choice is open no longer."""
    engine = desk({"flowName": "Limit", "parameters": {}}, {"flowName": "None", "parameters": {}})
    session = await talk(engine, "my card limit", "the monthly one")
    assert session.response == "the monthly one: undefined\n\nWhich limit?"
    assert isinstance(engine.model, ScriptedModel)
    assert engine.model.asked[-1].user.startswith(
        f"<chat-history>\nuser: my card limit\nassistant: {QUESTION}\n</chat-history>"
    )
    nothing = {"flowName": "None"}
    session = await talk(desk(nothing, nothing), "my card limit", "neither", "2")
    assert session.response is None


async def test_a_name_both_fit_is_asked_again() -> None:
    """As often as the model finds it so."""
    session = await talk(desk(BOTH), "my card limit", "card limit, both")
    assert session.response == QUESTION


async def test_without_the_option_the_first_one_starts() -> None:
    """The model is not told of a second one either."""
    engine = desk(clarify=False)
    session = await talk(engine, "my card limit")
    assert session.response == "my card limit: 5\n\nWhich card?"
    assert isinstance(engine.model, ScriptedModel)
    assert "alternative" not in engine.model.asked[0].system + str(engine.model.asked[0].schema)


@pytest.mark.parametrize("other", ["None", "", None, "Card", "card", "Ghost", 3])
async def test_no_second_flow_is_no_question(other: Any) -> None:
    """None, the same one, one that was not offered."""
    session = await talk(desk_of({**BOTH, "alternative": other}), "my card limit")
    assert session.response == "my card limit: 5\n\nWhich card?"


def desk_of(reply: Any) -> Engine:
    model = ScriptedModel([{"for": "detect_flow", "reply": reply}])
    return engine_of(CARD, LIMIT, clarify=True, model=model)


async def test_two_stages_ask_for_values_after_the_choice() -> None:
    """Of whichever flow was picked, and once."""
    values = {"for": "extract_parameters", "reply": {"parameters": {"amount": "9"}}}
    for answer, said in (("1", "Which card?"), ("2", "Which limit?")):
        engine = desk(values, intent_detection="two-stage")
        session = await talk(engine, "my card limit", answer)
        assert session.response == f"my card limit: 9\n\n{said}"
        assert asked(engine) == ["detect_flow", "extract_parameters"]
    assert isinstance(engine.model, ScriptedModel)
    form = json.loads(str(engine.model.asked[0].schema))["json_schema"]["schema"]
    assert form["required"] == ["flowName", "alternative"]


async def test_the_question_speaks_the_users_language() -> None:
    """In its sentence, its names and the words that pick."""
    engine = desk({"for": "extract_parameters", "reply": {"parameters": {}}})
    session = engine.init_session("u", language="es-MX")
    session = await talk(engine, "mi tarjeta", session=session)
    said = '¿Se refiere a "Bloquear una tarjeta" o a "Cambiar un límite"?'
    assert session.response == said
    session = await talk(engine, "la segunda", session=session)
    assert str(session.response).endswith("Which limit?")


async def test_a_host_that_starts_a_flow_withdraws_the_question() -> None:
    """And so does a flow that is gone from the engine."""
    start = {"role": "user", "content": "x", "start": {"flow": "Limit"}}
    session = await talk(desk(), "my card limit", start, "cancel")
    assert (await talk(desk_of({"flowName": "None"}), "1", session=session)).response is None
    session = await talk(desk(), "my card limit")
    lone = engine_of(CARD, clarify=True, model=ScriptedModel([{"reply": {"flowName": "None"}}]))
    assert (await talk(lone, "2", session=session)).response is None


async def test_why_names_the_choice() -> None:
    """What was asked, what the user picked, and the words that it began with."""
    session = await talk(desk(), "my card limit", "1")
    told = [cause.sentence for cause in session.trace.why().causes]
    assert "routing chose Card: the user's choice of two" in told
    assert 'the user said in turn 1: "my card limit"' in told


def choice(first: str, second: str) -> Choice:
    return Choice(("x1", "x2"), (first, second), {}, "", 1, "")


@pytest.mark.parametrize(
    ("first", "second", "said", "number"),
    [
        ("Pay", "Pay a bill", "pay", 0),
        ("Pay", "Pay a bill", "pay a bill", 1),
        ("Pay", "Pay a bill", "repay", None),
        ("Pay", "Track", "pay or track?", None),
        ("Pay", "Pay", "pay", None),
        ("Pay", "Pay", "2", 1),
        ("Pay", "Track", "", None),
        ("Pay", "Track", "?!", None),
        ("Order 2", "Order 1", "1", 0),
        ("Señal", "Track", "senal", 0),
        ("Pay", "Track", "1 2", None),
    ],
)
def test_what_an_answer_picks(first: str, second: str, said: str, number: int | None) -> None:
    """Whole words; the longer of two names where one holds the other."""
    assert picked(choice(first, second), said, "en") == number


@pytest.mark.parametrize("language", sorted(PLACES))
def test_the_words_for_places(language: str) -> None:
    """Written as they are compared, and none for both places, in any pair with English."""
    first, second = PLACES[language]
    assert first
    assert second
    for word in first | second:
        assert folded(word) == word
    assert not (first | PLACES["en"][0]) & (second | PLACES["en"][1])
    assert picked(choice("Pay", "Track"), sorted(second)[0], language) == 1
