"""A conversation read turn by turn: the same from both stores, also where turns left nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from saywhy.stores.memory import MemoryStore
from saywhy.stores.parts import Part, Parts, ReadInParts
from saywhy.stores.sqlite import SqliteStore

ROWS = {
    1: ([(1, b"c1")], [(1, b"m1"), (2, b"m2")]),
    2: ([], []),
    3: ([(4, b"c4"), (6, b"c6")], []),
    4: ([], [(5, b"m5")]),
    5: ([(9, b"c9")], [(6, b"m6")]),
}
"""By turn: commits and messages. Numbers have gaps, and turn 2 left nothing."""


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> MemoryStore | SqliteStore:
    return MemoryStore() if request.param == "memory" else SqliteStore(tmp_path / "s.db")


async def filled(store: MemoryStore | SqliteStore) -> Parts:
    for name in ("other", "s", "t"):  # the conversations beside it are no part of it
        for turn_no, (commits, messages) in ROWS.items():
            message_id = f"m{turn_no}"
            _, claim = await store.accept_and_claim(
                name, message_id, b"", user_id="ann", worker="w"
            )
            assert claim is not None
            if turn_no == 2:
                await store.fail(claim, "error", "no")
            else:
                await store.finish(claim, b"doc", b"", messages=messages, commits=commits)
    await store.put_charts({"digest": b"chart"})
    parts = await store.parts("s")
    assert parts is not None
    return parts


async def test_what_is_there(store: MemoryStore | SqliteStore) -> None:
    """From the first turn that left something to the newest; the document; charts."""
    async with store:
        assert isinstance(store, ReadInParts)
        parts = await filled(store)
        assert (parts.first, parts.last, parts.doc) == (1, 5, b"doc")
        assert parts.numbers() == [1, 3, 4, 5]
        assert (parts.chart("digest"), parts.chart("none")) == (b"chart", None)
        assert await store.parts("nobody") is None


@pytest.mark.parametrize("first", range(7))
@pytest.mark.parametrize("last", range(7))
async def test_turns_are_read(store: MemoryStore | SqliteStore, first: int, last: int) -> None:
    """Each with its rows in order, and only those that were asked for."""
    async with store:
        parts = await filled(store)
        wanted = [
            Part(number, commits, messages)
            for number, (commits, messages) in ROWS.items()
            if first <= number <= last and (commits or messages)
        ]
        found = [
            Part(one.turn_no, [*one.commits], [*one.messages]) for one in parts.read(first, last)
        ]
        assert found == wanted


@pytest.mark.parametrize("at_once", [1, 2, 3, 4])
async def test_turns_are_read_on(store: MemoryStore | SqliteStore, at_once: int) -> None:
    """From the first piece to the last, from the last to the first, or anyhow: each is the same."""
    async with store:
        parts = await filled(store)
        whole = {one.turn_no: one for one in parts.read(0, 9)}
        begins = [*range(0, 8, at_once)]
        for order in (begins, begins[::-1], begins[1::2] + begins[::2]):
            fresh = await store.parts("s")
            assert fresh is not None
            for first in [*order, *order]:
                last = first + at_once - 1
                expected = [one for number, one in whole.items() if first <= number <= last]
                assert fresh.read(first, last) == expected


async def test_found_by_number(store: MemoryStore | SqliteStore) -> None:
    """A commit in the turn whose rows begin last before it, a message by its own number."""
    async with store:
        parts = await filled(store)
        assert [parts.turn_of_commit(seq) for seq in range(12)] == [
            0, 1, 1, 1, 3, 3, 3, 3, 3, 5, 5, 5
        ]  # fmt: skip
        assert [parts.turn_of_message(seq) for seq in range(9)] == [0, 1, 1, 0, 0, 4, 5, 0, 0]


async def test_pruned_turns(store: MemoryStore | SqliteStore) -> None:
    """What was pruned is not there any more; it begins with what was left."""
    async with store:
        await filled(store)
        await store.prune(0)
        parts = await store.parts("s")
        assert parts is not None
        assert (parts.first, parts.last) in {(4, 5), (5, 5)}
        assert parts.read(1, 3) == []


async def test_after_the_store_was_closed(tmp_path: Path) -> None:
    """Parts can still be read: from the file, or from memory."""
    for store in (MemoryStore(), SqliteStore(tmp_path / "s.db")):
        async with store:
            parts = await filled(store)
        assert parts.turn_of_commit(9) == 5
        assert len(parts.read(1, 5)) == 4
