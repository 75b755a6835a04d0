"""Promise: rows that were kept are masked by whoever runs a turn, and the chain still holds."""

from __future__ import annotations

from pathlib import Path

import pytest

from saywhy.errors import Fenced
from saywhy.runtime.audit.check import verify_store
from saywhy.stores.masked import Maskable, MaskedTurn
from saywhy.stores.memory import MemoryStore
from saywhy.stores.sqlite import SqliteStore
from saywhy.testing.store_parts import begin, call, finish

SECRET = b"say 8801993"
MASKED = b"say X!"


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> MemoryStore | SqliteStore:
    """Each store that can."""
    return MemoryStore() if request.param == "memory" else SqliteStore(tmp_path / "talk.db")


async def said(store: MemoryStore | SqliteStore, *numbers: int) -> None:
    """Turns with a message and a row of commits each."""
    for number in numbers:
        claim = await begin(store, "s", f"m{number}")
        rows = [(number, SECRET)]
        await store.finish(claim, b"", b"", messages=rows, commits=rows)


async def test_rows_of_earlier_turns_are_masked(store: MemoryStore | SqliteStore) -> None:
    """Those that were handed in, of the same conversation; the others stay as they are."""
    async with store:
        assert isinstance(store, Maskable)
        await said(store, 1, 2)
        await finish(store, await begin(store, "other"))
        claim = await begin(store, "s", "m3")
        rows = [(1, MASKED), (7, MASKED)]
        await store.mask_turns(claim, [MaskedTurn(1, rows, rows), MaskedTurn(9, rows, rows)])
        await finish(store, claim)
        assert [row.doc for row in await store.messages("s")] == [MASKED, SECRET]
        assert [row.doc for row in await store.commits("s")] == [MASKED, SECRET]


async def test_the_chain_holds_and_tells_of_it(store: MemoryStore | SqliteStore) -> None:
    """The digest stays without its salt, so nobody finds out by trying what was masked."""
    async with store:
        await said(store, 1, 2)
        claim = await begin(store, "s", "m3")
        await store.mask_turns(claim, [MaskedTurn(1, [(1, MASKED)])])
        await finish(store, claim)
        (chain,) = await store.chains(session_id="s")
        links = await store.links(chain.chain_id)
        assert [(link.salt is None, link.erased) for link in links] == [
            (True, "masked"),
            (False, ""),
            (False, ""),
        ]
        report = await verify_store(store)
        assert (report.ok, report.erased) == (True, 1)


async def test_whoever_has_lost_the_turn_masks_nothing(store: MemoryStore | SqliteStore) -> None:
    """Another worker has it, or it ended."""
    async with store:
        await said(store, 1)
        claim = await begin(store, "s", "m2")
        await finish(store, claim)
        with pytest.raises(Fenced):
            await store.mask_turns(claim, [MaskedTurn(1, [(1, MASKED)])])
        assert [row.doc for row in await store.messages("s")] == [SECRET]


async def test_what_this_turn_has_written_is_masked(store: MemoryStore | SqliteStore) -> None:
    """Its own link is made of what stands there when it ends."""
    async with store:
        claim = await begin(store, "s", "m1")
        await store.intent(claim, 1, call(1), b"", commits=[(1, SECRET)])
        await store.mask_turns(claim, [MaskedTurn(1, commits=[(1, MASKED)])])
        await finish(store, claim)
        assert [row.doc for row in await store.commits("s")] == [MASKED]
        (chain,) = await store.chains(session_id="s")
        (link,) = await store.links(chain.chain_id)
        assert (link.salt is None, link.erased) == (False, "")
        assert (await verify_store(store)).ok
