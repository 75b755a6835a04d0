"""Promise: what is left of a sensitive part tells how it went, and nothing of what it was about."""

from __future__ import annotations

from typing import Any

import pytest

from saywhy.chart.commit import Answered, Asked
from saywhy.trace.masking.veil import (
    veil,
    veil_answered,
    veil_asked,
    veil_at,
    veil_facts,
    veil_wanted,
)
from saywhy.values import UNDEFINED, freeze, thaw

MARK = "[X]"


@pytest.mark.parametrize("value", [None, UNDEFINED, ""])
def test_nothing_stays_nothing(value: Any) -> None:
    """Whether there was anything at all is told."""
    assert veil(value, MARK) is value


@pytest.mark.parametrize("value", [0, False, True, 12.5, "a", freeze([1]), freeze({"a": None})])
def test_everything_else_is_one_mark(value: Any) -> None:
    """Neither a flag nor a length nor a shape is told."""
    assert veil(value, MARK) == MARK


def test_at_paths() -> None:
    """Other parts stay, and what is not there is not made; a list counts with every item."""
    value = freeze({"a": [{"b": 1, "c": 2}, {"c": 3}], "d": "e"})
    seen = veil_at(value, (("a", "b"), ("d",), ("f", "g")), MARK)
    assert seen == freeze({"a": [{"b": MARK, "c": 2}, {"c": 3}], "d": MARK})
    assert veil_at(value, ((),), MARK) == MARK


def test_what_a_model_was_asked_and_answered() -> None:
    """Roles, tools and counts stay; words and arguments go, also when they are named oddly."""
    call = {"id": "c1", "name": "look", "args": {"name": "Ann", "id": 4711}}
    reply = {"text": "Ann lives here", "tool_calls": [call], "usage": {"tokens": 7}}
    handed = {"messages": [{"role": "user", "content": "Ann"}], "iteration": 2}
    asked = Asked("model", "chat", freeze(handed))
    seen = veil_asked(asked, frozenset(), MARK)
    assert seen.args == freeze({"messages": [{"role": "user", "content": MARK}], "iteration": 2})
    answered = veil_answered(Answered("model", "chat", freeze(reply), "Ann failed"), MARK)
    hidden = {"id": "c1", "name": "look", "args": MARK}
    assert answered.value == freeze({"text": MARK, "tool_calls": [hidden], "usage": {"tokens": 7}})
    assert answered.error == MARK


def test_facts_lose_values_and_sentences() -> None:
    """What was done stays: actions, attempts, states."""
    facts = {
        "failure": {"message": "no 4711", "action": "retry", "rule": 2},
        "transaction": {"state": "failed", "failureReason": "no 4711"},
        "arguments_after": {"a": 1},
        "attempts": 2,
    }
    assert veil_facts(facts, MARK) == {
        "failure": {"message": MARK, "action": "retry", "rule": 2},
        "transaction": {"state": "failed", "failureReason": MARK},
        "arguments_after": MARK,
        "attempts": 2,
    }


def test_what_a_model_wants_keeps_what_no_tool_declares() -> None:
    """However deep the calls stand; without any of such a tool it is the same value."""
    call = {"id": "c", "name": "pay", "arguments": {"pin": "12", "of": "me"}, "raw": "{"}
    talk = freeze([{"role": "assistant", "tool_calls": [call]}])
    kept = veil_wanted(talk, {"pay": (("pin",),)}, MARK)
    wanted = {**call, "arguments": {"pin": MARK, "of": "me"}, "raw": MARK}
    assert thaw(kept) == [{"role": "assistant", "tool_calls": [wanted]}]
    assert veil_wanted(talk, {"other": (("pin",),)}, MARK) is talk
