"""What a form made of an answer, in words."""

from __future__ import annotations

from typing import Any

from saywhy.chart.commit import Answered, Asked, Commit, Condition, Decision, Op
from saywhy.trace.causes.forms import filled_in, is_form, read_from, told

FILLED = {
    "amount": {"words": "80 dollars", "by": "rules"},
    "to": {"words": "Ann", "by": "model"},
}
USER = Answered("user", "amount", "80 dollars to Ann")


def commit(**keys: Any) -> Commit:
    return Commit(7, 2, 1, "c", "Pay", "/steps/0", **{"kind": "FORM", **keys})


def test_words_of_each_input() -> None:
    """Of one input by its key, of all by the key of the form; and who read them."""
    filled = commit(facts={"filled": FILLED}, answered=USER)
    assert read_from(filled, ("v1", "form", "amount")) == ('amount was read from "80 dollars"',)
    assert read_from(filled, ("v1", "form", "to")) == ('to was read by the model from "Ann"',)
    assert len(read_from(filled, ("v1", "form"))) == 2
    assert read_from(filled, ("v1", "form", "day")) == ()


def test_other_steps_fill_nothing() -> None:
    """Only a form does, whatever stands in the facts of another step."""
    other = commit(kind="CALL-TOOL", facts={"filled": FILLED})
    assert not is_form(other)
    assert filled_in(other) == {}
    assert read_from(other, ("v1", "form", "amount")) == ()


def test_what_is_told() -> None:
    """Values with their words, what is asked again, what could not be read, what was decided."""
    ops = (Op("set", ("v1", "form", "amount"), 80), Op("set", ("v1", "form", "to"), "Ann"))
    assert told(commit(facts={"filled": FILLED}, ops=ops, answered=USER)) == [
        'The answer fills amount = 80 ("80 dollars"), to = "Ann" ("Ann").'
    ]
    again = commit(ops=(Op("delete", ("v1", "form", "day")),), answered=USER)
    assert told(again) == ["To be asked again: day."]
    unread = commit(answered=USER, asked=Asked("user", "amount"))
    assert told(unread) == ["The answer could not be read."]
    agreed = Decision("submit", (Condition("the answer agrees", True, "submit"),))
    assert told(commit(answered=USER, decision=agreed)) == ["The answer agrees."]
    assert told(commit(answered=USER, facts={"yielded": True})) == [
        "Nobody could read the answer; its words were handed on."
    ]
    searched = commit(answered=USER, asked=Asked("model", "extract_parameters"))
    assert told(searched) == ["A model was asked what it says."]
    assert told(commit(asked=Asked("user", "amount"))) == []
