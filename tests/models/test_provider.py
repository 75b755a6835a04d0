"""Promise: a provider that streams and one that just answers are the same to whoever asks."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from saywhy.errors import CallerError, ModelError
from saywhy.models.chat import user_message
from saywhy.models.provider import (
    Ask,
    ModelReply,
    Piece,
    Provider,
    StopPiece,
    TextPiece,
    ThinkingPiece,
    ToolCallPiece,
    UsagePiece,
    pieces_of,
    question,
    reply_of,
)

HI = Ask("chat", messages=[user_message("Hi")])
CALL = ToolCallPiece("1", "now", {})
PIECES: list[Piece] = [
    ThinkingPiece("h"),
    ThinkingPiece("m"),
    TextPiece("Hel"),
    UsagePiece(3, 1),
    TextPiece("lo"),
    CALL,
    UsagePiece(3, 9),
    StopPiece("tool_calls", "m-1"),
]
REPLY = ModelReply("Hello", "m-1", 3, 9, (CALL,), "tool_calls", "hm")


class Streaming:
    """Gives pieces, and knows whether it was closed."""

    def __init__(self, pieces: list[Any]) -> None:
        self.pieces = pieces
        self.is_closed = False

    async def ask(self, ask: Ask) -> AsyncIterator[Piece]:
        try:
            for piece in self.pieces:
                yield piece
        finally:
            self.is_closed = True


class Simple:
    """Gives whatever it is told to, at once."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    async def ask(self, ask: Ask) -> Any:
        return self.answer


async def test_pieces_make_a_reply() -> None:
    """Texts and thoughts are joined, the last usage counts, calls keep their order."""
    heard: list[Piece] = []
    assert await reply_of(Streaming(PIECES), HI, heard.append) == REPLY
    assert heard == PIECES


async def test_a_reply_makes_pieces() -> None:
    """In the same order, and nothing for what it does not have."""
    heard: list[Piece] = []
    assert await reply_of(Simple(REPLY), HI, heard.append) == REPLY
    assert [type(piece).__name__ for piece in heard] == [
        *("ThinkingPiece", "TextPiece", "ToolCallPiece", "UsagePiece", "StopPiece")
    ]
    assert [piece async for piece in pieces_of(Simple(ModelReply("")), HI)] == [StopPiece("stop")]
    called = ModelReply("", tool_calls=(CALL,))
    assert (await reply_of(Simple(called), HI)).stop == "tool_calls"


async def test_a_function_that_gives_a_stream_is_understood() -> None:
    """`async def ask` that returns a generator is a slip that costs nobody anything."""
    stream = Streaming(PIECES)
    assert await reply_of(Simple(stream.ask(HI)), HI) == REPLY


async def test_half_a_stream_is_no_answer() -> None:
    """One without a StopPiece broke off."""
    with pytest.raises(ModelError, match="broke off before it was complete") as caught:
        await reply_of(Streaming(PIECES[:-1]), HI)
    assert (caught.value.code, caught.value.retryable) == ("network", True)
    assert caught.value.hint == "a provider's stream ends with a StopPiece"


@pytest.mark.parametrize("answer", ["Hello", None, 7])
async def test_what_is_no_answer_is_the_callers_mistake(answer: Any) -> None:
    """Told with the class that gave it, whichever way it came."""
    kind = type(answer).__name__
    for provider in (Simple(answer), Streaming([answer])):
        told = f"{type(provider).__name__}.ask gave {kind}, which is no answer"
        with pytest.raises(CallerError, match=told):
            await reply_of(provider, HI)


async def test_whoever_leaves_closes_the_stream() -> None:
    """At once: a listener that raises leaves nothing open behind it."""
    stream = Streaming(PIECES)

    def listen(piece: Piece) -> None:
        raise KeyError("listener")

    with pytest.raises(KeyError, match="listener"):
        await reply_of(stream, HI, listen)
    assert stream.is_closed
    left = Streaming(PIECES)
    pieces = pieces_of(left, HI)
    await anext(pieces)
    await pieces.aclose()
    assert left.is_closed


def test_a_question_of_two_texts() -> None:
    """As flows put it."""
    ask = question("voice", "sys", "words", "{}", {"task": "voice"})
    assert (ask.system, ask.user, ask.schema, ask.request) == (
        "sys",
        "words",
        "{}",
        {"task": "voice"},
    )
    assert ask.messages == ({"role": "user", "content": "words"},)
    assert (Ask("chat").user, Ask("chat").system, dict(Ask("chat").settings)) == ("", None, {})


def test_a_call_as_it_stands_in_a_message() -> None:
    """What is not there is not written."""
    assert CALL.as_call() == {"id": "1", "name": "now", "arguments": {}}
    odd = ToolCallPiece("1", "now", {}, "{", {"google": {"id": "q"}})
    assert odd.as_call() == {**CALL.as_call(), "raw": "{", "vendor": {"google": {"id": "q"}}}


def test_who_is_a_provider() -> None:
    """Whatever has the one method."""
    assert isinstance(Streaming([]), Provider)
    assert isinstance(Simple(None), Provider)
    assert not isinstance(len, Provider)
