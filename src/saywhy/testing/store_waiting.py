"""Checks of a store: what conversations wait for is listed until it is there."""

from __future__ import annotations

from saywhy.errors import Fenced
from saywhy.stores.store import Claim, Store
from saywhy.stores.waiting import Waiting
from saywhy.testing.store_parts import Check, begin, finish, refuses, same, take_over

ONE = Waiting("one", "settle", b"1")
TWO = Waiting("two", "approval", b"2")


async def _end(store: Store, claim: Claim, *waiting: Waiting) -> None:
    await store.finish(claim, b"doc", b"reply", messages=(), commits=(), waiting=waiting)


async def _names(store: Store, session_id: str | None = None) -> list[str]:
    return [one.waiting_id for one in await store.waiting(session_id)]


async def lists_what_is_waited_for(store: Store) -> None:
    """What a turn leaves behind is listed, until a later turn ends without it."""
    same("what nobody waits for", await store.waiting(), ())
    await _end(store, await begin(store, "s", "m1"), ONE, TWO)
    await _end(store, await begin(store, "t", "m1", user_id="bob"), ONE)
    first, second, other = await store.waiting()
    found = [(one.session_id, one.user_id, one.turn_no, one.kind) for one in (first, other)]
    same("whose it is", found, [("s", "ann", 1, "settle"), ("t", "bob", 1, "settle")])
    same("what it is", (second.waiting_id, second.doc), ("two", b"2"))
    same("of one conversation", await _names(store, "t"), ["one"])
    page = await store.waiting(after=first.number, limit=1)
    same("the page behind the first", page, (second,))

    await finish(store, await begin(store, "s", "m2"))
    same("after a turn that said nothing of it", await _names(store, "s"), ["one", "two"])
    await _end(store, await begin(store, "s", "m3"), TWO)
    same("after one of two has come", await store.waiting("s"), (second,))
    await _end(store, await begin(store, "s", "m4"))
    same("after all has come", await _names(store), ["one"])


async def repairs_what_is_waited_for(store: Store) -> None:
    """A turn that ends without a reply says what is waited for as well, with its document."""
    await _end(store, await begin(store, "s", "m1"), ONE, TWO)
    claim = await begin(store, "s", "m2")
    await store.fail(claim, "error", "no", doc=b"doc", waiting=(ONE,))
    same("after a failed turn", await _names(store), ["one"])


async def fences_what_is_waited_for(store: Store) -> None:
    """Whoever lost the turn changes nothing of it, and a person who is forgotten leaves none."""
    late = await begin(store, "s", "m1", ttl_seconds=0.02)
    mine = await take_over(store)
    await refuses("a late end", Fenced, _end(store, late, ONE))
    await _end(store, mine, TWO)
    same("what the newer claim left", await _names(store), ["two"])
    await store.forget("ann")
    same("after the person was forgotten", await store.waiting(), ())


async def ends_openly(store: Store) -> None:
    """A turn that ends as unknown has its reply like any other, and says what it is."""
    claim = await begin(store, "s", "m1")
    await store.finish(claim, b"doc", b"so far", messages=(), commits=(), ended_as="unknown")
    again = await store.accept("s", "m1", b"hi", user_id="ann")
    same("its message again", (again.status, again.reply), ("done", b"so far"))
    same("its status", (await store.turns("s"))[0].status, "unknown")
    await finish(store, await begin(store, "s", "m2"))
    same("the turn after it", (await store.turns("s"))[1].status, "done")


CHECKS: tuple[Check, ...] = (
    lists_what_is_waited_for,
    repairs_what_is_waited_for,
    fences_what_is_waited_for,
    ends_openly,
)
