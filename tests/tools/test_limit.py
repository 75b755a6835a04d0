"""Promise: a user calls a tool at most so often within any window, and the count stays small."""

from __future__ import annotations

import asyncio

import pytest

from saywhy.testing.clock import FakeClock
from saywhy.tools.limit import Limiter, MemoryLimiter, refused_text


def test_the_window_slides() -> None:
    """A call is allowed again once the oldest one has left the window, not at a full minute."""

    async def main() -> list[float | None]:
        clock = FakeClock(now=0, auto=False)
        limiter: Limiter = MemoryLimiter(clock)
        answers: list[float | None] = []
        for wait in (0, 20, 20, 19, 1, 1, 20):
            clock.advance(wait)
            answers.append(await limiter.allow("u", "Ping", 2, 60_000))
        return answers

    # At 0 and 20 s allowed; refused at 40 and 59; allowed at 60; refused at 61; allowed at 81.
    assert asyncio.run(main()) == [None, None, 20_000, 1_000, None, 19_000, None]


def test_users_and_tools_are_counted_apart() -> None:
    """One user's calls of one tool leave other users and other tools alone."""

    async def main() -> list[bool]:
        limiter = MemoryLimiter(FakeClock(auto=False))
        pairs = [("u", "A"), ("u", "A"), ("u", "B"), ("v", "A")]
        return [await limiter.allow(user, tool, 1, 1000) is None for user, tool in pairs]

    assert asyncio.run(main()) == [True, False, True, True]


def test_refused_calls_do_not_count() -> None:
    """Asking again and again does not prolong the wait."""

    async def main() -> list[bool]:
        clock = FakeClock(auto=False)
        limiter = MemoryLimiter(clock)
        answers: list[bool] = []
        for _ in range(5):
            answers.append(await limiter.allow("u", "A", 1, 1000) is None)
            clock.advance(0.25)
        return answers

    assert asyncio.run(main()) == [True, False, False, False, True]


def test_its_size_is_bounded() -> None:
    """Of ten thousand users no more than the set number is remembered."""

    async def main() -> int:
        limiter = MemoryLimiter(FakeClock(auto=False), users=100)
        for number in range(10_000):
            assert await limiter.allow(f"u{number}", "A", 1, 1000) is None
        assert await limiter.allow("u9999", "A", 1, 1000) == 1000
        return len(limiter)

    assert asyncio.run(main()) == 100


def test_who_called_longest_ago_is_forgotten_first() -> None:
    """Asking, even in vain, keeps a user remembered."""

    async def main() -> list[bool]:
        limiter = MemoryLimiter(FakeClock(auto=False), users=2)
        users = ("a", "b", "a", "c", "a", "b")
        return [await limiter.allow(user, "A", 1, 1000) is None for user in users]

    assert asyncio.run(main()) == [True, True, False, True, False, True]


@pytest.mark.parametrize(
    ("window_ms", "text"),
    [
        (60_000, "Rate limit exceeded for Ping. Max 1 requests per 60 seconds."),
        (1_500, "Rate limit exceeded for Ping. Max 1 requests per 1.5 seconds."),
    ],
)
def test_the_text_of_a_refusal(window_ms: float, text: str) -> None:
    """Hosts match on this wording."""
    assert refused_text("Ping", 1, window_ms) == text
