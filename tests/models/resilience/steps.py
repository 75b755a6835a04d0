"""A provider that does what it is told, step by step, and the little that all these tests need."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterable
from contextlib import aclosing
from typing import Any

from saywhy.models.chat import user_message
from saywhy.models.provider import Ask, Piece, Provider, StopPiece, TextPiece, UsagePiece, pieces_of
from saywhy.testing.clock import FakeClock

HI = Ask("chat", messages=[user_message("hi")])
STREAMED = Ask("chat", messages=[user_message("hi")], stream=True)
STOP = StopPiece("stop", "small-2026")
GOOD: tuple[Any, ...] = (TextPiece("he"), TextPiece("llo"), UsagePiece(10, 2), STOP)


class Steps:
    """Plays one script for each ask: pieces are given, errors raised, numbers are seconds waited,
    events awaited. The last script is played again for ever."""

    def __init__(self, *scripts: Iterable[Any], clock: FakeClock | None = None) -> None:
        self.scripts = [list(script) for script in scripts]
        self.clock = clock or FakeClock()
        self.asked: list[Ask] = []
        self.at: list[float] = []
        self.open = 0
        self.closed = False

    async def ask(self, ask: Ask) -> AsyncGenerator[Piece, None]:
        self.asked.append(ask)
        self.at.append(self.clock.now())
        script = self.scripts.pop(0) if len(self.scripts) > 1 else self.scripts[0]
        self.open += 1
        try:
            for step in script:
                if isinstance(step, BaseException):
                    raise step
                if isinstance(step, int | float):
                    await self.clock.sleep(step)
                elif isinstance(step, asyncio.Event):
                    await step.wait()
                else:
                    yield step
        finally:
            self.open -= 1

    async def close(self) -> None:
        self.closed = True


async def taken(provider: Provider, ask: Ask = HI) -> list[Piece]:
    """All pieces of an answer."""
    async with aclosing(pieces_of(provider, ask)) as pieces:
        return [piece async for piece in pieces]


async def taken_until_error(provider: Provider, ask: Ask = HI) -> tuple[list[Piece], str]:
    """The pieces that came, and the error that ended them."""
    found: list[Piece] = []
    try:
        async with aclosing(pieces_of(provider, ask)) as pieces:
            async for piece in pieces:
                found.append(piece)
    except Exception as error:
        return found, f"{type(error).__name__}: {error}"
    return found, ""


def text_of(pieces: Iterable[Piece]) -> str:
    """The text that pieces make."""
    return "".join(piece.text for piece in pieces if isinstance(piece, TextPiece))


async def cancelled_everywhere(
    make: Callable[[], Coroutine[Any, Any, object]], after: Callable[[], object], clock: FakeClock
) -> int:
    """Cancel what `make` gives after one round of the loop, two rounds, … until it ends by itself.

    No other task may be left each time; `after` looks at what else must hold. Now and then the
    clock goes on, so hand in one that does not jump by itself. Gives the number of rounds.
    """
    for rounds in range(1, 400):
        before = asyncio.all_tasks()
        task = asyncio.ensure_future(make())
        for number in range(rounds):
            await asyncio.sleep(0)
            if number % 5 == 4:
                clock.advance(0.1)
        is_over = task.done()
        task.cancel()
        await asyncio.wait({task})
        await asyncio.sleep(0)
        left = asyncio.all_tasks() - before
        assert not left, f"cancelled after {rounds} rounds it leaves {left}"
        after()
        if is_over:
            task.result()
            return rounds
    raise AssertionError("it never ended")
