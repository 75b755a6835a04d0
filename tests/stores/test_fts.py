"""Promise: texts are found by their words, whatever a query looks like and whoever else writes."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from saywhy.errors import CallerError
from saywhy.stores.fts import MAX_WORDS, SqliteRetriever, passages, words_of
from saywhy.stores.retriever import Chunk, Document, is_async_retriever

SHOP = (
    Document("refunds", "Refunds take five days.", {"page": 1}),
    Document("shipping", "Shipping takes two days."),
    Document("damage", "We refund damaged goods at once."),
    Document("café", "Our café is open on Sundays."),
)


@asynccontextmanager
async def opened(path: Path, **options: Any) -> AsyncIterator[SqliteRetriever]:
    retriever = SqliteRetriever(path, **options)
    try:
        yield retriever
    finally:
        retriever.close()


@asynccontextmanager
async def shop(path: Path, **options: Any) -> AsyncIterator[SqliteRetriever]:
    async with opened(path / "r.db", **options) as retriever:
        assert await retriever.add(SHOP) == 4
        yield retriever


def ids(found: list[Chunk]) -> list[str]:
    return [one.id for one in found]


async def test_the_best_first(tmp_path: Path) -> None:
    """The text with most of the query's weight comes first, with the words that stand in it."""
    async with shop(tmp_path) as retriever:
        found = await retriever.retrieve("How long do refunds take?")
        assert ids(found) == ["refunds", "shipping", "damage"]
        assert found[0] == Chunk(
            "Refunds take five days.", 0.4, "refunds", {"page": 1}, ("refunds", "take")
        )
        assert found[1].matched == ("take",)
        assert found[2].matched == ("refunds",)
        assert is_async_retriever(retriever)


async def test_limits(tmp_path: Path) -> None:
    """Nothing below the least score and no more than asked for is found."""
    async with shop(tmp_path, top_k=2, min_score=0.1) as retriever:
        assert len(await retriever.retrieve("refunds days")) == 2
        assert ids(await retriever.retrieve("refunds days", top_k=1)) == ["refunds"]
        assert ids(await retriever.retrieve("refunds days", min_score=0.9)) == ["refunds"]
        assert await retriever.retrieve("refunds days", min_score=1.1) == []
        with pytest.raises(CallerError, match="top_k is 0"):
            await retriever.retrieve("x", top_k=0)


async def test_equal_texts_keep_their_order(tmp_path: Path) -> None:
    """Texts of the same score come in the order in which they were added, every time."""
    async with opened(tmp_path / "r.db") as retriever:
        names = [f"d{n}" for n in (3, 1, 2, 5, 4)]
        await retriever.add(Document(name, "the same text") for name in names)
        for _ in range(3):
            assert ids(await retriever.retrieve("same text")) == names


async def test_marks_above_letters(tmp_path: Path) -> None:
    """Letters are found with their marks and without, in either case."""
    async with shop(tmp_path) as retriever:
        for query in ("cafe", "CAFÉ", "Café"):
            assert ids(await retriever.retrieve(query)) == ["café"]


@pytest.mark.parametrize(
    "query",
    ['"); DROP TABLE documents; --', "NEAR(a b) AND OR NOT *", "content:x^2", '"', "", "\x00", "-"],
)
async def test_queries_that_look_like_syntax(tmp_path: Path, query: str) -> None:
    """Only the words of a query count, so none of them can fail or do harm."""
    async with shop(tmp_path) as retriever:
        await retriever.retrieve(query)
        assert ids(await retriever.retrieve(f"{query} refunds"))[0] == "refunds"
        assert await retriever.count() == 4


@given(some.text(max_size=60))
def test_words_of_any_text(query: str) -> None:
    """Any text has words: different ones, not too many, that SQLite can hold."""
    words = words_of(query)
    assert len(words) == len(set(words)) <= MAX_WORDS
    assert all('"' not in word and word.encode() for word in words)


async def test_very_long_queries(tmp_path: Path) -> None:
    """Of a long query the first words are looked for, each once."""
    async with shop(tmp_path) as retriever:
        query = "refunds " * 10_000 + " ".join(f"w{n}" for n in range(100))
        assert ids(await retriever.retrieve(query))[0] == "refunds"


async def test_replacing_and_removing(tmp_path: Path) -> None:
    """A document with a known id replaces the one before; what is removed is found no more."""
    async with shop(tmp_path) as retriever:
        await retriever.add([{"id": "refunds", "content": "Money back."}])
        assert ids(await retriever.retrieve("five")) == []
        assert ids(await retriever.retrieve("money")) == ["refunds"]
        assert await retriever.count() == 4
        assert await retriever.remove(["refunds", "nobody"]) == 1
        assert await retriever.retrieve("money") == []


async def test_all_or_none(tmp_path: Path) -> None:
    """Where one document is refused none is added."""
    async with shop(tmp_path) as retriever:
        with pytest.raises(CallerError, match="document long has 100001 characters") as caught:
            await retriever.add([Document("new", "x"), Document("long", "x" * 100_001)])
        assert "passages" in caught.value.hint
        assert await retriever.count() == 4
        with pytest.raises(CallerError, match="a document has an id and a content, both text"):
            await retriever.add([{"id": "", "content": "x"}])


async def test_languages_without_spaces(tmp_path: Path) -> None:
    """With `trigram` any three letters in a row are found."""
    async with opened(tmp_path / "r.db", tokenizer="trigram") as retriever:
        await retriever.add([Document("zh", "退款需要五天时间")])
        assert ids(await retriever.retrieve("需要五")) == ["zh"]


def test_an_unknown_tokenizer(tmp_path: Path) -> None:
    """A tokenizer that is none of ours is refused before the file is made."""
    tokenizer: Any = "x' , y"
    with pytest.raises(CallerError, match="is no way to cut texts into words"):
        SqliteRetriever(tmp_path / "r.db", tokenizer=tokenizer)
    assert not (tmp_path / "r.db").exists()


WRITER = """
import asyncio, sys
from saywhy.stores.fts import SqliteRetriever, Document

async def main(path, name):
    retriever = SqliteRetriever(path)
    for n in range(25):
        await retriever.add([Document(f"{name}{n}", f"word{n} from {name}")])
    retriever.close()

asyncio.run(main(*sys.argv[1:]))
"""


async def test_several_processes(tmp_path: Path) -> None:
    """Two processes and this one write to one file, and everything is found."""
    path = tmp_path / "r.db"
    async with opened(path) as retriever:
        command = [sys.executable, "-c", WRITER, str(path)]
        others = [subprocess.Popen([*command, name]) for name in ("a", "b")]
        for n in range(25):
            await retriever.add([Document(f"c{n}", f"word{n} from c")])
        for one in others:
            assert await asyncio.to_thread(one.wait, 60) == 0
        assert await retriever.count() == 75
        assert sorted(ids(await retriever.retrieve("word7"))) == ["a7", "b7", "c7"]


def test_passages() -> None:
    """Long texts are cut between paragraphs, else between words, else anywhere; nothing is lost."""
    assert passages("One.\n\nTwo.\n\nThree is longer.", max_chars=12) == [
        "One.\n\nTwo.",
        "Three is",
        "longer.",
    ]
    assert passages("abcdef", max_chars=4) == ["abcd", "ef"]
    assert passages("") == []
    with pytest.raises(CallerError, match="a passage has at least one character"):
        passages("x", max_chars=0)


@given(some.text(alphabet="ab \n", max_size=80), some.integers(1, 20))
def test_passages_of_any_text(text: str, most: int) -> None:
    """No passage is longer than it may be, and all letters are kept in order."""
    found = passages(text, max_chars=most)
    assert all(0 < len(one) <= most for one in found)
    assert "".join("".join(found).split()) == "".join(text.split())
