"""A provider that keeps failing is left alone for a while. spec: agent A.7"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Any, Final

from saywhy.clock import Clock
from saywhy.errors import CircuitOpen
from saywhy.models.provider import Ask, Piece, Provider, StopPiece
from saywhy.models.resilience.arguments import a_provider, number, whole
from saywhy.models.resilience.circuit import Circuit, CircuitState
from saywhy.models.resilience.steady import SteadyTime
from saywhy.models.resilience.wrapper import Wrapper, says_nothing, whole_answer

_NAME: Final = "with_circuit_breaker"


class CircuitBreaker(Wrapper):
    """Refuses calls while its circuit is open; see `with_circuit_breaker`."""

    def __init__(self, provider: Provider, circuit: Circuit, clock: Clock | None) -> None:
        super().__init__([provider])
        self._provider: Final = provider
        self._circuit: Final = circuit
        self._time: Final = SteadyTime(clock)

    @property
    def state(self) -> CircuitState:
        """`closed`, `open` or `half_open`."""
        return self._circuit.state(self._time.now())

    async def ask(self, ask: Ask) -> AsyncGenerator[Piece, None]:
        """The answer; raises `CircuitOpen` where nobody is asked."""
        permit = self._circuit.enter(self._time.now())
        if permit is None:
            raise CircuitOpen(self._circuit.left_ms(self._time.now()) / 1000)
        works: bool | None = None
        try:
            async with aclosing(whole_answer(self._provider, ask)) as pieces:
                async for piece in pieces:
                    works = works or isinstance(piece, StopPiece) or None
                    yield piece
        except Exception as error:
            works = None if says_nothing(error) else False
            raise
        finally:
            self._circuit.leave(permit, works, self._time.now())


def with_circuit_breaker(
    provider: str | Provider | Callable[..., Any],
    threshold: int = 5,
    reset_after_ms: float = 30_000,
    *,
    clock: Clock | None = None,
) -> CircuitBreaker:
    """After `threshold` failures in a row, refuse every call for `reset_after_ms`.

    Then one call at a time is let through: a success closes the circuit, a failure opens it anew. A
    call that was cancelled tells nothing, and neither does an error about the ask itself
    (`invalid_request`, `context_length`); so put `with_timeout` within, not around.
    """
    inner = a_provider(_NAME, provider)
    return CircuitBreaker(inner, a_circuit(_NAME, threshold, reset_after_ms), clock)


def a_circuit(wrapper: str, threshold: int, reset_after_ms: float) -> Circuit:
    """A closed circuit. Raises `CallerError` for numbers that make no sense."""
    failures = whole(wrapper, "threshold", threshold, 1)
    return Circuit(failures, number(wrapper, "reset_after_ms", reset_after_ms))
