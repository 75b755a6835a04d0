"""Asking somebody else after a failure. spec: agent A.7"""

from __future__ import annotations

import inspect
import logging
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from contextlib import aclosing
from typing import Any, Final

from saywhy.clock import Clock
from saywhy.errors import AuthorError, BudgetExceeded, CallerError, CircuitOpen, ModelError
from saywhy.models.provider import Ask, Piece, Provider
from saywhy.models.resilience.arguments import a_function, given_providers
from saywhy.models.resilience.circuit_breaker import CircuitBreaker, a_circuit
from saywhy.models.resilience.wrapper import Attempts, Wrapper

_LOG: Final = logging.getLogger("saywhy.models")

ALL_OPEN: Final = "All providers failed (circuit breakers open)"


class Fallback(Wrapper):
    """Asks one after the other; see `with_fallback` and `resilient`."""

    def __init__(
        self,
        providers: Sequence[Provider],
        should_fallback: Callable[[Exception], Any] | None,
        on_fallback: Callable[[int, int, Exception], Any] | None,
    ) -> None:
        super().__init__(providers)
        self._should: Final = should_fallback or may_fall_back
        self._tell: Final = on_fallback

    async def ask(self, ask: Ask) -> AsyncGenerator[Piece, None]:
        """The answer of the first provider that gives one."""
        attempts = Attempts(ask)
        failed: Exception | None = None
        for at, provider in enumerate(self._inner):
            try:
                async with aclosing(attempts.one(provider)) as pieces:
                    async for piece in pieces:
                        yield piece
                return
            except Exception as error:
                is_open = isinstance(error, CircuitOpen)
                if attempts.given or not (is_open or self._should(error)):
                    raise
                last = error
            # A real failure says more than that somebody was not even asked.
            if failed is None or not is_open:
                failed = last
            if at + 1 < len(self._inner):
                await self._told(at, at + 1, last)
        assert failed is not None, "there is always a provider"
        if isinstance(failed, CircuitOpen):
            raise ModelError(ALL_OPEN, code="server") from failed
        raise failed

    async def _told(self, left: int, taken: int, error: Exception) -> None:
        """Tell the host. What it does with that is no reason for the ask to fail."""
        if self._tell is None:
            return
        try:
            answer = self._tell(left, taken, error)
            if inspect.isawaitable(answer):
                await answer
        except Exception:
            _LOG.exception("on_fallback raised")


def may_fall_back(error: Exception) -> bool:
    """Whether somebody else may do better: not where the program or its author is wrong."""
    if isinstance(error, BudgetExceeded):
        return True
    if isinstance(error, ModelError):
        return error.code != "aborted"
    return not isinstance(error, CallerError | AuthorError)


def with_fallback(
    providers: Iterable[str | Provider | Callable[..., Any]],
    should_fallback: Callable[[Exception], Any] | None = None,
    on_fallback: Callable[[int, int, Exception], Any] | None = None,
) -> Fallback:
    """Ask the first of `providers`; where it fails the next, and so on. The last error is raised.

    `should_fallback(error)` says whether the next one is asked; without it that is so for all
    errors but those of the program around, and of a call that was given up. `on_fallback(i, j,
    error)` hears that `i` failed and `j` is asked; it may be `async`, and what it raises is logged.
    A stream of which anything was given out does not begin anew with somebody else.
    """
    return _fallback("with_fallback", providers, should_fallback, on_fallback)


def resilient(
    providers: Iterable[str | Provider | Callable[..., Any]],
    threshold: int = 3,
    reset_after_ms: float = 30_000,
    *,
    should_fallback: Callable[[Exception], Any] | None = None,
    on_fallback: Callable[[int, int, Exception], Any] | None = None,
    clock: Clock | None = None,
) -> Fallback:
    """As `with_fallback`, with a circuit breaker around each: who keeps failing is skipped.

    Where all are skipped, a `ModelError` says so. The breakers are `with_circuit_breaker`'s.
    """
    name = "resilient"
    made = [
        CircuitBreaker(one, a_circuit(name, threshold, reset_after_ms), clock)
        for one in given_providers(name, providers)
    ]
    return _fallback(name, made, should_fallback, on_fallback)


def _fallback(name: str, given: Any, should: Any, tell: Any) -> Fallback:
    return Fallback(
        given_providers(name, given),
        a_function(name, "should_fallback", should, "error: True"),
        a_function(name, "on_fallback", tell, "i, j, error: print(i, j, error)"),
    )
