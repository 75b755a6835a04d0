"""From what the user types to a stored answer."""

from __future__ import annotations

from typing import Any

import pytest

from saywhy.chart.outcome import Answer, Need
from saywhy.errors import FlowExecutionError
from saywhy.flows import answers
from saywhy.flows.answers import SECRETS, field_of, is_on, is_secret, shaped, store, wait
from saywhy.runtime.session import Session
from saywhy.values import UNDEFINED, dumps, freeze, thaw
from tests.flows.conftest import (
    Lines,
    ask,
    engine_of,
    flow,
    local_tool,
    put,
    run,
    say,
    scope_at,
    talk,
    use,
    world_of,
)


def test_a_need_names_the_variable_its_answer_goes_to() -> None:
    """Its name, unless a correction goes to another one."""
    assert field_of(Need("user", "a")) == "a"
    assert field_of(Need("user", "a", {"pii": True})) == "a"
    assert field_of(Need("user", "correction", {"field": "b"})) == "b"
    assert field_of(Need("user", "", None)) == ""


async def test_a_condition_that_fails_makes_an_answer_sensitive() -> None:
    """What was written down once cannot be taken back."""
    engine = engine_of(flow(ask("x", pii="ghost.is > 1"), say("thanks")))
    session = await talk(engine, "Main")
    assert session.frame is not None
    assert session.frame.pending_variable_pii
    session = await talk(engine, "482913", session=session)
    assert "482913" not in repr(session.commits)
    assert not (
        await talk(engine_of(flow(ask("x", pii="1 > 2"))), "Main")
    ).frame.pending_variable_pii


def test_waiting_offers_the_keypad_for_the_own_question_only() -> None:
    """A correction of another variable has nothing to do with this question's keys."""
    world = world_of(flow(ask("x", digits={"max": "{{n}}"})))
    scope = scope_at(world, n=4)
    assert wait(world, scope.node, scope, "x", field="other", pii=False).args == {"field": "other"}
    assert scope.peek(("cargo", "digits")) is UNDEFINED
    assert wait(world, scope.node, scope, "x", field="x", pii=False).args is None
    assert thaw(scope.peek(("cargo", "digits"))) == {"max": 4}
    assert ("v1", "n") in scope.reads


def test_the_keypad_is_withdrawn_once() -> None:
    """Nothing is deleted where nothing is."""
    scope = scope_at(world_of(flow(ask("x"))))
    answers.withdraw_keypad(scope)
    assert scope.ops == []


async def test_the_keypad_is_withdrawn_when_the_answer_cannot_be_taken() -> None:
    """A step that raises leaves no question open."""
    bad = {"patterns": [{"field": "x", "pattern": "["}]}
    made = engine_of(flow(ask("x", digits={"max": 1}, inputValidation=bad)))
    session = await talk(made, "Main")
    assert session.cargo == {"digits": {"max": 1}}
    with pytest.raises(FlowExecutionError) as caught:
        await talk(made, "1", session=session)
    assert caught.value.session.cargo == {}


@pytest.mark.parametrize(
    ("setting", "on"),
    [(True, True), (False, False), (None, False), ("a === 1", True), ("a", True), ("ghost", False)],
)
def test_switches(setting: Any, on: bool) -> None:
    """True, or a condition on the variables; what cannot be evaluated is off."""
    world = world_of(flow(ask("x")))
    assert is_on(world, scope_at(world, a=1), setting) is on


def test_a_sensitive_answer_is_known_by_its_text() -> None:
    """So a correction of the variable that holds it is sensitive too."""
    scope = scope_at(world_of(flow(ask("x"))))
    scope.keep("pii", True)
    store(scope, "x", "4711")
    assert (scope.secrets, thaw(scope.peek(SECRETS))) == (("4711",), ["4711"])
    assert is_secret(scope, "x")
    assert not is_secret(scope, "y")
    assert [op.key for op in scope.ops] == [("v1", "x")], "the list of secrets is in no record"


def test_an_empty_answer_is_no_secret() -> None:
    """Masking empty text would mask everything."""
    scope = scope_at(world_of(flow(ask("x"))))
    scope.keep("pii", True)
    store(scope, "x", "")
    assert scope.secrets == ()


def test_words_are_trimmed_and_kept() -> None:
    """They are the frame's newest input, read from their message."""
    scope = scope_at(world_of(flow(ask("x"))))
    text = answers.take_input(scope, Answer("  hi \t", facts={"message": 9}))
    assert (text, scope.kept("input"), scope.reads) == ("hi", ["hi", 9], [("input", "9")])


@pytest.mark.parametrize(
    ("digits", "said", "stored"),
    [
        ({"min": 2, "max": 4}, "1 2", "12"),
        ({"min": 2, "max": 4}, "1", "1"),
        ({"min": 2, "max": 4}, "12345", "12345"),
        ({"max": 4}, "no digits", "no digits"),
        ({"max": "4"}, "1-2", "12"),
        ({"min": 2}, "1 2", "1 2"),
        ({"max": 1}, "#", "#"),
        ({"max": 1}, "(5).", "5"),
        ({"max": 1}, "$1", "1"),
        ({"max": 1}, "pay $1", "pay $1"),
        ({"max": 1}, "55", "55"),
        ({"max": 1}, "five", "five"),
        ("nonsense", "1 2", "1 2"),
    ],
)
def test_spoken_answers(digits: Any, said: str, stored: str) -> None:
    """A fitting answer is its keys, any other one stays as it was said."""
    world = world_of(flow(ask("x")))
    scope = scope_at(world)
    scope.state.scopes["cargo"] = {"digits": freeze(digits), "voice": True}
    assert shaped(world, scope.node, scope, said) == stored
    scope.state.scopes["cargo"]["voice"] = False
    assert shaped(world, scope.node, scope, said) == said


# ------------------------------------------------------------------ nowhere to be found

CARD = "4929123412341234"


def refuse(args: dict[str, Any]) -> None:
    raise RuntimeError(f"Failed for {args['card']}")


def shout(text: str) -> None:
    raise ValueError(f"saw {text}")


def engine(log: Lines) -> Any:
    return engine_of(
        flow(
            ask("card", "card?", pii="ask_card === true"),
            put("copy", "'card ' + card"),
            say("Thank you: {{card}}. {{shout(card)}}"),
            use(
                "refuse", args={"card": "{{card}}"}, onFail={"id": "f", "type": "SAY", "value": "x"}
            ),
            run("Sub", parameters={"number": "{{card}}"}),
            ask("more", "more? {{card}}"),
            variables={"ask_card": {"type": "boolean", "value": True}},
        ),
        flow(
            {"type": "SWITCH", "variable": "number", "branches": {"1": {"id": "b", **say("x")}}},
            name="Sub",
            scope="isolated",
        ),
        tools=[local_tool("refuse")],
        functions={"refuse": refuse, "shout": shout},
        logger=log,
        log_tool_failures=True,
    )


async def secret_talk() -> tuple[Session, Lines]:
    log = Lines()
    made = engine(log)
    session = await talk(made, "Main")
    assert session.frame is not None
    assert session.frame.pending_variable_pii is True
    with pytest.raises(FlowExecutionError) as caught:
        await talk(made, f" {CARD} ", session=session)
    assert str(caught.value) == 'No branch fits the value "[REDACTED]" of number.'
    assert caught.value.__cause__ is None
    return await talk(made, "go on", session=caught.value.session), log


async def test_a_sensitive_answer_reaches_the_user_and_nobody_else() -> None:
    """The reply says it; commits, messages, logs, errors and ended transactions do not."""
    session, log = await secret_talk()
    assert session.response == f"Thank you: {CARD}. {{{{shout(card)}}}}\n\nx\n\nmore? {CARD}"
    assert session.frame is not None
    assert session.frame.variables["card"] == CARD
    assert session.frame.pending_variable_pii is False
    assert CARD.encode() not in dumps(session.commits)
    assert all(CARD not in message.text for message in session.messages)
    assert "[REDACTED]" in session.messages[2].text
    assert log.lines
    assert all(CARD not in line for line in log.lines)
    assert CARD.encode() not in dumps(session.completed_transactions)
    assert CARD not in session.trace.narrative()


async def test_nothing_of_it_is_left_when_the_flow_is_over() -> None:
    """Not in the session, not in its JSON."""
    session, log = await secret_talk()
    session = await talk(engine(log), "done", session=session)
    assert session.frame is None
    assert CARD.encode() not in session.to_json()
    assert session.secrets == ()


async def test_a_correction_of_a_sensitive_answer_is_sensitive() -> None:
    """Wherever the correction is asked for; other corrections are not."""
    rules = {
        "patterns": [
            {"field": "code", "pattern": "^[0-9]{4}$", "message": "four digits"},
            {"field": "zip", "pattern": "^[0-9]+$", "message": "digits"},
        ]
    }
    made = engine_of(
        flow(ask("code", pii=True), ask("zip"), say("{{code}} {{zip}}", inputValidation=rules))
    )
    session = await talk(made, "Main", "12345678", "zip")
    assert session.frame is not None
    assert session.frame.pending_variable_pii is True
    session = await talk(made, "8765", session=session)
    assert session.frame is not None
    assert (session.frame.pending_variable, session.frame.pending_variable_pii) == ("zip", False)
    assert b"8765" not in dumps(session.commits)
    assert session.messages[-2].text == "[REDACTED]"
    session = await talk(made, "99", session=session)
    assert session.response == "8765 99"
