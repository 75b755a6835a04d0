"""Promise: what was said comes back as it was saved, and nobody's messages are wiped out."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from saywhy.errors import CallerError, OutsideError, StateValueError
from saywhy.stores.chat_memory import (
    ConversationChanged,
    KeyValueChatMemory,
    LocalChatMemory,
    TableChatMemory,
    read_messages,
)
from saywhy.stores.sqlite_chat_memory import SqliteChatMemory
from saywhy.values import thaw

SYSTEM = {"role": "system", "content": "S"}
ONE = {"role": "user", "content": "é 😀"}
TWO = {
    "role": "assistant",
    "content": "",
    "tool_calls": [{"id": "1", "name": "f", "arguments": {}}],
}


@asynccontextmanager
async def opened(path: Path, **options: Any) -> AsyncIterator[SqliteChatMemory]:
    store = SqliteChatMemory(path, **options)
    try:
        yield store
    finally:
        store.close()


class Rows(dict[str, Any]):
    """A table that is asked row by row, as clients of such stores are."""

    async def put(self, row: dict[str, Any]) -> None:
        self[row["conversation_id"]] = row


class Keys(dict[str, Any]):
    """A key-value store."""

    def set(self, key: str, text: str) -> None:
        self[key] = text


# ------------------------------------------------------------------ in memory, keys, tables


def test_in_memory() -> None:
    """What is saved or loaded is a copy: changing it changes nothing that is kept."""
    store = LocalChatMemory()
    assert store.load("c") is None
    messages = [dict(ONE)]
    store.save("c", messages)
    messages[0]["content"] = "changed"
    loaded = store.load("c")
    assert loaded == [ONE]
    assert loaded is not None
    loaded.append(TWO)
    assert store.load("c") == [ONE]
    assert store.ids() == ["c"]
    store.forget("c")
    assert store.load("c") is None


def test_what_is_no_message() -> None:
    """What a conversation cannot hold is refused when it is saved, with its place."""
    with pytest.raises(StateValueError, match=r"messages\.0\.content is a set"):
        LocalChatMemory().save("c", [{"role": "user", "content": {1}}])


async def test_keys_and_tables() -> None:
    """Both keep JSON text; a table's other columns stay as they were."""
    keys, rows = Keys(), Rows()
    await KeyValueChatMemory(keys, prefix="p:").save("c", [ONE, TWO])
    assert list(keys) == ["p:c"]
    assert thaw(await KeyValueChatMemory(keys, prefix="p:").load("c")) == [ONE, TWO]
    assert await KeyValueChatMemory(keys).load("c") is None
    rows["c"] = {"conversation_id": "c", "owner": "me"}
    table = TableChatMemory(rows)
    assert await table.load("c") is None
    await table.save("c", [ONE])
    assert thaw(await table.load("c")) == [ONE]
    assert rows["c"]["owner"] == "me"
    assert await table.load("other") is None


@pytest.mark.parametrize("text", ["", "{", "{}", "null", '["x"]', b"\xff", 5, None, "[" * 5000])
def test_text_that_cannot_be_read(text: Any) -> None:
    """Damaged text counts as nothing kept, whatever is wrong with it."""
    assert read_messages(text) is None


# ------------------------------------------------------------------ SQLite


async def test_a_file(tmp_path: Path) -> None:
    """What one store saved another one of the same file loads."""
    async with opened(tmp_path / "m.db") as store:
        assert await store.load("c") is None
        await store.save("c", [SYSTEM, ONE, TWO])
    async with opened(tmp_path / "m.db") as store:
        assert thaw(await store.load("c")) == [SYSTEM, ONE, TWO]
        await store.forget("c")
        assert await store.load("c") is None


async def test_what_is_forgotten_is_in_no_byte(tmp_path: Path) -> None:
    """Not in the write-ahead log either, while the file is still open."""
    async with opened(tmp_path / "m.db") as store:
        await store.save("c", [ONE, {"role": "assistant", "content": "27 Wintergarden Lane"}])
        await store.save("other", [ONE])
        await store.forget("c")
        kept = b"".join(one.read_bytes() for one in tmp_path.iterdir())
        assert b"Wintergarden" not in kept
        assert thaw(await store.load("other")) == [ONE]


async def test_two_runs_at_a_time(tmp_path: Path) -> None:
    """The second of two runs is told that the first has saved meanwhile, and nothing is lost."""
    path = tmp_path / "m.db"
    async with opened(path) as one, opened(path) as other:
        await one.save("c", [ONE])
        await one.save("c", [ONE, {"role": "assistant", "content": "first"}])
        with pytest.raises(ConversationChanged) as caught:
            await other.save("c", [ONE, {"role": "assistant", "content": "second"}])
        assert str(caught.value) == (
            'the conversation "c" was saved by somebody else meanwhile: 2 messages are stored that '
            "these do not begin with"
        )
        assert isinstance(caught.value, OutsideError)
        assert [one["content"] for one in await other.load("c") or ()][-1] == "first"


async def test_the_system_prompt_may_change(tmp_path: Path) -> None:
    """System messages are not compared; saving nothing forgets the conversation."""
    async with opened(tmp_path / "m.db") as store:
        await store.save("c", [SYSTEM, ONE])
        await store.save("c", [{"role": "system", "content": "New."}, ONE, TWO])
        await store.save("c", [ONE, TWO])
        await store.save("c", [])
        assert await store.load("c") is None


async def test_the_last_save_may_count(tmp_path: Path) -> None:
    """With `overwrite` the last save counts."""
    async with opened(tmp_path / "m.db", on_conflict="overwrite") as store:
        await store.save("c", [ONE, TWO])
        await store.save("c", [TWO])
        assert thaw(await store.load("c")) == [TWO]


@pytest.mark.parametrize("name", ["a b", "1a", "x" * 65, "", 'a"; DROP TABLE b', "ä", 5])
def test_names_of_tables(tmp_path: Path, name: Any) -> None:
    """A name that is more than a name is refused before any statement is made of it."""
    with pytest.raises(CallerError, match="is no name for a table") as caught:
        SqliteChatMemory(tmp_path / "m.db", table=name)
    assert "at most 64" in caught.value.hint
    assert not (tmp_path / "m.db").exists()


async def test_other_tables(tmp_path: Path) -> None:
    """Two tables of one file know nothing of each other."""
    path = tmp_path / "m.db"
    async with opened(path, table="a") as one, opened(path, table="_b" + "x" * 62) as other:
        await one.save("c", [ONE])
        assert await other.load("c") is None


async def test_many_at_once(tmp_path: Path) -> None:
    """Conversations saved side by side through two stores are all kept."""
    path = tmp_path / "m.db"
    async with opened(path) as one, opened(path) as other:
        names = [f"c{n}" for n in range(40)]
        await asyncio.gather(
            *((one if n % 2 else other).save(name, [ONE]) for n, name in enumerate(names))
        )
        found = await asyncio.gather(*(one.load(name) for name in names))
        assert all(thaw(kept) == [ONE] for kept in found)
