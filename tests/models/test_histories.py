"""Promise: whatever lawful conversation there is, each vendor's package accepts what is sent.

A conversation is lawful when each call is answered once, in order, before anybody else speaks. Of
what is sent, the packages' own types are asked, and the law of each server that its types do not
know: who may speak after whom, and that results stand with the calls they answer.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saywhy.models.anthropic import AnthropicModel
from saywhy.models.chat import (
    assistant_message,
    system_message,
    tool_message,
    user_message,
)
from saywhy.models.provider import Ask
from saywhy.models.wire import ToolNames
from saywhy.values import freeze
from tests.models.lawful import (
    NAME,
    anthropic_messages,
    check_vendors,
    contents_of,
    openai_messages,
)

TEXTS = st.sampled_from(["", "x", "Øre\n{}", '{"error":true,"message":"m"}', " "])
WORDS = st.sampled_from(["x", "two words", "π"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.floats(-2, 2) | WORDS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(WORDS, inner, max_size=2),
    max_leaves=4,
)
IMAGES = st.sampled_from(
    [
        {"type": "url", "url": "https://pictures.example/a.png"},
        {"type": "base64", "media_type": "image/png", "data": "iVBORw=="},
    ]
)
BLOCKS = st.lists(
    st.builds(lambda text: {"type": "text", "text": text}, TEXTS)
    | st.builds(lambda source: {"type": "image", "source": source}, IMAGES),
    max_size=3,
)
CONTENTS = TEXTS | BLOCKS
CALLED = st.sampled_from(["now", "shop.find", "", "7 ways", "ö" * 99])


@st.composite
def histories(draw: st.DrawFn) -> list[dict[str, Any]]:
    """A lawful conversation that may begin anywhere, as one that was cut does."""
    found: list[dict[str, Any]] = []
    number = 0
    for kind in draw(st.lists(st.sampled_from("suaac"), min_size=1, max_size=8)):
        if kind == "s":
            found.append(system_message(draw(TEXTS)))
        elif kind == "u":
            found.append(user_message(draw(CONTENTS)))
        elif kind == "a":
            found.append(assistant_message(draw(TEXTS)))
        else:
            arguments = draw(st.lists(st.dictionaries(WORDS, JSON, max_size=2), max_size=3))
            calls = [
                {"id": f"c{number + at}", "name": draw(CALLED), "arguments": one}
                for at, one in enumerate(arguments)
            ]
            number += len(calls)
            found.append(assistant_message(draw(TEXTS), calls))
            found += [tool_message(draw(CONTENTS), call["id"]) for call in calls]
    return found


@given(histories())
def test_each_vendor_accepts_it(history: list[dict[str, Any]]) -> None:
    """Its types do, and so do the laws of its server; nothing of it is lost on the way."""
    check_vendors(history)


@pytest.mark.parametrize("of", [anthropic_messages, contents_of, openai_messages])
@given(history=histories())
def test_state_is_sent_like_plain_data(of: Any, history: list[dict[str, Any]]) -> None:
    """Messages come frozen out of a conversation's state, and nothing of that reaches a vendor."""
    assert of(freeze(history)) == of(history)
    assert _is_plain(of(freeze(history)))


def _is_plain(value: Any) -> bool:
    if isinstance(value, list):
        return all(map(_is_plain, value))
    if isinstance(value, dict):
        return all(map(_is_plain, value.values()))
    return value is None or type(value) in (str, bytes, int, float, bool)


async def test_the_conversation_is_left_as_it_is() -> None:
    """Building a request changes nothing of the question, which others hold as well."""
    history = freeze([user_message("a"), user_message([{"type": "text", "text": "b"}])])
    ask = Ask("chat", "s", history, [{"name": "now", "input_schema": {}}])
    before = str(history)
    anthropic_messages(ask.messages)
    AnthropicModel("small", api_key="k")._body(ask)
    assert str(history) == before


def test_names_that_no_vendor_takes_find_their_way_back() -> None:
    """Each tool has a name of its own out there, and its own name when it is called."""
    own = ["shop.find", "shop_find", "shop/find", "now", "7up", "x" * 70, "x" * 71]
    names = ToolNames([{"name": name} for name in own])
    sent = [names.out(name) for name in own]
    assert sent[:5] == ["shop_find", "shop_find_2", "shop_find_3", "now", "_7up"]
    assert len(set(sent)) == len(own)
    assert all(NAME.fullmatch(name) for name in sent)
    assert [names.back(name) for name in sent] == own
    assert (names.out("made up!"), names.back("made_up_")) == ("made_up_", "made_up_")
    assert (names.out(""), names.back(None)) == ("unnamed", "")
