"""Promise: waiting within a time limit gives what `await` gives, whether or not there is a wait."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable

import pytest

from saywhy.clock import SystemClock

CLOCK = SystemClock()


async def waits(times: int, seconds: float = 0) -> list[str]:
    told: list[str] = []
    for at in range(times):
        try:
            await asyncio.sleep(seconds)
        except asyncio.CancelledError:
            told.append("cancelled")
            raise
        told.append(str(at))
    return told


@pytest.mark.parametrize("times", [0, 1, 3])
async def test_the_result_comes_however_often_the_work_waits(times: int) -> None:
    """Not at all, once, or several times."""
    assert await CLOCK.wait_for(waits(times), 5) == [str(at) for at in range(times)]


@pytest.mark.parametrize("seconds", [0.01, 0.0])
async def test_work_that_takes_longer_is_cancelled_where_it_waits(seconds: float) -> None:
    """The limit counts from the beginning, the part before the first wait included."""
    seen: list[str] = []

    async def work() -> None:
        for _ in range(3):
            try:
                await asyncio.sleep(30)
            except asyncio.CancelledError:
                seen.append("cancelled")
                raise

    with pytest.raises(TimeoutError):
        await CLOCK.wait_for(work(), seconds)
    assert seen == ["cancelled"]


@pytest.mark.parametrize("times", [0, 2])
async def test_an_error_of_the_work_comes_out_as_it_is(times: int) -> None:
    """Before its first wait and after it."""

    async def work() -> None:
        await waits(times)
        raise ValueError("of the work")

    with pytest.raises(ValueError, match="of the work"):
        await CLOCK.wait_for(work(), 5)


async def test_an_error_of_what_is_waited_for_reaches_the_work() -> None:
    """The work may catch it and wait again."""
    asked: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def work() -> str:
        await asyncio.sleep(0)
        try:
            await asked
        except ValueError as error:
            await asyncio.sleep(0)
            return str(error)
        return "nothing"

    asyncio.get_running_loop().call_later(0.001, asked.set_exception, ValueError("of another"))
    assert await CLOCK.wait_for(work(), 5) == "of another"


async def test_whoever_is_cancelled_meanwhile_cancels_the_work() -> None:
    """From outside, and it may clean up before it ends."""
    seen: list[str] = []

    async def work() -> None:
        try:
            await asyncio.sleep(30)
        finally:
            await asyncio.sleep(0)
            seen.append("over")

    task = asyncio.ensure_future(CLOCK.wait_for(work(), 60))
    await asyncio.sleep(0.001)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert seen == ["over"]


async def test_anything_that_can_be_awaited_is_taken() -> None:
    """A task and a future of the host's included."""
    task: Awaitable[list[str]] = asyncio.ensure_future(waits(2))
    assert await CLOCK.wait_for(task, 5) == ["0", "1"]
