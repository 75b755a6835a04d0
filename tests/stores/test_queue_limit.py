"""How many messages of one conversation may wait."""

from __future__ import annotations

from pathlib import Path

import pytest

from saywhy.errors import QueueFull
from saywhy.stores.memory import MemoryStore
from saywhy.stores.sqlite import SqliteStore
from saywhy.stores.store import Store


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    """At most three open turns."""
    if request.param == "memory":
        return MemoryStore(max_queued=3)
    return SqliteStore(tmp_path / "s.db", max_queued=3)


async def accept(store: Store, number: int, *, session_id: str = "s") -> str:
    accepted = await store.accept(session_id, f"m{number}", b"hi", user_id="ann")
    return accepted.status


async def test_one_message_too_many(store: Store) -> None:
    """Is refused by name, and nothing of it is kept; what was accepted before is not touched."""
    async with store:
        accepted, claim = await store.accept_and_claim("s", "m1", b"hi", user_id="ann", worker="w")
        assert claim is not None
        assert [accepted.status, await accept(store, 2), await accept(store, 3)] == ["new"] * 3
        with pytest.raises(QueueFull):
            await accept(store, 4)
        with pytest.raises(QueueFull) as refusal:
            await accept(store, 4)
        assert refusal.value.message == (
            '3 messages of conversation "s" wait already; this one was not accepted'
        )
        assert refusal.value.hint.startswith("send it again, under the same message id")
        with pytest.raises(QueueFull):
            await store.accept_and_claim("s", "m4", b"hi", user_id="ann", worker="w")
        assert [turn.message_id for turn in await store.turns("s")] == ["m1", "m2", "m3"]
        assert await accept(store, 3) == "running"
        assert await accept(store, 1, session_id="other") == "new"


async def test_room_comes_back(store: Store) -> None:
    """With each turn that ends, however it does, and the refused message is new then."""
    async with store:
        for number in (1, 2, 3):
            await accept(store, number)
        for number, ends_well in ((4, True), (5, False)):
            with pytest.raises(QueueFull):
                await accept(store, number)
            claim = await store.claim("w", session_id="s")
            assert claim is not None
            if ends_well:
                await store.finish(claim, b"doc", b"ok", messages=(), commits=())
            else:
                await store.fail(claim, "error", "no")
            assert await accept(store, number) == "new"
        numbers = [turn.turn_no for turn in await store.turns("s")]
        assert numbers == [1, 2, 3, 4, 5]
