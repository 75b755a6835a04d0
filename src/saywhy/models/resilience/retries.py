"""Asking again after a failure that may pass.

Not built on a library for retries: those own the clock, and they repeat a call, while an answer
here is a stream that must not begin anew once some of it was given out.
"""

from __future__ import annotations

import zlib
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Any, Final

import msgspec

from saywhy.clock import Clock, SystemClock
from saywhy.errors import CallerError, ModelError
from saywhy.models.failures import failure_of
from saywhy.models.provider import Ask, Piece, Provider
from saywhy.models.resilience.arguments import a_provider, number, whole
from saywhy.models.resilience.wrapper import Attempts, Wrapper

_NAME: Final = "with_retries"
_MOST_DOUBLINGS: Final = 30


class Waits(msgspec.Struct, frozen=True):
    """How long to wait before an attempt."""

    backoff: float | Callable[[int], float]
    jitter: float
    seed: str
    longest: float

    def before(self, attempt: int, ask: Ask, error: ModelError) -> float | None:
        """Seconds before attempt number `attempt`, from 2; None: it would be too long."""
        if callable(self.backoff):
            wait = number(_NAME, "backoff", self.backoff(attempt - 1))
        else:
            wait = self.backoff * 2 ** min(attempt - 2, _MOST_DOUBLINGS)
        wait = min(wait, self.longest) * (1 - self.jitter * self._share(attempt, ask))
        if error.retry_after is not None:
            wait = max(wait, error.retry_after)
        return None if wait > self.longest else wait

    def _share(self, attempt: int, ask: Ask) -> float:
        """From 0 to 1, the same for the same ask, so that what was seen once is seen again."""
        text = f"{self.seed}\n{ask.task}\n{ask.user}\n{len(ask.messages)}\n{attempt}"
        return zlib.crc32(text.encode("utf-8", "surrogatepass")) / 0xFFFFFFFF


class Retrying(Wrapper):
    """Asks again; see `with_retries`."""

    def __init__(self, provider: Provider, attempts: int, waits: Waits, clock: Clock) -> None:
        super().__init__([provider])
        self._provider: Final = provider
        self._attempts: Final = attempts
        self._waits: Final = waits
        self._clock: Final = clock

    async def ask(self, ask: Ask) -> AsyncGenerator[Piece, None]:
        """The answer of the first attempt that goes well."""
        attempts = Attempts(ask)
        number = 1
        while True:
            try:
                async with aclosing(attempts.one(self._provider)) as pieces:
                    async for piece in pieces:
                        yield piece
                return
            except Exception as error:
                failure = failure_of(error)
                number += 1
                if attempts.given or not failure.retryable or number > self._attempts:
                    raise
                wait = self._waits.before(number, ask, failure)
                if wait is None:
                    raise
            await self._clock.sleep(wait)


def with_retries(
    provider: str | Provider | Callable[..., Any],
    attempts: int = 3,
    *,
    backoff: float | Callable[[int], float] = 0.5,
    jitter: float = 0.0,
    seed: str = "",
    longest_wait: float = 60.0,
    clock: Clock | None = None,
) -> Retrying:
    """Ask up to `attempts` times, while the error is a `ModelError` that is `retryable`.

    A `TimeoutError` or `ConnectionError` of a provider that raises those counts as one.
    `backoff` seconds lie before the second attempt, twice as many before each further one; or it is
    a function of the number of attempts so far. The model's own `retry_after` is kept to; where it,
    or the wait, is more than `longest_wait`, the error is raised at once. `jitter`, from 0 to 1, is
    the share of a wait by which it may be shorter: by how much follows from the ask and `seed`, so
    give each process its own. A stream of which anything was given out does not begin anew.
    """
    inner = a_provider(_NAME, provider)
    if not callable(backoff):
        number(_NAME, "backoff", backoff)
    if number(_NAME, "jitter", jitter) > 1:
        raise CallerError(f"{_NAME}: jitter is a number from 0 to 1, not {jitter!r}")
    longest = number(_NAME, "longest_wait", longest_wait)
    waits = Waits(backoff, jitter, str(seed), longest)
    return Retrying(inner, whole(_NAME, "attempts", attempts, 1), waits, clock or SystemClock())
