"""A tool that keeps failing is left alone for a while, instead of being asked by everybody.

After so many failures within a window its circuit is open: calls are refused without being made.
When the time is up one call goes through as a probe; if it succeeds the circuit is closed, if it
fails the wait begins again. Each engine counts for itself, in memory.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from saywhy.tools.answer import ToolAnswer

FAILURES: Final = 5
WINDOW_MS: Final = 60_000.0
OPEN_MS: Final = 30_000.0

_OURS_TO_FIX: Final = frozenset(range(400, 500)) - {408, 429}
"""Statuses by which a service says that it works and that the request is wrong."""


@dataclass(frozen=True, slots=True)
class BreakerRule:
    """After `failures` within `window_ms`, no calls for `open_ms`."""

    failures: int = FAILURES
    window_ms: float = WINDOW_MS
    open_ms: float = OPEN_MS


def breaker_of(definition: Mapping[str, Any]) -> BreakerRule | None:
    """What a checked definition says under `implementation.circuitBreaker`."""
    given = definition["implementation"].get("circuitBreaker")
    if given is True:
        return BreakerRule()
    if not isinstance(given, Mapping):
        return None
    return BreakerRule(
        int(given.get("failures") or FAILURES),
        given.get("windowMs") or WINDOW_MS,
        given.get("openMs") or OPEN_MS,
    )


@dataclass(slots=True)
class _Circuit:
    failed_at: deque[float] = field(default_factory=deque[float])
    opened_at: float | None = None
    probe: object | None = None
    """The call that tries it at the moment."""


class Breakers:
    """The circuits of one engine, by tool."""

    def __init__(self) -> None:
        self._circuits: dict[str, _Circuit] = {}

    def wait_ms(self, tool: str, rule: BreakerRule, now_ms: float) -> float | None:
        """Milliseconds until a call may be tried, 0 while a probe is out; None: go ahead."""
        circuit = self._circuits.get(tool)
        if circuit is None or circuit.opened_at is None:
            return None
        left = circuit.opened_at + rule.open_ms - now_ms
        if left > 0:
            return left
        return 0.0 if circuit.probe is not None else None

    def enter(self, tool: str) -> object | None:
        """A call goes out. Gives a token to `release` when it is the probe of an open circuit."""
        circuit = self._circuits.get(tool)
        if circuit is None or circuit.opened_at is None or circuit.probe is not None:
            return None
        circuit.probe = object()
        return circuit.probe

    def release(self, tool: str, probe: object) -> None:
        """The probe is over, or was never made: the next one may go."""
        circuit = self._circuits[tool]
        if circuit.probe is probe:
            circuit.probe = None

    def leave(
        self, tool: str, rule: BreakerRule, failed: bool | None, now_ms: float, *, probe: bool
    ) -> str:
        """A call has come back; None: it tells nothing, as one that was cancelled.

        Gives what became of the circuit: `opened`, `closed`, or nothing.
        """
        circuit = self._circuits.setdefault(tool, _Circuit())
        if failed is None:
            return ""
        if circuit.opened_at is not None:
            return self._probed(circuit, failed, now_ms) if probe else ""
        if not failed:
            return ""
        circuit.failed_at.append(now_ms)
        while circuit.failed_at[0] <= now_ms - rule.window_ms:
            circuit.failed_at.popleft()
        if len(circuit.failed_at) < rule.failures:
            return ""
        circuit.opened_at = now_ms
        circuit.failed_at.clear()
        return "opened"

    def _probed(self, circuit: _Circuit, failed: bool, now_ms: float) -> str:
        circuit.opened_at = now_ms if failed else None
        return "opened" if failed else "closed"


def has_failed(answer: ToolAnswer) -> bool | None:
    """Whether an answer says that the tool does not work; None where nothing was asked of it.

    A status such as 404, and an answer that only its mapping rejects, come from one that works.
    """
    if answer.refused:
        return None
    return (
        answer.fault_message is not None
        and not answer.ran
        and answer.http_status not in _OURS_TO_FIX
    )


def open_text(tool: str, rule: BreakerRule) -> str:
    """What a refused caller reads."""
    return (
        f"{tool} was not called: it failed {rule.failures} times within "
        f"{rule.window_ms / 1000:g} seconds"
    )
