"""Promise: messages are plain JSON, and what breaks the law of calls and results is found."""

from __future__ import annotations

from typing import Any

import pytest

from saywhy.models.chat import (
    assistant_message,
    last_user_text,
    problems_of,
    system_message,
    text_of,
    tool_message,
    user_message,
)
from saywhy.values import freeze

CALL = {"id": "1", "name": "now", "arguments": {}}
OTHER = {**CALL, "id": "2"}


def test_the_messages() -> None:
    """Keys that say nothing are absent."""
    assert system_message("s") == {"role": "system", "content": "s"}
    assert user_message("u") == {"role": "user", "content": "u"}
    assert assistant_message("a") == {"role": "assistant", "content": "a"}
    assert assistant_message() == {"role": "assistant", "content": ""}
    assert assistant_message("", [CALL]) == {
        "role": "assistant",
        "content": "",
        "tool_calls": [CALL],
    }
    assert tool_message("t", "1") == {"role": "tool", "content": "t", "tool_call_id": "1"}


BLOCKS = [
    {"type": "text", "text": "a"},
    {"type": "image", "source": {}},
    {"type": "text", "text": "b"},
]


@pytest.mark.parametrize(
    ("content", "text"),
    [("x", "x"), (BLOCKS, "ab"), (freeze(BLOCKS), "ab"), ([], ""), (None, ""), ({}, ""), (7, "")],
)
def test_the_text_of_a_content(content: Any, text: str) -> None:
    """A text is itself, blocks are joined without anything between; anything else has none."""
    assert text_of(content) == text


def test_the_users_last_words() -> None:
    """Those of the last message of the user's, whoever spoke since."""
    history = [user_message("a"), user_message(BLOCKS), assistant_message("c", [CALL])]
    assert last_user_text([*history, tool_message("d", "1")]) == "ab"
    assert last_user_text([assistant_message("c")]) == ""
    assert last_user_text(freeze(history)) == "ab"


@pytest.mark.parametrize(
    ("history", "problems"),
    [
        ([], []),
        ([system_message("s"), user_message("u"), assistant_message("a")], []),
        (
            [assistant_message("", [CALL, OTHER]), tool_message("", "1"), tool_message("", "2")],
            [],
        ),
        (
            [assistant_message("", [CALL, OTHER]), tool_message("", "2"), tool_message("", "1")],
            ["messages[1]: answers the call '2' before '1'"],
        ),
        (
            [assistant_message("", [CALL])],
            ["the conversation ends before the call '1' is answered"],
        ),
        (
            [assistant_message("", [CALL, OTHER]), user_message("u")],
            ["messages[1]: user speaks before 2 calls ('1', '2') are answered"],
        ),
        ([tool_message("", "1")], ["messages[0]: answers the call '1', which is not open"]),
        (
            [assistant_message("", [CALL]), tool_message("", "1"), tool_message("", "1")],
            ["messages[2]: answers the call '1', which is not open"],
        ),
        (
            [{"role": "robot"}],
            ["messages[0]: 'robot' is no role; known: system, user, assistant, t"],
        ),
        (
            [assistant_message("", [CALL, CALL]), tool_message("", "1"), tool_message("", "1")],
            ["messages[0].tool_calls[1]: has the id '1' of another"],
        ),
        (
            [assistant_message("", [{"name": "", "id": ""}]), tool_message("", "")],
            ["messages[0].tool_calls[0]: has no id", "messages[0].tool_calls[0]: names no tool"],
        ),
    ],
)
def test_the_law_of_calls_and_results(history: list[Any], problems: list[str]) -> None:
    """Each call is answered once, in order, before anybody else speaks."""
    found = problems_of(history)
    assert len(found) == len(problems)
    for said, wanted in zip(found, problems, strict=True):
        assert said.startswith(wanted)
    assert problems_of(freeze(history)) == found
