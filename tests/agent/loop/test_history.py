"""Promise: a conversation is shown whole, and every call in it is answered."""

from __future__ import annotations

from typing import Any

import pytest

from saywhy.agent.loop.history import NOT_MADE, closed, conversation_of, history_of
from saywhy.models.chat import problems_of
from saywhy.values import FrozenDict, FrozenList, freeze, thaw


def called(*ids: str) -> dict[str, Any]:
    calls = [{"id": one, "name": "x", "arguments": {}} for one in ids]
    return {"role": "assistant", "content": "", "tool_calls": calls}


def told(one: str) -> dict[str, Any]:
    return {"role": "tool", "content": f"r{one}", "tool_call_id": one}


USER = {"role": "user", "content": "go"}


@pytest.mark.parametrize(
    ("messages", "ids"),
    [
        ([USER, called("a", "b")], ["a", "b"]),
        ([USER, called("a", "b"), told("b")], ["a", "b"]),
        ([USER, called("a"), USER], ["a"]),
        ([called("a", "b", "c"), told("a"), told("c"), USER, called("d")], ["a", "b", "c", "d"]),
    ],
)
def test_open_calls_are_closed_in_order(messages: list[Any], ids: list[str]) -> None:
    """What is there stays; what is missing gets an error as answer, in its place."""
    made = closed(freeze(messages))
    assert problems_of(made) == []
    answers = [one for one in made if one["role"] == "tool"]
    assert [one["tool_call_id"] for one in answers] == ids
    there = {one["tool_call_id"] for one in messages if one["role"] == "tool"}
    missing = [one["tool_call_id"] for one in answers if NOT_MADE in one["content"]]
    assert missing == [one for one in ids if one not in there]


def test_a_whole_conversation_is_left_as_it_is() -> None:
    """It is the very same list."""
    messages = freeze([USER, called("a"), told("a")])
    assert closed(messages) is messages


def test_the_system_prompt_is_shown_in_front_without_a_copy() -> None:
    """It behaves as one list."""
    messages: FrozenList = freeze([USER, called("a")])
    shown = history_of("S", messages)
    assert [one["role"] for one in shown] == ["system", "user", "assistant"]
    assert (len(shown), shown[-1]["role"], shown[0]) == (3, "assistant", shown[-3])
    assert [one["role"] for one in shown[1:]] == ["user", "assistant"]
    with pytest.raises(IndexError, match="message 3 of 3"):
        shown[3]
    assert history_of("", messages) is messages


def test_the_conversation_of_a_state() -> None:
    """With the prompt that counted last, and without those of before."""
    old = {"role": "system", "content": "old"}
    put_in = {"role": "system", "content": "summary", "injected": "memory:summary"}
    state = FrozenDict({"messages": [old, put_in, USER], "assembledSystem": "new"})
    shown = thaw(conversation_of(state))
    assert shown == [{"role": "system", "content": "new"}, USER]
    assert thaw(conversation_of({"messages": freeze([old, USER])})) == [old, USER]
