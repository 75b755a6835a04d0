"""An answer that takes too long is an error, and so is half a one after which nothing comes."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from typing import Any, Final, TypeVar

import msgspec

from saywhy.clock import Clock
from saywhy.errors import ModelError
from saywhy.models.provider import Ask, Piece, Provider, pieces_of
from saywhy.models.resilience.arguments import a_provider, number
from saywhy.models.resilience.steady import SteadyTime
from saywhy.models.resilience.wrapper import Wrapper

T = TypeVar("T")

_NAME: Final = "with_timeout"


class Limits(msgspec.Struct, frozen=True):
    """Seconds for the whole, for the first piece, and from one piece to the next."""

    whole: float
    first: float | None
    stall: float | None


class Overdue(Exception):
    """The time was up. Not a `TimeoutError`: a provider may raise one of those itself."""


class _Theirs(Exception):
    """A `TimeoutError` of who was waited for."""

    def __init__(self, error: TimeoutError) -> None:
        self.error: Final = error
        super().__init__()


async def in_time(time: SteadyTime, awaitable: Awaitable[T], seconds: float) -> T:
    """What is awaited; raises `Overdue` where it takes longer than `seconds`."""
    began = time.now()
    try:
        found = await time.clock.wait_for(_marked(awaitable), max(0.0, seconds))
    except TimeoutError as error:
        raise Overdue from error
    except _Theirs as theirs:
        raise theirs.error from None
    if time.now() - began > seconds * 1000:  # it was told to stop and did not
        raise Overdue
    return found


async def _marked(awaitable: Awaitable[T]) -> T:
    try:
        return await awaitable
    except TimeoutError as error:
        raise _Theirs(error) from error


class TimeLimited(Wrapper):
    """Cuts off what takes too long; see `with_timeout`."""

    def __init__(self, provider: Provider, limits: Limits, clock: Clock | None) -> None:
        super().__init__([provider])
        self._provider: Final = provider
        self._limits: Final = limits
        self._time: Final = SteadyTime(clock)

    async def ask(self, ask: Ask) -> AsyncGenerator[Piece, None]:
        """The answer, as far as it comes in time."""
        waited, number = 0.0, 0
        async with aclosing(pieces_of(self._provider, ask)) as pieces:
            while True:
                allowed, why = self._next(ask.stream, waited, number)
                began = self._time.now()
                try:
                    piece = await in_time(self._time, anext(pieces), allowed)
                except StopAsyncIteration:
                    return
                except Overdue as error:
                    raise ModelError(why, code="timeout") from error
                waited += (self._time.now() - began) / 1000
                number += 1
                yield piece

    def _next(self, streams: bool, waited: float, number: int) -> tuple[float, str]:
        """How many seconds the next piece may take, and what is wrong where it takes more."""
        limits = self._limits
        left = limits.whole - waited
        own = (limits.stall if number else limits.first) if streams else None
        if own is not None and own < left:
            if number:
                return own, f"the model fell silent in its answer for {own:g} seconds"
            return own, f"the model did not begin to answer within {own:g} seconds"
        if number:
            return left, f"the answer of the model was not complete within {limits.whole:g} seconds"
        return left, f"the model did not answer within {limits.whole:g} seconds"


def with_timeout(
    provider: str | Provider | Callable[..., Any],
    seconds: float,
    first_piece_seconds: float | None = None,
    *,
    stall_seconds: float | None = None,
    clock: Clock | None = None,
) -> TimeLimited:
    """Wait `seconds` for a whole answer; then a `ModelError` (timeout) ends it.

    Where a stream was asked for, its first piece may take `first_piece_seconds` and each further
    one `stall_seconds`. Only waiting for the model counts, not what is done with a piece meanwhile.
    """
    inner = a_provider(_NAME, provider)
    given = {"first_piece_seconds": first_piece_seconds, "stall_seconds": stall_seconds}
    for name, value in given.items():
        if value is not None:
            number(_NAME, name, value, above=True)
    limits = Limits(
        number(_NAME, "seconds", seconds, above=True), first_piece_seconds, stall_seconds
    )
    return TimeLimited(inner, limits, clock)
