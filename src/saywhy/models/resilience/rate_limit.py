"""Not more calls of a model than it allows: who comes too early waits in a queue, in order.

The limits of many processes belong in front of the model; this one is for a single process.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Any, Final

from saywhy.clock import Clock
from saywhy.errors import ModelError
from saywhy.models.provider import Ask, Piece, Provider, UsagePiece, pieces_of
from saywhy.models.resilience.arguments import a_provider, number, whole
from saywhy.models.resilience.size import tokens_asked
from saywhy.models.resilience.steady import SteadyTime
from saywhy.models.resilience.window import Entry, Window
from saywhy.models.resilience.wrapper import Wrapper

_NAME: Final = "with_rate_limit"
_LEAST_MS: Final = 1.0
"""A shorter wait might be lost in the rounding of a clock, and never end."""


class _Place:
    """A place in the queue; `turn` is there once its owner has to be woken."""

    __slots__ = ("turn",)

    def __init__(self) -> None:
        self.turn: asyncio.Future[None] | None = None

    def wake(self) -> None:
        if self.turn is not None and not self.turn.done():
            self.turn.set_result(None)


class Gate:
    """Lets calls begin, first come first served. Who is cancelled leaves no place taken."""

    def __init__(self, window: Window, max_waiting: int, clock: Clock | None) -> None:
        self._window: Final = window
        self._most: Final = max_waiting
        self._time: Final = SteadyTime(clock)
        self._line: Final[deque[_Place]] = deque()

    @property
    def counts_tokens(self) -> bool:
        """Whether there is a limit of tokens too."""
        return self._window.tokens is not None

    @property
    def waiting(self) -> int:
        """How many are in the queue."""
        return len(self._line)

    async def enter(self, tokens: int) -> Entry:
        """Wait for one's turn and be counted."""
        now = self._time.now()
        if not self._line and self._window.wait_ms(now, tokens) <= 0:
            return self._window.add(now, tokens)
        if len(self._line) >= self._most:
            raise ModelError(
                f"not asked: {len(self._line)} calls wait already for the rate limit",
                code="rate_limit",
                hint="ask later, or raise max_waiting",
            )
        place = _Place()
        self._line.append(place)
        try:
            await self._turn(place)
            return await self._room(place, tokens)
        finally:
            self._line.remove(place)
            self.wake()

    def put_right(self, entry: Entry, tokens: int) -> None:
        """A call's tokens are known by now; the first in the queue looks again."""
        if self._window.put_right(entry, tokens):
            self.wake()

    def wake(self) -> None:
        """Have the first in the queue look whether it may go."""
        if self._line:
            self._line[0].wake()

    async def _turn(self, place: _Place) -> None:
        while self._line[0] is not place:
            place.turn = asyncio.get_running_loop().create_future()
            await place.turn

    async def _room(self, place: _Place, tokens: int) -> Entry:
        while True:
            now = self._time.now()
            wait = self._window.wait_ms(now, tokens)
            if wait <= 0:
                return self._window.add(now, tokens)
            place.turn = asyncio.get_running_loop().create_future()
            try:
                await self._time.clock.wait_for(_woken(place.turn), max(wait, _LEAST_MS) / 1000)
            except TimeoutError:
                continue


async def _woken(turn: asyncio.Future[None]) -> None:
    await turn


class RateLimited(Wrapper):
    """Makes calls wait; see `with_rate_limit`."""

    def __init__(self, provider: Provider, gate: Gate) -> None:
        super().__init__([provider])
        self._provider: Final = provider
        self._gate: Final = gate

    @property
    def waiting(self) -> int:
        """How many calls wait for their turn."""
        return self._gate.waiting

    async def ask(self, ask: Ask) -> AsyncGenerator[Piece, None]:
        """The answer, once it is one's turn."""
        entry = await self._gate.enter(tokens_asked(ask) if self._gate.counts_tokens else 0)
        async with aclosing(pieces_of(self._provider, ask)) as pieces:
            async for piece in pieces:
                if isinstance(piece, UsagePiece):
                    self._gate.put_right(entry, piece.tokens_in + piece.tokens_out)
                yield piece


def with_rate_limit(
    provider: str | Provider | Callable[..., Any],
    *,
    requests: int,
    per_seconds: float,
    tokens: int | None = None,
    max_waiting: int = 100,
    clock: Clock | None = None,
) -> RateLimited:
    """Begin at most `requests` calls in any `per_seconds`; those that are too many wait.

    With `tokens`, also no call begins while the window has no room for it: what it needs is guessed
    from its length and its `max_tokens`, and put right once the model says. At most `max_waiting`
    calls wait, first come first served; one more raises `ModelError` (rate_limit) at once.
    """
    inner = a_provider(_NAME, provider)
    window = Window(
        whole(_NAME, "requests", requests, 1),
        number(_NAME, "per_seconds", per_seconds, above=True),
        None if tokens is None else whole(_NAME, "tokens", tokens, 1),
    )
    return RateLimited(inner, Gate(window, whole(_NAME, "max_waiting", max_waiting, 0), clock))
