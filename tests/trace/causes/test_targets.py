"""What one may ask the cause of, as texts."""

from __future__ import annotations

from typing import Any

import pytest

from saywhy.errors import CallerError
from saywhy.trace.causes.targets import (
    Argument,
    At,
    Decided,
    Failure,
    Missing,
    Reply,
    Variable,
    target_in,
    target_of,
)
from saywhy.trace.causes.why import why


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("reply", Reply()),
        ("reply:3", Reply(3)),
        ("fee.total", Variable("fee.total")),
        ("variable:fee", Variable("fee")),
        ("argument:charge.amount", Argument("charge", "amount")),
        ("argument:charge", Argument("charge")),
        ("decision:Pay/check", Decided("check", "Pay")),
        ("decision:check", Decided("check")),
        ("error", Failure()),
        ("missing:reply", Missing("reply")),
        ("commit:7", At(7)),
    ],
)
def test_a_target_is_written_as_a_text(text: str, target: Any) -> None:
    """Each kind of target has a name, and a bare name is that of a variable."""
    assert target_of(text) == target


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("repply:3", 'why does not know the kind "repply"'),
        ("reply:last", 'reply takes a number, not "last"'),
        ("commit:", 'commit takes a number, not ""'),
    ],
)
def test_a_text_that_names_nothing(text: str, told: str) -> None:
    """An unknown kind and a number that is none are told with what to write."""
    with pytest.raises(CallerError) as error:
        target_of(text)
    assert told in str(error.value)


def test_a_part_of_a_reply(payment: Any) -> None:
    """Only the stretches that a text or a range of characters lies in are explained."""
    chain = why(payment.trace, Reply(3, part="80 to Ann"))
    assert chain.part == "80 to Ann"
    assert [one.kind for one in chain.causes].count("said") == 1
    assert why(payment.trace, Reply(3, part=(0, 4))).part == "Your"
    with pytest.raises(CallerError, match="does not say"):
        why(payment.trace, Reply(3, part="Berlin"))
    with pytest.raises(CallerError, match="no step said characters 500 to 510"):
        why(payment.trace, Reply(3, part=(500, 510)))


def test_an_argument_of_a_call(payment: Any) -> None:
    """Only what went into the argument is followed, from the call of the tool."""
    chain = why(payment.trace, Argument("quote_fee", "amount"))
    assert chain.target.sentence.startswith('quote_fee.amount = "80", asked by CALL-TOOL "get-fee"')
    assert [one.value for one in chain.roots if one.root == "words"][:1] == ["80"]
    with pytest.raises(CallerError, match='has no argument "amuont"') as error:
        why(payment.trace, Argument("quote_fee", "amuont"))
    assert 'did you mean "amount"?' in error.value.hint
    with pytest.raises(CallerError, match="no call of quote is recorded"):
        why(payment.trace, Argument("quote"))


def test_a_decision(payment: Any) -> None:
    """The newest decision of a step, by its name, alone or with its flow's."""
    chain = why(payment.trace, Decided("check-fee", "Pay"))
    assert chain.target.ref == "decision:Pay/check-fee"
    assert why(payment.trace, "decision:check-fee").target.ref == "decision:Pay/check-fee"
    with pytest.raises(CallerError, match="no decision of Pay/check-fees is recorded") as error:
        why(payment.trace, Decided("check-fees", "Pay"))
    assert 'did you mean "Pay/check-fee"?' in error.value.hint


def test_nothing_went_wrong(payment: Any) -> None:
    """Who asks for an error is told that there was none."""
    with pytest.raises(CallerError, match="nothing went wrong in this record"):
        why(payment.trace, Failure())


def test_what_is_missing(payment: Any) -> None:
    """A variable that is set is not missing, a turn with a reply has one, others are unknown."""
    with pytest.raises(CallerError, match="fee is set, so it is not missing"):
        why(payment.trace, Missing("fee"))
    with pytest.raises(CallerError, match="turn 3 has a reply"):
        why(payment.trace, Missing("reply"))
    with pytest.raises(CallerError, match='no step of this record sets or calls "quote_fe"'):
        why(payment.trace, Missing("quote_fe"))


def test_a_variable_that_nothing_set(payment: Any) -> None:
    """The flow came no further than the question before the step that sets it."""
    talk = payment
    fresh = type(talk)(*[talk.charts.find("Pay"), talk.charts.find("Charge")])
    fresh.says("pay")
    chain = why(fresh.trace, Missing("fee"))
    assert chain.target.sentence == "fee is not set"
    told = [one.sentence for one in chain.causes]
    assert 'CALL-TOOL "get-fee" of Pay did not run' in told
    assert 'SAY-GET "ask-amount" of Pay waits for an answer of the user' in told


def test_a_turn_and_words_beside_the_target() -> None:
    """They say which reply, or when; what says two things is refused."""
    assert target_in(None, None, None) == Reply()
    assert target_in(None, 3, "80 to Ann") == Reply(3, part="80 to Ann")
    assert target_in("fee.total", 2, None) == Variable("fee.total", 2)
    assert target_in(At(7), None, None) == At(7)
    with pytest.raises(CallerError, match="which words of a reply"):
        target_in("fee", None, "80")
    with pytest.raises(CallerError, match="says of which turn"):
        target_in(At(7), 3, None)
