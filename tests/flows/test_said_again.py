"""Promise: what gives something sensitive is masked, whatever question it was said to."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest

from saywhy import CallerError, Engine, Reply, Session, why
from saywhy.trace.export.file import lines_of


def ask(variable: str, text: str, **more: Any) -> dict[str, Any]:
    return {"id": variable, "type": "SAY-GET", "variable": variable, "value": text, **more}


def engine_of(*steps: dict[str, Any], **more: Any) -> Engine:
    last = {"type": "SAY", "value": "In {{currency}}, {{currency.length}} letters."}
    flow = {"id": "pay", "name": "Pay", "steps": [*steps, last], **more}
    return Engine(flows=[flow], validate_on_init=False, guidance={"enabled": False})


PIN = ask("cardNumber", "Which card?", pii=True)
CURRENCY = ask("currency", "Which currency?")
NOTE = ask("note", "A note?")


async def talk(engine: Engine, *said: str, language: str = "en") -> Session:
    session = engine.init_session("ann", "s", language)
    for text in said:
        session = await engine.update_activity(text, session)
    return session


def record_of(session: Session) -> str:
    """Everything that is kept, and what is told of it."""
    trace = session.trace
    told = ""
    for turn in trace.turns:
        with suppress(CallerError):  # nothing was said in it
            told += why(trace, Reply(turn)).text()
    return b"\n".join(lines_of(trace)).decode() + told + trace.narrative()


@pytest.mark.parametrize(
    ("said", "language"),
    [
        ("no, the card number is 8801993", "en"),
        ("Actually my card number is 8801993, not that one", "en"),
        ("change the card number to 8801993", "en"),
        ("wait, 8801993 it is", "en"),
        ("the card number? 8801993!", "en"),
        ("no, es 8801993", "es"),
        ("perdona, el card number es 8801993", "es"),
    ],
)
async def test_a_correction_in_words(said: str, language: str) -> None:
    """It is taken for the answer to the open question, and neither it nor the value is shown."""
    session = await talk(
        engine_of(PIN, CURRENCY, NOTE), "pay", "4711 0815", said, language=language
    )
    assert session.state.get("v2", "currency") == said  # a conversation goes on with real values
    assert "8801993" not in record_of(session)
    assert said not in record_of(session)


@pytest.mark.parametrize("number", ["8801993", "8801 993", "88-01-993", "(88) 01.993"])
async def test_the_digits_alone(number: str) -> None:
    """What an expression makes of the number is masked where it turns up as digits."""
    digits = {"type": "SET", "variable": "d", "value": "currency.replace(/[^0-9]/g, '')"}
    say = {"type": "SAY", "value": "That is {{d}}."}
    engine = engine_of(PIN, CURRENCY, digits, say, NOTE)
    session = await talk(engine, "pay", "4711", f"no, the card number is {number}")
    assert session.response == "That is 8801993.\n\nA note?"
    assert "8801993" not in record_of(session)
    assert number not in record_of(session)


async def test_what_is_made_of_the_words() -> None:
    """Whatever a flow makes of a message that is masked is masked as well."""
    turned = {"type": "SET", "variable": "d", "value": "currency.split('').reverse().join('')"}
    say = {"type": "SAY", "value": "That is {{d}} {{currency.toUpperCase()}}."}
    engine = engine_of(PIN, CURRENCY, turned, say, NOTE)
    session = await talk(engine, "pay", "4711", "no, the card number is 8801993")
    assert "3991088" in session.response
    record = record_of(session)
    assert "3991088" not in record
    assert "CARD NUMBER IS" not in record


async def test_a_value_without_a_number() -> None:
    """In a plain form of a correction the value is masked whatever it is."""
    engine = engine_of(ask("maidenName", "Her name?", pii=True), CURRENCY, NOTE)
    session = await talk(engine, "pay", "Miller", "no, the maiden name is Smithson", "Smithson")
    assert "Smithson" not in record_of(session)


async def test_said_before_it_is_asked() -> None:
    """A number that goes with the name of what will be asked for is masked as well."""
    session = await talk(
        engine_of(CURRENCY, PIN, NOTE), "pay", "euro, and my card number is 8801993"
    )
    assert "8801993" not in record_of(session)


@pytest.mark.parametrize(
    "said", ["pay, the card number is 8801993", "pay with card number 8801993"]
)
async def test_said_before_anything_runs(said: str) -> None:
    """Where no flow runs, what any of them asks for counts, and so it is after one has ended."""
    engine = engine_of(PIN, CURRENCY)
    assert "8801993" not in record_of(await talk(engine, said, "4711"))
    assert "8801993" not in record_of(await talk(engine, "pay", "4711", "euro", said))


async def test_names_that_people_use() -> None:
    """What a flow says people call it counts, and so does the label of an input of a form."""
    variables = {"cardNumber": {"type": "string", "names": ["plastic"]}}
    session = await talk(
        engine_of(CURRENCY, PIN, NOTE, variables=variables), "pay", "the plastic 8801993"
    )
    assert "8801993" not in record_of(session)
    entry = {"name": "pin", "kind": "text", "label": "secret code", "prompt": "Pin?", "pii": True}
    form = {"id": "form", "type": "FORM", "name": "form", "inputs": [entry]}
    session = await talk(engine_of(CURRENCY, form, NOTE), "pay", "my secret code is 8801993")
    assert "8801993" not in record_of(session)


@pytest.mark.parametrize(
    "said", ["euro", "no", "1200 euro", "no card number please", "the zip code is 80802"]
)
async def test_other_words_are_kept(said: str) -> None:
    """An answer that speaks of nothing sensitive is on record as it was said."""
    session = await talk(engine_of(PIN, CURRENCY, NOTE), "pay", "4711", said)
    assert said in record_of(session)


async def test_a_correction_of_something_else() -> None:
    """It names what it is about, so it is told as it was said, also after something sensitive."""
    engine = engine_of(PIN, ask("amount", "How much?"), CURRENCY, NOTE)
    session = await talk(engine, "pay", "4711", "50", "no, the amount is 8000")
    assert "no, the amount is 8000" in record_of(session)


async def test_where_nothing_sensitive_is_asked() -> None:
    """The same words about something that is not sensitive are kept."""
    engine = engine_of(ask("cardNumber", "Which card?"), CURRENCY, NOTE)
    session = await talk(engine, "pay", "4711", "no, the card number is 8801993")
    assert "8801993" in record_of(session)


CARD = "K-9934 ö 88"


@pytest.mark.parametrize(
    "said",
    [CARD, f"my card was {CARD}!", CARD.upper(), f"no, {CARD}", "no, 8801993"],
)
async def test_what_is_said_once_the_flow_is_over(said: str) -> None:
    """The value again, in other spellings as well, and a number that takes it back."""
    session = await talk(engine_of(PIN, CURRENCY), "Pay", CARD, "euro", said)
    record = record_of(session) + session.to_json().decode()
    assert not session.flow_stacks
    for text in (CARD, CARD.upper(), "9934", "8801993"):
        assert text not in record


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("it is K-9934 thanks", "put K-9934 on it"),
        ("My card? 4929 0012 7713.", "put 492900127713 on it"),
        ("that would be ann@kn0t.example", "put ANN@kn0t.example on it"),
    ],
)
@pytest.mark.parametrize("is_over", [False, True])
async def test_the_value_of_an_answer_with_words_around_it(
    answer: str, said: str, is_over: bool
) -> None:
    """It is known when it is said alone, while the flow runs and once it is over."""
    pin = ask("cardNumber", "Which card?", pii=True)
    before = ("euro",) if is_over else ()
    session = await talk(engine_of(pin, CURRENCY), "Pay", answer, *before, said)
    record = record_of(session)
    assert said.split()[1] not in record
    assert "put [REDACTED] on it" in record


async def test_the_words_beside_it_stay_on_record() -> None:
    """Of a message that repeats a value the step that took it in tells the rest, too."""
    session = await talk(engine_of(PIN, CURRENCY, NOTE), "Pay", CARD, f"write {CARD} on it")
    (received,) = (
        commit.ops[0].value for commit in session.trace if commit.facts.get("message") == 5
    )
    assert received == "write [REDACTED] on it"
    session = await talk(
        engine_of(PIN, ask("other", "Another?", pii=True), NOTE), "Pay", CARD, f"write {CARD} on it"
    )
    assert "on it" not in record_of(session)


async def test_other_words_after_the_flow_stay_as_they_are() -> None:
    """Also those that stand beside the value."""
    session = await talk(engine_of(PIN, CURRENCY), "Pay", CARD, "euro", f"well, {CARD} it was")
    assert "well, [REDACTED] it was" in record_of(session)
    session = await talk(engine_of(PIN, CURRENCY), "Pay", CARD, "euro", "no, 7 euros")
    assert "no, 7 euros" in record_of(session)


async def test_what_is_made_of_a_message_with_the_value_is_masked() -> None:
    """A later answer that repeats it is followed as it is, whatever it was an answer to."""
    turned = {"type": "SET", "variable": "back", "value": "note.split('').reverse().join('')"}
    steps = (PIN, NOTE, turned, {"type": "SAY", "value": "{{back}}"}, CURRENCY)
    session = await talk(engine_of(*steps), "Pay", CARD, f"write {CARD} on it")
    record = record_of(session)
    assert "write [REDACTED] on it" in record
    assert CARD[::-1] not in record
