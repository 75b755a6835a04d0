"""Whether a user may call a tool once more within its window.

The limits of many processes belong in a store, which offers the same `allow`; this one is for a
single process.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from typing import Protocol

from saywhy.clock import Clock


class Limiter(Protocol):
    """Counts calls per user and tool in a sliding window."""

    async def allow(self, user_id: str, tool: str, requests: int, window_ms: float) -> float | None:
        """None: counted, go ahead. Else the milliseconds until a call would be allowed."""
        ...


class MemoryLimiter:
    """Counts in memory, for at most `users` pairs of user and tool at a time.

    Beyond that the pair that called longest ago is forgotten: its user gets a fresh window.
    """

    def __init__(self, clock: Clock, *, users: int = 10_000) -> None:
        self._clock = clock
        self._users = users
        self._calls: OrderedDict[tuple[str, str], deque[float]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._calls)

    async def allow(self, user_id: str, tool: str, requests: int, window_ms: float) -> float | None:
        """None: counted, go ahead. Else the milliseconds until a call would be allowed."""
        now = self._clock.now()
        calls = self._calls.setdefault((user_id, tool), deque())
        self._calls.move_to_end((user_id, tool))
        while len(self._calls) > self._users:
            self._calls.popitem(last=False)
        while calls and calls[0] <= now - window_ms:
            calls.popleft()
        if len(calls) >= requests:
            return calls[0] + window_ms - now
        calls.append(now)
        return None


def refused_text(tool: str, requests: int, window_ms: float) -> str:
    """What a refused caller reads."""
    seconds = window_ms / 1000
    return (
        f"Rate limit exceeded for {tool}. "
        f"Max {requests} requests per {int(seconds) if seconds.is_integer() else seconds} seconds."
    )
