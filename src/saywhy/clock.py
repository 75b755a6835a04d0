"""What time it is, and how to wait. Time is a parameter, so that tests own it.

The fake clock that jumps when everything is idle is `saywhy.testing.FakeClock`.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable
from typing import Protocol, TypeVar

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
        async with asyncio.timeout(timeout_seconds):
            return await awaitable
