"""How much happened in the last so many seconds, and when there is room for more.

A sliding window: what was counted leaves it exactly `seconds` later. Time is handed in.
"""

from __future__ import annotations

from collections import deque
from typing import Final


class Entry:
    """One call that was counted. Its tokens are put right when they are known."""

    __slots__ = ("at", "is_within", "tokens")

    def __init__(self, at: float, tokens: int) -> None:
        self.at: Final = at
        self.tokens = tokens
        self.is_within = True


class Window:
    """At most `requests` calls, and about `tokens` tokens, in any `seconds`."""

    def __init__(self, requests: int, seconds: float, tokens: int | None) -> None:
        self.requests: Final = requests
        self.tokens: Final = tokens
        self._length: Final = seconds * 1000
        self._entries: Final[deque[Entry]] = deque()
        self._used = 0

    def wait_ms(self, now: float, tokens: int) -> float:
        """Milliseconds until a call with so many tokens may begin; 0: now.

        One that has more than would ever fit begins when nothing else is in the window.
        """
        self._forget(now)
        entries = self._entries
        wait = 0.0
        if len(entries) >= self.requests:
            wait = entries[-self.requests].at + self._length - now
        if self.tokens is not None and entries and self._used + tokens > self.tokens:
            wait = max(wait, self._until_room(now, self._used + tokens - self.tokens))
        return wait

    def add(self, now: float, tokens: int) -> Entry:
        """Count a call."""
        entry = Entry(now, tokens)
        self._entries.append(entry)
        self._used += tokens
        return entry

    def put_right(self, entry: Entry, tokens: int) -> bool:
        """A call's tokens are known by now. Whether that made room."""
        if not entry.is_within:
            return False
        difference = tokens - entry.tokens
        entry.tokens = tokens
        self._used += difference
        return difference < 0

    def _until_room(self, now: float, excess: int) -> float:
        """Milliseconds until so many tokens have left the window, or it is empty."""
        last = now
        for entry in self._entries:
            last = entry.at + self._length
            excess -= entry.tokens
            if excess <= 0:
                break
        return last - now

    def _forget(self, now: float) -> None:
        entries = self._entries
        while entries and entries[0].at + self._length <= now:
            gone = entries.popleft()
            gone.is_within = False
            self._used -= gone.tokens
