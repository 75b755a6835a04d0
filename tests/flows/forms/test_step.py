"""A form as it runs in an engine: what is recorded, hidden, explained and handed over."""

from __future__ import annotations

from typing import Any

import pytest

from saywhy.runtime.engine import Engine
from saywhy.runtime.session import Session
from saywhy.testing import FakeClock
from saywhy.trace.causes.why import why
from saywhy.trace.narrative.story import narrative
from tests.flows.conftest import NOW, ask, engine_of, flow, local_tool, run, say, talk

MONEY = {"currency": "USD", "cardinals": True, "intent": "payment"}
AMOUNT = {"name": "amount", "kind": "amount", "prompt": "How much?", "money": MONEY}
TO = {"name": "to", "kind": "name", "prompt": "To whom?", "cues": ["to"]}
ON = {"name": "on", "kind": "date", "prompt": "When?", "label": "day"}
PIN = {
    "name": "pin",
    "kind": "digits",
    "digits": {"min": 4, "max": 4},
    "prompt": "PIN?",
    "pii": True,
}
SUBMIT = {
    "tool": "Pay",
    "args": {"amount": "{{form.amount}}", "to": "{{form.to}}"},
    "variable": "receipt",
}


def form(*inputs: dict[str, Any], **keys: Any) -> dict[str, Any]:
    return {"type": "FORM", "variable": "form", "inputs": list(inputs), **keys}


class Till:
    """Takes payments, and remembers them; a slow one answers too late."""

    def __init__(self, *, slow: bool = False) -> None:
        self.clock = FakeClock(NOW)
        self.paid: list[dict[str, Any]] = []
        self.slow = slow

    async def pay(self, args: dict[str, Any]) -> dict[str, Any]:
        self.paid.append(dict(args))
        if self.slow:
            await self.clock.sleep(60)
        return {"id": f"r{len(self.paid)}"}


def shop(*inputs: dict[str, Any], till: Till | None = None, **keys: Any) -> Engine:
    keys = {"confirm": "Shall I?", "submit": SUBMIT, **keys}
    till = till or Till()
    return engine_of(
        flow(form(*inputs, **keys), say("Paid: {{receipt.id}}")),
        tools=[local_tool("Pay", effect="once")],
        functions={"Pay": till.pay},
        clock=till.clock,
    )


def variable(session: Session, name: str = "form") -> Any:
    assert session.frame is not None
    return session.frame.variables[name]


# ------------------------------------------------------------------ what is handed over


async def test_values_have_types_and_are_handed_over_once() -> None:
    """An amount is a number, a date an ISO text; the call is made when the user agrees."""
    till = Till()
    engine = shop(AMOUNT, TO, ON, till=till)
    session = await talk(engine, "Main", "80 dollars to Ann tomorrow")
    assert variable(session) == {"amount": 80, "on": "2026-01-02", "to": "Ann"}
    assert till.paid == []
    session = await talk(engine, "yes", session=session)
    assert session.response == "Paid: r1"
    assert till.paid == [{"amount": 80, "to": "Ann"}]


async def test_a_doubt_holds_the_form_until_somebody_says() -> None:
    """Whatever the user says meanwhile, the call is not made again; then the form is complete."""
    till = Till(slow=True)
    engine = shop(AMOUNT, TO, till=till)
    session = await talk(engine, "Main", "80 dollars to Ann", "yes", "yes", "80 dollars to Bob")
    assert len(till.paid) == 1
    assert session.forms == [
        {
            "step": "s0",
            "completion": "open",
            "recovery": "unknown-action hold",
            "filled": ["amount", "to"],
        }
    ]
    session = await engine.settle(session, done={"id": "r9"}, by="bob")
    assert session.response == "Paid: r9"
    assert session.last_flow_outcome is not None
    assert session.last_flow_outcome["form"]["completion"] == "completed"
    assert session.last_flow_outcome["form"]["recovery"] == "none promised"


async def test_a_form_begins_anew_in_a_loop() -> None:
    """The variable of an earlier round is no draft."""
    steps = [form(AMOUNT), run("main", callType="replace")]
    session = await talk(engine_of(flow(*steps)), "Main", "80")
    assert session.response == "How much?"
    assert variable(session) == {}


# ------------------------------------------------------------------ what is recorded


async def test_commits_tell_how_the_form_stands() -> None:
    """Completion and recovery stand in the facts of each of its steps, apart from each other."""
    session = await talk(shop(AMOUNT, TO), "Main", "80 dollars to Ann", "yes")
    told = [commit.facts["form"] for commit in session.trace if "form" in commit.facts]
    assert [(one["completion"], one["recovery"]) for one in told] == [
        ("open", "resumption"),
        ("open", "resumption"),
        ("open", "resumption"),
        ("completed", "none promised"),
        ("completed", "none promised"),
    ]
    assert told[0].get("asking") == "amount"


async def test_why_tells_which_words_filled_an_input() -> None:
    """Each value leads to the user's message, and to the words in it."""
    session = await talk(shop(AMOUNT, TO), "Main", "eighty dollars to Ann", "yes")
    told = why(session.trace, "form.amount").text(width=200)
    assert 'comes from what the user said in turn 2: "eighty dollars to Ann"' in told
    assert 'amount was read from "eighty dollars"' in told
    receipt = why(session.trace, "receipt").text(width=200)
    assert 'chose `the answer agrees` (userInput = "yes")' in receipt
    assert 'to was read from "Ann"' in receipt


async def test_why_tells_which_rule_refused_a_value() -> None:
    """The pattern, with its place, and the words it refused."""
    rule = {"pattern": "^[0-9]{1,2}$", "message": "at most 99"}
    entry = {**AMOUNT, "inputValidation": {"patterns": [rule]}}
    session = await talk(shop(entry, TO), "Main", "500")
    told = why(session.trace).text(width=200)
    assert "asked by FORM" in told
    assert "the pattern `^[0-9]{1,2}$` refused userInput = 500" in told


async def test_the_story_of_a_form() -> None:
    """Answers, what could not be read, and what was asked again."""
    engine = shop(AMOUNT, TO)
    said = ("Main", "hmm", "80", "what?", "why?", "Ann", "change the amount", "90", "no")
    story = narrative((await talk(engine, *said)).trace)
    for sentence in (
        'The answer could not be read. Asked "How much?".',
        'The answer fills amount = 80 ("80"). Asked "To whom?".',
        "Nobody could read the answer; its words were handed on.",
        'To be asked again: amount. Asked "How much?".',
        "The answer refuses.",
    ):
        assert sentence in story, story


# ------------------------------------------------------------------ what is hidden


@pytest.mark.parametrize("answers", [("80", "4711"), ("80 dollars, pin 4711",), ("pin 4711", "80")])
async def test_no_record_holds_a_sensitive_answer(answers: tuple[str, ...]) -> None:
    """Asked for or volunteered: neither messages nor commits hold it, nor does the status."""
    engine = shop(AMOUNT, PIN, TO)
    session = await talk(engine, "Main", *answers, "status")
    assert variable(session)["pin"] == "4711"
    assert "4711" not in (session.response or "")
    assert "amount: 80" in (session.response or "")
    trace = session.trace
    recorded = repr(list(trace)) + repr(list(trace.messages()))
    assert "4711" not in recorded
    assert "How much" in recorded


async def test_a_tie_that_may_be_sensitive_is_hidden() -> None:
    """Before the user has said which it is, and the one that is not stays readable to the flow."""
    account = {"name": "account", "kind": "digits", "prompt": "Account?", "pii": True}
    order = {"name": "order", "kind": "digits", "prompt": "Order?"}
    session = await talk(shop(AMOUNT, account, order), "Main", "80 dollars, 47114711")
    assert session.response == "Is 47114711 the account or the order?"
    recorded = repr(list(session.trace)) + repr(list(session.trace.messages()))
    assert "47114711" not in recorded
    session = await talk(shop(AMOUNT, account, order), "the order", session=session)
    assert variable(session) == {"amount": 80, "order": "47114711"}


async def test_the_host_is_told_that_the_next_words_are_sensitive() -> None:
    """While a sensitive input is asked for, and only then."""
    engine = shop(AMOUNT, PIN)
    session = await talk(engine, "Main")
    assert session.frame is not None
    assert (session.frame.pending_variable, session.frame.pending_variable_pii) == ("amount", False)
    session = await talk(engine, "80", session=session)
    assert session.frame is not None
    assert (session.frame.pending_variable, session.frame.pending_variable_pii) == ("pin", True)


async def test_so_far_tells_nothing_sensitive() -> None:
    """What is said of the draft after an interruption leaves it out."""
    engine = engine_of(
        flow(form(AMOUNT, PIN, TO), interruptable=True),
        flow(ask("city", "Which city?"), name="Weather"),
    )
    session = await talk(engine, "Main", "80", "4711", "Weather", "Paris")
    assert "So far: amount 80 USD.\n\nTo whom?" in (session.response or "")


# ------------------------------------------------------------------ what a model is asked


async def test_a_model_is_told_the_inputs_and_the_question() -> None:
    """With their labels, descriptions and choices, and nothing else."""
    asked: list[tuple[str, str]] = []

    def model(system: str, user: str) -> str:
        asked.append((system, user))
        return '{"parameters": {"to": "Ann Lee", "how": "CARD"}}'

    how = {
        "name": "how",
        "kind": "choice",
        "prompt": "How?",
        "choices": ["cash", "card"],
        "description": "means of payment",
    }
    engine = engine_of(flow(form({**TO, "cues": []}, how)), model=model)
    session = await talk(engine, "Main", "my landlord, you know whom I mean, the usual way please")
    assert session.last_flow_outcome is not None
    assert session.last_flow_outcome["form"]["completion"] == "completed"
    ((_, user),) = asked
    for part in ("how", "means of payment", "cash", "card", "To whom?", "my landlord"):
        assert part in user
    told = why(session.trace, "form.to").text(width=300)
    assert 'to was read by the model from "Ann Lee"' in told


async def test_a_model_changes_nothing_it_was_not_told() -> None:
    """A value that stands there already is no correction, and one that cannot be is none."""
    engine = engine_of(
        flow(form(AMOUNT, TO, confirm="Shall I?")),
        model=lambda system, user: '{"parameters": {"amount": 80, "to": "Ann"}}',
    )
    session = await talk(engine, "Main", "80 dollars to Ann", "whatever you think is right")
    assert session.response == "I did not understand that.\n\nShall I?"
    assert variable(session) == {"amount": 80, "to": "Ann"}
