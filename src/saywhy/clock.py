"""What time it is, and how to wait. Time is a parameter, so that tests own it.

The fake clock that jumps when everything is idle is `saywhy.testing.FakeClock`.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Generator
from types import CoroutineType, coroutine
from typing import Any, Protocol, TypeVar

T = TypeVar("T")


class Clock(Protocol):
    """Time as the engine sees it."""

    def now(self) -> float:
        """Milliseconds since 1970, UTC."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Come back after `seconds`."""
        ...

    async def wait_for(self, awaitable: Awaitable[T], timeout_seconds: float | None) -> T:
        """The result of `awaitable`; raises `TimeoutError` when it takes longer. None: no limit."""
        ...


class SystemClock:
    """The machine's own clock."""

    def now(self) -> float:
        return time.time() * 1000

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    async def wait_for(self, awaitable: Awaitable[T], timeout_seconds: float | None) -> T:
        if timeout_seconds is None:
            return await awaitable
        # Not `asyncio.wait_for`: before Python 3.12 that makes a task, for four times the cost.
        if type(awaitable) is not CoroutineType or timeout_seconds <= 0:
            async with asyncio.timeout(timeout_seconds):
                return await awaitable
        # What never waits needs no timer, which costs as much as twenty calls.
        ends = asyncio.get_running_loop().time() + timeout_seconds
        work: CoroutineType[Any, Any, T] = awaitable
        try:
            first = work.send(None)
        except StopIteration as done:
            return done.value
        async with asyncio.timeout_at(ends):
            return await _rest(work, first)


@coroutine
def _rest(work: CoroutineType[Any, Any, T], waits: Any) -> Generator[Any, Any, T]:
    """The coroutine from where it first waits, as `await` would have gone on."""
    while True:
        try:
            given = yield waits
        except GeneratorExit:
            work.close()
            raise
        except BaseException as error:
            resume, given = work.throw, error
        else:
            resume = work.send
        try:
            waits = resume(given)
        except StopIteration as done:
            return done.value
