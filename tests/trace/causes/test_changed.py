"""What depended on a message: values, decisions, calls and replies, and nothing else."""

from __future__ import annotations

import json
from typing import Any

import pytest

from saywhy.errors import CallerError


def test_all_that_depended_on_a_message(payment: Any) -> None:
    """The amount went into the call, the fee, the decision, the other flow and the reply."""
    changed = payment.trace.what_changed(turn=2)
    kinds = {one.kind for one in changed.changes}
    assert kinds == {"value", "decision", "call", "reply"}
    names = {one.name for one in changed.changes if one.name}
    assert {"amount", "fee", "sum"} <= names
    assert "payee" not in names
    assert [one.sentence for one in changed.replies] == [
        'the reply said "Your payment of 80 to Ann is done."'
    ]
    assert changed.exact
    assert 'CASE "check-fee" of Pay chose' in changed.text()


def test_a_message_that_went_into_little(payment: Any) -> None:
    """The payee has no part in the fee and in the decision."""
    changed = payment.trace.what_changed(turn=3)
    names = {one.name for one in changed.changes if one.name}
    assert "payee" in names
    assert "fee" not in names
    assert "decision" not in {one.kind for one in changed.changes}


def test_as_data_and_by_number(payment: Any) -> None:
    """A message is found by its number as well, and the answer is plain data."""
    number = payment.trace.messages(2)[0].seq
    changed = payment.trace.what_changed(number)
    data = json.loads(json.dumps(changed.to_json()))
    assert data["message"] == number
    assert data["turn"] == 2
    assert data["changes"][0]["ref"].startswith("variable:")
    assert payment.trace.what_changed(f"message:{number}") == changed
    assert payment.trace.what_changed(str(number)) == changed


def test_a_message_that_is_none(payment: Any) -> None:
    """Who asks for an answer, or for a message that is not there, is told which there are."""
    with pytest.raises(CallerError, match="message 2 is none of the user's") as error:
        payment.trace.what_changed(2)
    assert "messages of the user: 1, 3, 5" in error.value.hint
    for wrong in ("step:Pay/ask", "message:", "message:x", "message:" + "9" * 5000):
        with pytest.raises(CallerError, match="names no message") as error:
            payment.trace.what_changed(wrong)
        assert error.value.hint == "message:3, as a chain names it, or 3 alone"
    with pytest.raises(CallerError, match="the user said nothing in turn 9"):
        payment.trace.what_changed(turn=9)
