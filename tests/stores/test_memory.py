"""The store in memory keeps what `saywhy.stores.store` promises, by the clock it is given."""

from __future__ import annotations

import asyncio
import gc

import pytest

from saywhy.stores.memory import MemoryStore
from saywhy.stores.store import Blank
from saywhy.stores.timers import Timer
from saywhy.testing.check_store import STORE_CHECKS, check_promise
from saywhy.testing.clock import FakeClock
from saywhy.testing.store_parts import Check, begin, call, finish


@pytest.mark.parametrize("check", STORE_CHECKS, ids=lambda check: check.__name__)
def test_keeps_its_promise(check: Check) -> None:
    """Each promise of a store holds in memory."""
    asyncio.run(check_promise(check, MemoryStore))


def test_time_is_a_parameter() -> None:
    """Leases, limits and timers go by the clock handed in, to the millisecond."""

    async def scene() -> None:
        clock = FakeClock(auto=False)
        store = MemoryStore(clock)
        claim = await begin(store, ttl_seconds=30)
        clock.advance(29.999)
        assert await store.claim("two", 30) is None
        clock.advance(0.001)
        second = await store.claim("two", 30)
        assert second is not None
        assert second.fence == claim.fence + 1
        timers = [Timer(clock.now() + 5000, b"later")]
        await store.finish(second, b"", b"", messages=(), commits=(), timers=timers)
        assert await store.allow("ann", "pay", 2, 1000) is None
        clock.advance(0.4)
        assert await store.allow("ann", "pay", 2, 1000) is None
        assert await store.allow("ann", "pay", 2, 1000) == 600
        clock.advance(0.6)
        assert await store.allow("ann", "pay", 2, 1000) is None
        clock.advance(3.999)
        assert await store.due() == ()
        clock.advance(0.001)
        assert [timer.payload for timer in await store.due()] == [b"later"]

    asyncio.run(scene())


SECRET = b"4929-" + b"1234-5678"


def secrets_in(store: MemoryStore) -> list[bytes]:
    """Every secret that can be reached from the store."""
    seen, waiting, found = {id(store)}, [store], []
    while waiting:
        for thing in gc.get_referents(waiting.pop()):
            if id(thing) not in seen and not isinstance(thing, type):
                seen.add(id(thing))
                waiting.append(thing)
                if isinstance(thing, bytes) and SECRET in thing:
                    found.append(thing[len(SECRET) :])
    return sorted(found)


def test_secrets_leave_the_memory() -> None:
    """What was blanked is not merely hidden."""

    async def scene(blank: Blank, blank_input: bool) -> MemoryStore:
        store = MemoryStore()
        _, claim = await store.accept_and_claim("s", "m", SECRET + b"1", user_id="a", worker="w")
        assert claim is not None
        await store.intent(claim, 1, call(1, args=SECRET + b"2"), SECRET + b"3", ())
        await store.finish(
            claim, b"", b"", messages=(), commits=(), previous_result=(1, SECRET + b"4"),
            blank=blank, blank_input=blank_input,
        )  # fmt: skip
        return store

    assert secrets_in(asyncio.run(scene(frozenset(), False))) == [b"1", b"2", b"4"]
    assert secrets_in(asyncio.run(scene("all", True))) == []


def test_limits_leave_nothing_behind() -> None:
    """People who asked once and never came back are forgotten as others come."""

    async def scene() -> None:
        clock = FakeClock(auto=False)
        store = MemoryStore(clock)
        for number in range(1000):
            clock.advance(1)
            assert await store.allow(f"user{number}", "pay", 1, 10_000) is None
        assert len(store._rates) < 20

    asyncio.run(scene())


def test_closing_wakes_who_waits() -> None:
    """Nobody waits for work of a store that is closed; what it holds stays readable."""

    async def scene() -> None:
        store = MemoryStore()
        async with store:
            await finish(store, await begin(store))
            await store.wait_work(30)
            waiting = asyncio.create_task(store.wait_work(30))
            await asyncio.sleep(0)
        await asyncio.wait_for(waiting, 10)
        session = await store.session("s")
        assert session is not None
        assert session.version == 1

    asyncio.run(scene())
