"""Promise: facts, skills, memory and what is found are one concept, judged at one moment."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from saywhy.agent.slots.context import SlotContext
from saywhy.agent.slots.injection import (
    Injection,
    Piece,
    context_text,
    evaluate_injections,
    evaluate_injections_later,
    fact,
    memory,
    rag,
    skill,
    steering,
)
from saywhy.errors import CallerError, OutsideError
from saywhy.stores.retriever import Chunk

NOW = SlotContext("refund please")


def broken(context: SlotContext) -> bool:
    raise KeyError("x")


def test_what_applies_and_what_does_not() -> None:
    """Each that does not apply has its reason; a predicate that raises does not apply."""
    found = evaluate_injections(
        [
            fact("The shop is closed."),
            skill("refunds", "Refunds take days.", lambda context: "refund" in context.message),
            skill("tax", "Taxes.", lambda context: False),
            skill("odd", "Odd.", broken),
            steering(lambda context: "", id="quiet"),
            fact(lambda context: context.message.upper(), id="loud"),
        ],
        NOW,
    )
    assert [(one.injection.id, one.piece.text) for one in found.active] == [
        ("fact", "The shop is closed."),
        ("refunds", "Refunds take days."),
        ("loud", "REFUND PLEASE"),
    ]
    assert found.skipped == (
        ("tax", "predicate-false"),
        ("odd", "predicate-threw: KeyError"),
        ("quiet", "nothing-to-say"),
    )


class Found:
    """A retriever that notes what it is asked."""

    def __init__(self, *chunks: Chunk) -> None:
        self.chunks = chunks
        self.asked: list[Any] = []

    def retrieve(self, query: str, /, **limits: Any) -> tuple[Chunk, ...]:
        self.asked.append((query, limits))
        return self.chunks


def test_retrieval() -> None:
    """What was found is numbered below a heading; only limits that are given are handed on."""
    retriever = Found(Chunk("Alpha.", 0.9, "a"), Chunk("Beta.", 0.5, "b"))
    [one] = evaluate_injections([rag(retriever, top_k=2, min_score=0.3)], NOW).active
    assert one.piece == Piece(
        "Use the following context to answer the user's question:\n\n[1] Alpha.\n\n[2] Beta.",
        {
            "retrieval_score": 0.9,
            "threshold": 0.3,
            "rank_position": 1,
            "upstream_ref": "a, b",
        },
    )
    assert retriever.asked == [("refund please", {"top_k": 2, "min_score": 0.3})]
    assert one.injection.slot == "messages"
    assert context_text(retriever.chunks) == one.piece.text


def test_nothing_found() -> None:
    """Where nothing is found there is nothing to say."""
    retriever = Found()
    assert evaluate_injections([rag(retriever)], NOW).skipped == (("rag", "nothing-to-say"),)
    assert retriever.asked == [("refund please", {})]


async def test_contents_are_awaited() -> None:
    """Contents may be async, and an async retriever makes its injection async."""

    class Later(Found):
        async def retrieve(self, query: str, /, **limits: Any) -> tuple[Chunk, ...]:
            return super().retrieve(query, **limits)

    async def recall(context: SlotContext) -> str:
        return "You met."

    injections = [memory(recall), rag(Later(Chunk("x"))), fact("plain")]
    assert [one.is_async for one in injections] == [True, True, False]
    found = await evaluate_injections_later(injections, NOW)
    assert [one.piece.text for one in found.active][0::2] == ["You met.", "plain"]


def test_contents_that_are_no_text() -> None:
    """Content that is something else, or was never awaited, is refused with its injection."""

    async def later(context: SlotContext) -> str:
        return "x"

    with pytest.raises(CallerError, match="the content of injection fact gave int"):
        evaluate_injections([fact(lambda context: 5)], NOW)
    with pytest.raises(CallerError, match="gave coroutine instead of text") as caught:
        evaluate_injections([fact(later)], NOW)
    assert "async def" in caught.value.hint


async def test_what_fails_is_named() -> None:
    """A content that raises, awaited or not, alone or beside others, is told with its injection;
    whoever waits for it is not left cancelled."""

    async def down(context: SlotContext) -> str:
        raise OSError("the shelf is down")

    async def slow(context: SlotContext) -> str:
        await asyncio.sleep(60)
        return "late"

    def at_once(context: SlotContext) -> str:
        raise OSError("the shelf is down")

    told = 'injection "memory" failed: OSError: the shelf is down'
    for given in ([memory(down)], [memory(down), fact(slow)], [memory(at_once)]):
        with pytest.raises(OutsideError) as caught:
            await evaluate_injections_later(given, NOW)
        assert caught.value.message == told
    task = asyncio.current_task()
    assert task is not None
    assert task.cancelling() == 0


def test_a_retriever_finds_chunks() -> None:
    """Anything else is refused with what to try."""

    class Odd(Found):
        def retrieve(self, query: str, /, **limits: Any) -> Any:
            return [{"content": "x"}]

    with pytest.raises(CallerError, match="found dict instead of Chunk") as caught:
        evaluate_injections([rag(Odd())], NOW)
    assert "from saywhy" in caught.value.hint


def test_marks() -> None:
    """An injection is told from others by its source and id."""
    assert memory("x").mark == "memory:memory"
    assert Injection("a", "messages", "x").mark == "custom:a"
