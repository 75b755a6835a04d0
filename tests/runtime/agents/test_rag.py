"""Promise: what a retriever finds is handed to the model as a second system message."""

from __future__ import annotations

from typing import Any

import pytest

from saywhy.agent.receipts.served import served_at
from saywhy.errors import DefinitionError
from saywhy.runtime.agents.rag import RAG
from saywhy.runtime.agents.sequence import Sequence
from saywhy.stores.retriever import Chunk
from tests.runtime.agents.models import Replies


class Found:
    """Finds these chunks, and notes what it was asked."""

    def __init__(self, *chunks: Chunk) -> None:
        self.chunks = chunks
        self.asked: list[Any] = []

    def retrieve(self, query: str, **limits: Any) -> list[Chunk]:
        self.asked.append((query, limits))
        return list(self.chunks)


HEAD = "Use the following context to answer the user's question:"


async def test_what_was_found_goes_first() -> None:
    """Numbered, behind the prompt, before the user's words; no mark of ours is sent."""
    model, found = Replies("A"), Found(Chunk("Alpha.", 0.9, "d1"), Chunk("Beta.", 0.5))
    runner = RAG(model, found, top_k=2, min_score=0.3, system="S")
    result = await runner.run("q?")
    assert found.asked == [("q?", {"top_k": 2, "min_score": 0.3})]
    assert model.asked[0].system == "S"
    assert model.messages == [
        [
            {"role": "system", "content": f"{HEAD}\n\n[1] Alpha.\n\n[2] Beta."},
            {"role": "user", "content": "q?"},
        ]
    ]
    assert (result.content, result.query, result.chunks) == ("A", "q?", found.chunks)
    assert served_at(runner.get_snapshot(), 1).verdict == "verified"


async def test_nothing_found_no_message() -> None:
    """The model is asked all the same."""
    model = Replies("A")
    result = await RAG(model, Found()).run("q?")
    assert model.messages == [[{"role": "user", "content": "q?"}]]
    assert result.chunks == ()


async def test_an_async_retriever_is_awaited() -> None:
    """And one in the middle of a sequence is asked for what it was given there."""

    class Later(Found):
        async def retrieve(self, query: str, **limits: Any) -> list[Chunk]:  # type: ignore[override]
            return super().retrieve(query, **limits)

    found = Later(Chunk("Alpha."))
    both = Sequence(lambda message: f"{message}!", RAG(Replies("A"), found))
    assert (await both.run("q")).content == "A"
    assert found.asked == [("q!", {})]


async def test_a_retriever_that_raises_ends_the_run() -> None:
    """Nobody is answered from nothing."""

    class Broken:
        def retrieve(self, query: str) -> Any:
            raise OSError("no index")

    model = Replies("A")
    with pytest.raises(OSError, match="no index"):
        await RAG(model, Broken()).run("q")
    assert not model.asked


def test_what_is_wrong_is_told_at_once() -> None:
    """The retriever and its limits."""
    with pytest.raises(DefinitionError) as caught:
        RAG(Replies(), object(), top_k=0, min_score=True)  # type: ignore[arg-type]
    assert [one.message for one in caught.value.problems] == [
        "object is no retriever",
        "top_k is 0",
        "min_score is True",
    ]
