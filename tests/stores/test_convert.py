"""A store's documents in another encoding: lossless, stopped and begun again, page by page."""

from __future__ import annotations

import asyncio
import json
import random
import time
from pathlib import Path
from typing import Any

import pytest

from saywhy.errors import OutsideError
from saywhy.stores import convert as converting
from saywhy.stores.convert import convert
from saywhy.stores.encoding import encode, encoding_of
from saywhy.stores.memory import MemoryStore
from saywhy.stores.sqlite import SqliteStore
from saywhy.stores.store import Store
from saywhy.testing.store_parts import begin, call, finish

SEED = 7


def documents(count: int) -> list[bytes]:
    """Sessions of all sizes, some of them with what compresses badly."""
    chance = random.Random(SEED)
    return [
        json.dumps(
            {"n": n, "text": "Hello. " * chance.randrange(900), "r": chance.random()}
        ).encode()
        for n in range(count)
    ]


async def filled(store: Store, docs: list[bytes]) -> None:
    for number, doc in enumerate(docs):
        await store.save(f"s{number:04}", "ann", doc, 0)


async def stored(store: Store) -> list[bytes]:
    return [one.doc or b"" for one in await store.sessions(limit=10_000)]


async def everything(store: Store) -> Any:
    sessions = await store.sessions(limit=10_000)
    return [(one.session_id, one.user_id, one.version, one.running) for one in sessions]


async def test_there_and_back(tmp_path: Path) -> None:
    """Every byte is as it was, and so is everything else about a conversation."""
    docs = documents(60)
    async with SqliteStore(tmp_path / "s.db") as store:
        await filled(store, docs)
        before = await everything(store)
        done = await convert(store, "br-v1")
        assert (done.conversations, done.documents, done.is_complete) == (60, 60, True)
        assert done.before == sum(map(len, docs))
        assert done.after == sum(map(len, await stored(store))) < done.before / 5
        again = await convert(store, "br-v1")
        assert (again.conversations, again.documents, again.before) == (60, 0, 0)
        back = await convert(store, "plain")
        assert (back.documents, back.after) == (60, done.before)
        assert await stored(store) == docs
        assert await everything(store) == before


async def test_stopped_and_begun_again(tmp_path: Path) -> None:
    """What was written stays, both encodings stand beside each other, and the rest follows."""
    docs = documents(30)

    class Failing(SqliteStore):
        left = 12

        async def recode(self, *args: Any) -> int:
            self.left -= 1
            if self.left < 0:
                raise OutsideError("the disk is full")
            return await super().recode(*args)

    async with Failing(tmp_path / "s.db") as failing:
        await filled(failing, docs)
        with pytest.raises(OutsideError):
            await convert(failing, "br-v1")
    async with SqliteStore(tmp_path / "s.db") as store:
        kinds = [encoding_of(one) for one in await stored(store)]
        assert kinds == ["br-v1"] * 12 + ["plain"] * 18
        assert (await convert(store, "br-v1")).documents == 18
        assert (await convert(store, "plain")).documents == 30
        assert await stored(store) == docs


async def test_pages_stay_small() -> None:
    """However many conversations there are, a page of them is in memory."""
    asked: list[int] = []

    class Watched(MemoryStore):
        async def sessions(self, user_id: Any = None, limit: int = 100, after: str = "") -> Any:
            asked.append(limit)
            return await super().sessions(user_id, limit, after)

    store = Watched()
    await filled(store, documents(95))
    assert (await convert(store, "br-v1")).documents == 95
    assert asked == [converting.PAGE] * 11


async def test_open_turns() -> None:
    """The cursor of a turn that nobody runs is converted too; one under a lease is waited for."""
    store = MemoryStore()
    await finish(store, await begin(store), b"one")
    left = await begin(store, "s", "m2", ttl_seconds=0.3)
    await store.intent(left, 1, call(1), b"cursor " * 50, ())
    started = time.monotonic()
    done = await convert(store, "br-v1", wait_seconds=20)
    assert (done.documents, done.is_complete) == (2, True)
    assert time.monotonic() - started > 0.2
    claim = await store.claim("two", 30, "s")
    assert claim is not None
    assert claim.turn_doc == encode(b"cursor " * 50, "br-v1")
    busy = await convert(store, "plain", wait_seconds=0)
    assert (busy.documents, busy.busy, busy.busy_count) == (0, ["s"], 1)
    assert not busy.is_complete
    await store.hold(claim, "[]")
    assert (await convert(store, "plain")).documents == 2


async def test_while_turns_go_on(tmp_path: Path) -> None:
    """No turn is lost or repeated, and each document is whole in one encoding or another."""
    async with SqliteStore(tmp_path / "s.db") as store:
        names = [f"s{number}" for number in range(12)]
        over = asyncio.Event()

        async def converse(name: str) -> None:
            for number in range(1, 9):
                claim = await begin(store, name, f"m{number}")
                if claim.doc is not None:
                    assert claim.doc in (
                        text := f'{{"n":{number - 1}}}'.encode(),
                        encode(text, "br-v1"),
                    )
                text = f'{{"n":{number}}}'.encode()
                await store.finish(claim, text, text, messages=(), commits=())

        async def keep_converting() -> None:
            while not over.is_set():
                for encoding in ("br-v1", "plain"):
                    await convert(store, encoding, wait_seconds=0)

        converter = asyncio.create_task(keep_converting())
        await asyncio.gather(*(converse(name) for name in names))
        over.set()
        await converter
        await convert(store, "plain")
        assert [one.version for one in await store.sessions()] == [8] * 12
        assert await stored(store) == [b'{"n":8}'] * 12


async def test_many_damaged_ones_are_counted() -> None:
    """A few are named."""
    store = MemoryStore()
    await filled(store, [encode(b"{}" * 99, "br-v1")[:-1]] * 30)
    done = await convert(store, "plain")
    assert (done.damaged_count, len(done.damaged), done.documents) == (30, converting.MAX_NAMED, 0)
    assert done.damaged[0] == ("s0000", "its br-v1 document was cut off")
