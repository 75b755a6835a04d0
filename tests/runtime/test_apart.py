"""Promise: work in a thread is done to its end, whatever becomes of who waits for it."""

from __future__ import annotations

import asyncio
import contextvars
import threading
import time

import pytest

from saywhy.runtime.apart import Apart

HERE = contextvars.ContextVar("HERE", default="")


async def test_the_result_and_the_error_come_back() -> None:
    """What the work gives or raises is what awaiting it gives or raises; it sees the context."""
    apart = Apart()
    HERE.set("seen")
    assert await apart.run(lambda: (HERE.get(), threading.current_thread().name[:11])) == (
        "seen",
        "saywhy-turn",
    )
    with pytest.raises(ZeroDivisionError):
        await apart.run(lambda: 1 / 0)
    apart.close()
    assert await apart.run(lambda: 1) == 1, "it can be used again"
    apart.close()


async def test_the_loop_goes_on() -> None:
    """While the work waits, the event loop does other things."""
    apart = Apart()
    work = asyncio.ensure_future(apart.run(lambda: time.sleep(0.2)))
    rounds = 0
    while not work.done():
        await asyncio.sleep(0.01)
        rounds += 1
    assert rounds > 5
    apart.close()


@pytest.mark.parametrize("fails", [False, True])
async def test_cancelling_waits_for_the_end(fails: bool) -> None:
    """Cancelled, even twice, it is over when the work is over, and not before."""
    apart = Apart()
    ended: list[float] = []

    def work() -> None:
        time.sleep(0.2)
        ended.append(time.monotonic())
        if fails:
            raise ValueError("nobody hears this")

    task = asyncio.ensure_future(apart.run(work))
    await asyncio.sleep(0.05)
    task.cancel()
    await asyncio.sleep(0.05)
    assert not task.done()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ended
    apart.close()
