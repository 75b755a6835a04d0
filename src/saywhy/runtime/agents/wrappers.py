"""Around anything that runs: again after a failure, another one instead, none for a while.

They are runners themselves, so they nest, stream, rest and resume as what is inside does. The
functions of the same names in `models` do this around a single call of a model; those here take
these as well, so that there is one name for each.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from saywhy.agent.runners.outside import can_run
from saywhy.agent.runners.part import Part
from saywhy.agent.runners.wrapping import (
    FALLBACK,
    PRIMARY,
    Should,
    breaker_chart,
    fallback_chart,
    retry_chart,
)
from saywhy.chart.built import Built
from saywhy.clock import Clock
from saywhy.errors import CallerError, CircuitOpen
from saywhy.models.resilience.arguments import a_function, number, whole
from saywhy.models.resilience.circuit import Circuit, CircuitState
from saywhy.models.resilience.wrapper import says_nothing
from saywhy.runtime.agents.parts import part_of, policy_of
from saywhy.runtime.agents.result import AgentResult
from saywhy.runtime.agents.runner import Runner, random_id

INNER = "inner"


class Wrapper(Runner[AgentResult]):
    """Something around one runner, or two."""

    def __init__(self, inner: Sequence[Any], ids: Sequence[str], clock: Clock | None) -> None:
        self.inner = tuple(inner)
        self.parts: list[Part] = [part_of(*pair) for pair in zip(inner, ids, strict=True)]
        self.keeps_history = any(part.keeps_history for part in self.parts)
        first: Any = inner[0]
        own: dict[str, Any] = {}
        if isinstance(first, Runner):
            known: Runner[Any] = first
            own = {
                "recorders": known.dispatch.recorders,
                "verbose": known.verbose,
                "clock": known.clock,
                "new_id": known.new_id,
            }
        own = {"new_id": random_id, **own, "redact": policy_of(None, inner)}
        if clock is not None:
            own["clock"] = clock
        own["conversation_id"] = self.parts[0].conversation_id or None
        super().__init__(str(getattr(first, "name", "") or "runner"), **own)

    def result_of(self, state: Mapping[str, Any], given: Mapping[str, Any]) -> AgentResult:
        """The result as the inner runner gives it."""
        inner: Any = self._answered(state)
        return inner.result_of(state, given) if isinstance(inner, Runner) else AgentResult(**given)

    def follow_up_targets(self) -> Sequence[str] | None:
        """The tools of the inner runner."""
        first: Any = self.inner[0]
        return first.follow_up_targets() if isinstance(first, Runner) else ()

    def part(self, id: str, description: str = "") -> Part:
        """This as a part of another runner; a memory inside keeps the conversation as told."""
        own = self.parts[0].conversation_id
        return Part(id, self.built_as, description, self.keeps_history, self, own)

    def inside(self) -> Sequence[Any]:
        """The runners it stands around."""
        return self.inner

    def _answered(self, state: Mapping[str, Any]) -> Any:
        return self.inner[0]


class Retry(Wrapper):
    """Runs again after a failure; see `with_retry`."""

    def __init__(
        self,
        runner: Any,
        max_retries: int,
        wait_ms: Callable[[int], float],
        should: Should | None,
        clock: Clock | None,
    ) -> None:
        self._given = (max_retries, wait_ms, should)
        super().__init__([runner], [INNER], clock)

    def built_as(self, id: str) -> Built:
        """Its chart under this id."""
        return retry_chart(self.parts[0], *self._given, name=self.name, id=id)


class Fallback(Wrapper):
    """Runs another one after a failure; see `with_fallback`."""

    def __init__(self, primary: Any, fallback: Any, should: Should | None, clock: Any) -> None:
        self._should = should
        super().__init__([primary, fallback], [PRIMARY, FALLBACK], clock)

    def built_as(self, id: str) -> Built:
        """Its chart under this id."""
        return fallback_chart(self.parts[0], self.parts[1], self._should, name=self.name, id=id)

    def _answered(self, state: Mapping[str, Any]) -> Any:
        return self.inner[1 if state.get("failure") is not None else 0]


class RunnerBreaker(Wrapper):
    """Is left alone while its circuit is open; see `with_circuit_breaker`."""

    def __init__(
        self, runner: Any, threshold: int, reset_after_ms: float, clock: Clock | None
    ) -> None:
        self._circuit = Circuit(threshold, reset_after_ms, reset_after_ms)
        super().__init__([runner], [INNER], clock)

    @property
    def state(self) -> CircuitState:
        """`closed`, `open` or `half_open`."""
        return self._circuit.state(self.clock.now())

    def built_as(self, id: str) -> Built:
        """Its chart under this id."""
        return breaker_chart(self.parts[0], self._circuit, _tells_nothing, name=self.name, id=id)


def _tells_nothing(error: Exception) -> bool:
    return isinstance(error, CircuitOpen) or says_nothing(error)


def with_retry(
    runner: Any,
    max_retries: int = 3,
    *,
    backoff_ms: float = 0,
    backoff_multiplier: float = 1,
    should_retry: Should | None = None,
    clock: Clock | None = None,
) -> Retry:
    """Run again after a failure, up to `max_retries` times; the last error is raised.

    `backoff_ms` lie before the second attempt, `backoff_multiplier` times as many before each
    further one; cancelling the run ends the wait. `should_retry(error)` says whether it is worth
    it. A mistake of the program around is raised at once. Raises `CallerError`.
    """
    name = "with_retry"
    _must_run(name, runner)
    most = whole(name, "max_retries", max_retries, 0)
    first = number(name, "backoff_ms", backoff_ms)
    factor = number(name, "backoff_multiplier", backoff_multiplier)
    should = a_function(name, "should_retry", should_retry, "error: True")

    def wait_ms(attempt: int) -> float:
        return first * factor ** (attempt - 1)

    return Retry(runner, most, wait_ms, should, clock)


def runner_fallback(
    primary: Any, fallback: Any, should_fallback: Should | None = None, clock: Clock | None = None
) -> Fallback:
    """Run another one after a failure. See `with_fallback`."""
    name = "with_fallback"
    _must_run(name, primary)
    _must_run(name, fallback, "fallback")
    should = a_function(name, "should_fallback", should_fallback, "error: True")
    return Fallback(primary, fallback, should, clock)


def runner_breaker(
    runner: Any,
    threshold: int = 5,
    reset_after_ms: float = 30_000,
    clock: Clock | None = None,
) -> RunnerBreaker:
    """Leave a runner that keeps failing alone. See `with_circuit_breaker`."""
    name = "with_circuit_breaker"
    _must_run(name, runner)
    failures = whole(name, "threshold", threshold, 1)
    return RunnerBreaker(runner, failures, number(name, "reset_after_ms", reset_after_ms), clock)


def _must_run(wrapper: str, given: Any, argument: str = "runner") -> None:
    if not can_run(given):
        raise CallerError(
            f"{wrapper}: {argument} is {type(given).__name__}, which cannot be run",
            hint="call build() first"
            if hasattr(given, "build")
            else "an Agent, or an object with `run`",
        )
