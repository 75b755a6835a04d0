"""The bell that tells those who wait to look again."""

from __future__ import annotations

import asyncio
import threading
import time

from saywhy.stores.bell import Bell


async def timed(bell: Bell, seconds: float) -> float:
    start = time.monotonic()
    await bell.wait(seconds)
    return time.monotonic() - start


def test_waiting_ends_when_the_time_is_over() -> None:
    """Nobody waits longer than was asked for."""
    assert 0.02 <= asyncio.run(timed(Bell(), 0.03)) < 5


def test_wakes_everyone_who_waits() -> None:
    """One ring wakes all, and is not kept for later."""

    async def scene() -> None:
        bell = Bell()
        waiting = [asyncio.create_task(bell.wait(30)) for _ in range(5)]
        await asyncio.sleep(0)
        bell.ring()
        await asyncio.wait_for(asyncio.gather(*waiting), 10)
        assert await timed(bell, 0.03) >= 0.02

    asyncio.run(scene())


def test_remembers_one_ring() -> None:
    """What rang while nobody listened wakes the next who waits, once."""

    async def scene() -> None:
        bell = Bell()
        bell.ring()
        bell.ring()
        assert await timed(bell, 30) < 10
        assert await timed(bell, 0.03) >= 0.02

    asyncio.run(scene())


def test_is_rung_from_any_thread() -> None:
    """Loops in several threads are woken by a ring from another one, also if one is gone."""
    bell = Bell()

    async def leave() -> None:
        waiting = asyncio.create_task(bell.wait(30))
        await asyncio.sleep(0)
        waiting.cancel()

    asyncio.run(leave())
    took: list[float] = []
    threads = [
        threading.Thread(target=lambda: took.append(asyncio.run(timed(bell, 30)))) for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    end = time.monotonic() + 20
    while len(took) < len(threads) and time.monotonic() < end:
        time.sleep(0.01)
        bell.ring()
    for thread in threads:
        thread.join()
    assert len(took) == 3
    assert max(took) < 20
