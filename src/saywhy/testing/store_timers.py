"""Checks of a store: what falls due in a conversation shows in time, and goes in time."""

from __future__ import annotations

import asyncio

from saywhy.errors import Fenced
from saywhy.stores.store import Claim, Store
from saywhy.stores.timers import Timer
from saywhy.testing.store_parts import Check, begin, finish, refuses, same, take_over

FAR = 4e12
"""A moment in the year 2096."""
SOON = Timer(1000.0, b"soon")
NEXT = Timer(2000.0, b"next")


async def _end(store: Store, claim: Claim, *timers: Timer) -> None:
    await store.finish(claim, b"doc", b"reply", messages=(), commits=(), timers=timers)


async def _due(store: Store, until_ms: float | None = None) -> list[tuple[str, bytes]]:
    return [(one.session_id, one.payload) for one in await store.due(until_ms=until_ms)]


async def replaces_timers(store: Store) -> None:
    """The turn that ends says what falls due from then on; who says nothing changes nothing."""
    await _end(store, await begin(store, "s", "m1"), SOON, NEXT)
    await _end(store, await begin(store, "t", "m1", user_id="bob"), SOON)
    found = [(one.session_id, one.user_id, one.due_ms) for one in await store.due()]
    told = [("s", "ann", 1000.0), ("t", "bob", 1000.0), ("s", "ann", 2000.0)]
    same("what falls due, and whose it is", found, told)
    same("of one", [one.session_id for one in await store.due(session_id="t")], ["t"])
    ids = {one.payload: one.timer_id for one in await store.due() if one.session_id == "s"}

    await finish(store, await begin(store, "s", "m2"))
    same("after a turn that said nothing of it", len(await _due(store)), 3)
    await _end(store, await begin(store, "s", "m3"), NEXT)
    kept = [one.timer_id for one in await store.due() if one.session_id == "s"]
    same("the id of one that stays", kept, [ids[b"next"]])
    await _end(store, await begin(store, "s", "m4"))
    same("after the answer came", await _due(store), [("t", b"soon")])


async def withdraws_timers_of_failed_turns(store: Store) -> None:
    """A turn that fails with a repaired document says what falls due; without one all stays."""
    await _end(store, await begin(store, "s", "m1"), SOON)
    await store.fail(await begin(store, "s", "m2"), "error", "no")
    same("after a turn that left nothing", await _due(store), [("s", b"soon")])
    claim = await begin(store, "s", "m3")
    await store.fail(claim, "error", "no", doc=b"doc", timers=(NEXT,))
    same("after a repair", await _due(store), [("s", b"next")])
    claim = await begin(store, "s", "m4")
    await store.fail(claim, "error", "no", doc=b"doc", timers=())
    same("after one with nothing to wait for", await _due(store), [])


async def hides_timers_of_running_turns(store: Store) -> None:
    """While a turn is open nothing falls due: it may be the answer that is waited for."""
    await _end(store, await begin(store, "s", "m1"), SOON)
    await store.accept("s", "m2", b"hi", user_id="ann")
    same("while a message waits", await _due(store), [])
    claim = await take_over(store)
    same("while its turn runs", await _due(store), [])
    await store.hold(claim, "not now")
    same("while it is held", await _due(store), [])
    await store.release("s", claim.turn_no)
    await finish(store, await take_over(store))
    same("when it has ended", await _due(store), [("s", b"soon")])


async def asks_for_a_moment(store: Store) -> None:
    """Who says until when gets what is due by then, whatever the store's own clock says."""
    await _end(store, await begin(store, "s", "m1"), Timer(FAR, b"far"), SOON)
    same("by the store's clock", await _due(store), [("s", b"soon")])
    same("a moment before", await _due(store, FAR - 1), [("s", b"soon")])
    same("at the moment", await _due(store, FAR), [("s", b"soon"), ("s", b"far")])
    same("long ago", await _due(store, 999), [])


async def keeps_timers_of_modes_apart(store: Store) -> None:
    """Who runs turns of one mode finds what falls due in conversations of that mode alone."""
    await _end(store, await begin(store, "s", "m1"), SOON)
    accepted, claim = await store.accept_and_claim(
        "t", "m1", b"hi", user_id="ann", worker="one", mode="session-only"
    )
    assert claim is not None, accepted
    await _end(store, claim, SOON)
    same("of both", len(await store.due()), 2)
    same("of one", [one.session_id for one in await store.due(mode="session-only")], ["t"])
    same("of the other", [one.session_id for one in await store.due(mode="durable")], ["s"])


async def fences_timers(store: Store) -> None:
    """Whoever lost the turn leaves no timer behind and takes none away."""
    late = await begin(store, "s", "m1", ttl_seconds=0.02)
    mine = await take_over(store)
    await refuses("a late end", Fenced, _end(store, late, SOON))
    await _end(store, mine, NEXT)
    same("what the newer claim left", await _due(store), [("s", b"next")])


async def decides_who_was_first(store: Store) -> None:
    """Of many workers that accept what fell due under one id, one runs it and withdraws it."""
    await _end(store, await begin(store, "s", "m1"), SOON)
    (timer,) = await store.due()

    async def worker(name: str) -> str:
        accepted, claim = await store.accept_and_claim(
            "s", "(due) 1", timer.payload, user_id=timer.user_id, worker=name
        )
        if claim is not None:
            await _end(store, claim)
        return accepted.status

    found = await asyncio.gather(*(worker(str(number)) for number in range(8)))
    same("how many were first", found.count("new"), 1)
    same("what is left", await _due(store), [])
    same("the turns there were", len(await store.turns("s")), 2)


CHECKS: tuple[Check, ...] = (
    replaces_timers,
    withdraws_timers_of_failed_turns,
    hides_timers_of_running_turns,
    asks_for_a_moment,
    keeps_timers_of_modes_apart,
    fences_timers,
    decides_who_was_first,
)
