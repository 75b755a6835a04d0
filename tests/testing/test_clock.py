"""Promise: on the fake clock waiting takes no time, and everything happens in the right order."""

from __future__ import annotations

import asyncio
import threading
import time

import pytest

from saywhy.clock import Clock
from saywhy.testing.clock import START_MS, FakeClock
from saywhy.tools.threads import SHARED


def test_is_a_clock() -> None:
    """It can stand wherever a clock is asked for."""
    clock: Clock = FakeClock()
    assert clock.now() == START_MS


def test_sleeping_takes_no_real_time_and_moves_the_clock() -> None:
    """An hour passes at once, and the clock shows it."""

    async def main() -> float:
        clock = FakeClock(now=0)
        await clock.sleep(3600)
        return clock.now()

    began = time.monotonic()
    assert asyncio.run(main()) == 3_600_000
    assert time.monotonic() - began < 1


def test_sleepers_wake_in_the_order_of_their_moments() -> None:
    """Who waits for an earlier moment wakes first, equals in the order they fell asleep."""
    woken: list[tuple[str, float]] = []

    async def main() -> None:
        clock = FakeClock(now=0)

        async def sleeper(name: str, seconds: float) -> None:
            await clock.sleep(seconds)
            woken.append((name, clock.now()))

        await asyncio.gather(sleeper("c", 3), sleeper("a", 1), sleeper("b", 2), sleeper("b2", 2))

    asyncio.run(main())
    assert woken == [("a", 1000), ("b", 2000), ("b2", 2000), ("c", 3000)]


def test_does_not_jump_while_a_task_has_work() -> None:
    """A task that gives way a thousand times is done before any time passes."""

    async def main() -> tuple[float, float]:
        clock = FakeClock(now=0)

        async def busy() -> float:
            for _ in range(1000):
                await asyncio.sleep(0)
            return clock.now()

        worker = asyncio.create_task(busy())
        await clock.sleep(1)
        return await worker, clock.now()

    assert asyncio.run(main()) == (0, 1000)


def test_a_time_limit_ends_the_wait_at_its_moment() -> None:
    """What takes longer than its limit is cancelled at that moment."""
    ended: list[float] = []

    async def main() -> None:
        clock = FakeClock(now=0)

        async def slow() -> None:
            try:
                await clock.sleep(60)
            finally:
                ended.append(clock.now())

        with pytest.raises(TimeoutError):
            await clock.wait_for(slow(), 2.5)
        assert clock.now() == 2500
        assert clock.sleeping == 0

    asyncio.run(main())
    assert ended == [2500]


def test_a_result_in_time_leaves_no_alarm_behind() -> None:
    """A result within the limit is handed on, and the clock stays where it came."""

    async def main() -> None:
        clock = FakeClock(now=0)

        async def quick() -> str:
            await clock.sleep(1)
            return "done"

        assert await clock.wait_for(quick(), 5) == "done"
        assert clock.now() == 1000
        assert clock.sleeping == 0
        assert await clock.wait_for(quick(), None) == "done"

    asyncio.run(main())


def test_an_error_in_time_is_raised_as_it_is() -> None:
    """The limit does not disguise what went wrong."""

    async def broken() -> None:
        raise KeyError("x")

    with pytest.raises(KeyError, match="x"):
        asyncio.run(FakeClock().wait_for(broken(), 5))


def test_cancelling_the_waiter_cancels_what_it_waits_for() -> None:
    """Nothing goes on behind the back of somebody who was cancelled."""
    ended: list[str] = []

    async def main() -> None:
        clock = FakeClock(now=0, auto=False)

        async def slow() -> None:
            try:
                await clock.sleep(60)
            finally:
                ended.append("slow")

        waiter = asyncio.create_task(clock.wait_for(slow(), 5))
        await asyncio.sleep(0.001)
        waiter.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiter

    asyncio.run(main())
    assert ended == ["slow"]


def test_by_hand_only_advance_moves_it() -> None:
    """With `auto=False` nobody wakes before the test says so."""

    async def main() -> None:
        clock = FakeClock(now=0, auto=False)
        sleeper = asyncio.create_task(clock.sleep(10))
        await asyncio.sleep(0.01)
        assert (clock.now(), sleeper.done(), clock.sleeping) == (0, False, 1)
        clock.advance(9)
        await asyncio.sleep(0)
        assert (clock.now(), sleeper.done()) == (9000, False)
        clock.advance(1)
        await sleeper
        assert (clock.now(), clock.sleeping) == (10_000, 0)

    asyncio.run(main())


def test_waits_for_our_own_threads_before_it_jumps() -> None:
    """A function that takes a moment in a thread is back before its time limit passes."""

    async def main() -> float:
        clock = FakeClock(now=0)
        job = SHARED.start(lambda: time.sleep(0.02))
        await clock.wait_for(job.wait(), 5)
        return clock.now()

    assert asyncio.run(main()) == 0


def test_a_hanging_thread_does_not_stop_time() -> None:
    """A function that never comes back runs into its limit."""
    release = threading.Event()

    async def main() -> float:
        clock = FakeClock(now=0)
        job = SHARED.start(release.wait)
        with pytest.raises(TimeoutError):
            await clock.wait_for(job.wait(), 5)
        SHARED.give_up(job)
        return clock.now()

    assert asyncio.run(main()) == 5000
    release.set()


def test_patience_lets_the_outside_world_answer() -> None:
    """With patience, a socket that answers within it wins against the jump."""

    async def main() -> float:
        clock = FakeClock(now=0, patience_seconds=0.5)

        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(await reader.readline())
            await writer.drain()
            writer.close()

        async def ask(port: int) -> bytes:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(b"hello\n")
            line = await reader.readline()
            writer.close()
            return line

        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        async with server:
            port = server.sockets[0].getsockname()[1]
            assert await clock.wait_for(ask(port), 5) == b"hello\n"
        return clock.now()

    assert asyncio.run(main()) == 0


def test_one_clock_serves_several_loops_one_after_the_other() -> None:
    """Time goes on where the last event loop left it."""
    clock = FakeClock(now=0)
    asyncio.run(clock.sleep(1))
    asyncio.run(clock.sleep(1))
    assert clock.now() == 2000


def test_sleeping_no_time_gives_way_once() -> None:
    """A sleep of zero lets others run and moves nothing."""

    async def main() -> list[str]:
        clock = FakeClock(now=0)
        seen: list[str] = []
        other = asyncio.create_task(_note(seen, "other"))
        await clock.sleep(0)
        seen.append("sleeper")
        await other
        assert clock.now() == 0
        return seen

    assert asyncio.run(main()) == ["other", "sleeper"]


async def _note(seen: list[str], word: str) -> None:
    seen.append(word)


def test_is_found_where_the_documentation_says() -> None:
    """Users import it from `saywhy.testing`."""
    from saywhy import testing

    assert testing.FakeClock is FakeClock
