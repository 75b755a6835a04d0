"""Promise: what a form asks is explained by the values it asked with, and each by its own words."""

from __future__ import annotations

from typing import Any

import pytest

from saywhy import Engine, Reply, SqliteStore
from saywhy.trace.trace import Trace

INPUTS: list[dict[str, Any]] = [
    {"name": "amount", "kind": "amount", "prompt": "How much?", "label": "amount"},
    {
        "name": "pin",
        "kind": "text",
        "prompt": "PIN for {{form.amount}}?",
        "label": "pin",
        "pii": True,
    },
    {"name": "note", "kind": "text", "prompt": "A note for {{form.amount}}?", "label": "note"},
]
PAY: dict[str, Any] = {
    "id": "pay",
    "name": "Pay",
    "version": "1.0",
    "primary": True,
    "prompt": "Pay",
    "description": "Pays",
    "steps": [
        {
            "id": "form",
            "type": "FORM",
            "variable": "form",
            "inputs": INPUTS,
            "review": "{{form.amount}} with {{form.pin}} for {{form.note}}.",
            "confirm": "Pay {{form.amount}} with {{form.pin}}?",
        },
        {"id": "done", "type": "SAY", "value": "Paid {{form.amount}}, {{form.note}}."},
    ],
}
ZIP: dict[str, Any] = {
    **PAY,
    "id": "zip",
    "name": "Zip",
    "steps": [
        {"id": "n", "type": "SAY-GET", "variable": "name", "value": "Name?"},
        {
            "id": "z",
            "type": "SAY-GET",
            "variable": "zip",
            "value": "Zip, {{name}}?",
            "inputValidation": {
                "patterns": [
                    {"field": "zip", "pattern": "^[0-9]{5}$", "message": "five digits"},
                    {"field": "name", "pattern": "^[A-Z]", "message": "a capital"},
                ]
            },
        },
        {"id": "d", "type": "SAY", "value": "{{name}} lives in {{zip}}."},
    ],
}


async def told(flow: dict[str, Any], *words: str, tmp: Any) -> Trace:
    """The record of a conversation."""
    store = SqliteStore(tmp / "talk.db")
    async with Engine(flows=[flow], guidance={"enabled": False}, store=store) as engine:
        for text in (flow["name"], *words):
            await engine.take_turn("c", text, user_id="ann")
        return await engine.trace("c")


@pytest.fixture
async def paid(tmp_path: Any) -> Trace:
    """A form with a correction, a sensitive input, a review and a question at its end."""
    words = ("80", "blue42", "no, the amount is 90", "lunch", "yes")
    return await told(PAY, *words, tmp=tmp_path)


async def test_a_question_is_explained_by_what_it_was_asked_with(paid: Trace) -> None:
    """The answer that was just given, and the correction, not what stood there before."""
    asked = paid.why(Reply(2)).text()
    assert 'form.amount = 80 comes from what the user said in turn 2: "80"' in asked
    corrected = paid.why(Reply(4)).text()
    assert "form.amount = 90" in corrected
    assert "form.amount = 80" not in corrected
    assert "did not change it" not in corrected
    assert "undefined" not in asked + corrected + paid.why(Reply(5)).text()


async def test_each_part_of_a_masked_reply_is_its_own(paid: Trace) -> None:
    """A step that says two things in one turn is shown with both."""
    said = paid.messages(5)[-1].text
    assert said == "90 with [REDACTED] for lunch.\n\nPay 90 with [REDACTED]?"
    assert 'Reply: "90 with [REDACTED] for lunch.' in paid.narrative()


async def test_what_an_answer_says_is_masked_for_itself_alone(paid: Trace) -> None:
    """The note was put down by the step that reads the PIN for its review."""
    assert paid.value_at(paid.key("form.note")).value == "lunch"
    assert paid.value_at(paid.key("form.pin")).value == "[REDACTED]"
    assert paid.messages(6)[-1].text == "Paid 90, lunch."


async def test_what_depended_on_one_answer(paid: Trace) -> None:
    """Not the other answers, which the form took in while it held that one."""
    names = [{one.name for one in paid.what_changed(turn=turn).changes} for turn in (2, 3, 4, 5)]
    answers = [each & {"form.amount", "form.pin", "form.note"} for each in names]
    assert answers == [{"form.amount"}, {"form.pin"}, {"form.amount"}, {"form.note"}]
    assert [one.turn for one in paid.what_changed(turn=2).replies] == [2, 3]
    assert [one.turn for one in paid.what_changed(turn=4).replies] == [4, 5, 5, 6]


async def test_what_a_form_repeats_is_explained(tmp_path: Any) -> None:
    """After another flow it says what it has so far; a later correction is none of what it left."""
    other = {**ZIP, "id": "hours", "name": "Hours", "steps": [ZIP["steps"][2]]}
    steps = [{**PAY["steps"][0], "inputs": [INPUTS[0], INPUTS[2]], "review": "{{form.note}}."}]
    pay = {**PAY, "interruptable": True, "steps": steps}
    async with Engine(
        flows=[pay, other], guidance={"enabled": False}, store=SqliteStore(tmp_path / "talk.db")
    ) as engine:
        for text in ("Pay", "80", "Hours", "lunch", "no, make it 90"):
            await engine.take_turn("c", text, user_id="ann")
        trace = await engine.trace("c")
    resumed = trace.why(Reply(3, "So far: amount 80")).text()
    assert 'form.amount = 80 comes from what the user said in turn 2: "80"' in resumed
    reviewed = trace.why(Reply(5)).text()
    assert 'form.note is what the user said in turn 4: "lunch"' in reviewed
    assert "did not change it" not in reviewed


async def test_an_answer_that_was_refused(tmp_path: Any) -> None:
    """The next one is its own, whatever the rules have looked at."""
    trace = await told(ZIP, "Ann", "abc", "12345", tmp=tmp_path)
    values = [
        [(one.name, one.value) for one in trace.what_changed(turn=turn).changes if one.name]
        for turn in (2, 3, 4)
    ]
    assert values == [[("name", "Ann")], [("zip", "abc")], [("zip", "12345")]]
    assert [one.turn for one in trace.what_changed(turn=2).replies] == [2, 3, 4]
