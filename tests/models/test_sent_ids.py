"""Promise: a vendor is sent ids of calls that it takes, whoever made them up."""

from __future__ import annotations

import re
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from saywhy.models.chat import assistant_message, tool_message, user_message
from saywhy.models.sent_ids import SentIds
from tests.models.lawful import anthropic_messages, check_vendors, openai_messages


def test_ids_that_are_taken_stay_as_they_are() -> None:
    """What a vendor gave is given back to it."""
    ids = SentIds()
    given = ["toolu_01A09q90qw90lq917835lq9", "call_9", "auto-strict-1"]
    assert [ids.call(one) for one in given] == given
    assert [ids.result(one) for one in given] == given


def test_other_ids_are_mended() -> None:
    """Line breaks, dots, length, and nothing at all; the result goes with its call."""
    ids = SentIds()
    given = ["a\r\nb", "a.b", "", "x" * 50, "x" * 51]
    sent = [ids.call(one) for one in given]
    assert sent == ["a_b", "a_b_2", "call", "x" * 40, "x" * 38 + "_2"]
    assert [ids.result(one) for one in given] == sent


def test_an_id_that_comes_again_is_another_call() -> None:
    """Models of the host's own count from one in every answer."""
    ids = SentIds()
    assert (ids.call("1"), ids.result("1")) == ("1", "1")
    assert (ids.call("1"), ids.result("1")) == ("1_2", "1_2")


@given(st.lists(st.text(max_size=60), max_size=6))
def test_whatever_the_ids_are(given: list[str]) -> None:
    """Each vendor accepts a conversation of one call a round; nothing of ours changes."""
    history: list[Any] = [user_message("go")]
    for own in given:
        history.append(assistant_message("", [{"id": own, "name": "now", "arguments": {}}]))
        history.append(tool_message("x", own))
    before = str(history)
    if all(given):  # of a call without an id a conversation's own law says that it has none
        check_vendors(history)
    sent = [call["id"] for one in openai_messages(history) for call in one.get("tool_calls", ())]
    assert all(re.fullmatch(r"[A-Za-z0-9_-]{1,40}", one) for one in sent)
    used = [
        block["id"]
        for turn in anthropic_messages(history)
        for block in turn["content"]
        if turn["role"] == "assistant"
    ]
    assert used == sent
    assert str(history) == before
