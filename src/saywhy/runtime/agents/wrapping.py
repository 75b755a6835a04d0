"""`with_fallback` and `with_circuit_breaker` as they are called, around models and around runners.

Around a model they stand before each of its calls; around a runner before the whole of its run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Protocol, cast, overload

from saywhy.agent.runners.wrapping import Should
from saywhy.clock import Clock
from saywhy.errors import CallerError
from saywhy.models.provider import Provider
from saywhy.models.resilience import circuit_breaker as model_breaker
from saywhy.models.resilience import fallback as model_fallback
from saywhy.models.resilience.circuit_breaker import CircuitBreaker
from saywhy.runtime.agents.wrappers import (
    Fallback,
    RunnerBreaker,
    runner_breaker,
    runner_fallback,
)

Model = str | Provider | Callable[..., Any]


class CanRun(Protocol):
    """Anything that answers a message."""

    @property
    def run(self) -> Callable[..., Any]: ...


@overload
def with_fallback(
    first: Iterable[Model],
    should_fallback: Should | None = None,
    on_fallback: Callable[[int, int, Exception], Any] | None = None,
) -> model_fallback.Fallback: ...
@overload
def with_fallback(
    first: CanRun,
    fallback: Any,
    /,
    *,
    should_fallback: Should | None = None,
    clock: Clock | None = None,
) -> Fallback: ...
def with_fallback(first: Any, *more: Any, **options: Any) -> Any:
    """Somebody else after a failure.

    `with_fallback([first, second])` is a model: where the first fails the second is asked, and so
    on. `with_fallback(runner, other)` is a runner: where the first fails the other runs, on the
    same message. `should_fallback(error)` says whether; where it does not, the error is raised.
    """
    if not _runs(first):
        return model_fallback.with_fallback(first, *more, **options)
    if len(more) != 1:
        raise CallerError("with_fallback: a runner needs another one", hint="(runner, other)")
    return runner_fallback(first, more[0], **options)


@overload
def with_circuit_breaker(
    inner: CanRun,
    threshold: int = 5,
    reset_after_ms: float = 30_000,
    *,
    clock: Clock | None = None,
) -> RunnerBreaker: ...
@overload
def with_circuit_breaker(
    inner: Model,
    threshold: int = 5,
    reset_after_ms: float = 30_000,
    *,
    clock: Clock | None = None,
) -> CircuitBreaker: ...
def with_circuit_breaker(
    inner: Any,
    threshold: int = 5,
    reset_after_ms: float = 30_000,
    *,
    clock: Clock | None = None,
) -> Any:
    """After `threshold` failures in a row, refuse every call for `reset_after_ms`.

    `inner` is a model or a runner, and so is what this gives. Refused calls raise `CircuitOpen`.
    Then one call at a time is let through: a success closes the circuit, a failure opens it anew.
    What was cancelled tells nothing, and neither does an error about the message itself.
    """
    if _runs(inner):
        return runner_breaker(inner, threshold, reset_after_ms, clock)
    model = cast("Model", inner)
    return model_breaker.with_circuit_breaker(model, threshold, reset_after_ms, clock=clock)


def _runs(given: Any) -> bool:
    return callable(getattr(given, "run", None)) and not callable(getattr(given, "ask", None))
