"""What came of a turn, held against what a scenario expects: one row of a table for each key.

Values are compared as a conversation sees them: 1 is 1.0, true is not 1, NaN is NaN. Objects may
hold more than expected, lists may not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from saywhy.errors import Place, SaywhyError
from saywhy.runtime.session import Session
from saywhy.values import UNDEFINED, FrozenDict, FrozenList, dumps, raw, same


@dataclass(frozen=True, slots=True)
class Failure:
    """One thing that came out otherwise. `turn` counts from 1; 0 is the scenario as a whole."""

    turn: int
    key: str
    expected: Any
    actual: Any
    place: Place = field(default=Place(), compare=False)
    """Where it is expected."""

    def render(self) -> str:
        """Three lines: where, expected, actual."""
        where = f"turn {self.turn}, {self.key}" if self.turn else self.key
        where += f"  {self.place.file}:{self.place.line}" if self.place.file else ""
        return f"{where}\n  expected: {shown(self.expected)}\n  actual:   {shown(self.actual)}"


@dataclass(frozen=True, slots=True)
class Observed:
    """One turn as the host saw it."""

    session: Session
    response: str | None
    error: Exception | None = None
    http: Sequence[Mapping[str, Any]] = ()
    ai_calls: Sequence[str] = field(default_factory=list[str])


def failures_in(turn: int, expect: Mapping[str, Any], seen: Observed) -> Iterator[Failure]:
    """Everything that differs from what the turn expects.

    A turn that raises though its scenario says nothing of an error has failed as well.
    """
    checks = dict(expect)
    if seen.error is not None and "error" not in checks:
        checks["error"] = None
    for key, expected in checks.items():
        yield from (
            Failure(turn, name, wanted, got) for name, wanted, got in _CHECKS[key](expected, seen)
        )


Difference = tuple[str, Any, Any]
Check = Callable[[Any, Observed], Iterator[Difference]]


def error_name(error: Exception) -> str:
    """The name that hosts match on."""
    return error.name if isinstance(error, SaywhyError) else type(error).__name__


def _response(expected: Any, seen: Observed) -> Iterator[Difference]:
    if expected != seen.response:
        yield "response", expected, seen.response


def _response_contains(expected: Any, seen: Observed) -> Iterator[Difference]:
    texts = [expected] if isinstance(expected, str) else list(expected)
    at = 0
    for text in texts:
        found = (seen.response or "").find(text, at)
        if found < 0:
            yield "response_contains", text, seen.response
            return
        at = found + len(text)


def _active_flow(expected: Any, seen: Observed) -> Iterator[Difference]:
    frame = seen.session.frame
    name = frame.flow_name if frame else None
    if expected != name:
        yield "active_flow", expected, name


def _stack(expected: Any, seen: Observed) -> Iterator[Difference]:
    if expected != seen.session.flow_stacks:
        yield "stack", expected, seen.session.flow_stacks


def _variables(expected: Any, seen: Observed) -> Iterator[Difference]:
    frame = seen.session.frame
    yield from _subset("variables", expected, frame.variables if frame else {})


def _cargo(expected: Any, seen: Observed) -> Iterator[Difference]:
    yield from _subset("cargo", expected, seen.session.cargo)


def _subset(path: str, expected: Mapping[str, Any], actual: Mapping[str, Any]) -> Iterator[Any]:
    for name, wanted in expected.items():
        got = actual.get(name, UNDEFINED)
        if not matches(wanted, got):
            yield f"{path}.{name}", wanted, got


def matches(expected: Any, actual: Any) -> bool:
    """Whether a value is as expected; an object may hold more keys than were named."""
    expected, actual = raw(expected), raw(actual)
    if isinstance(expected, Mapping) and isinstance(actual, Mapping):
        return all(matches(each, actual.get(key, UNDEFINED)) for key, each in expected.items())
    return same(expected, actual)


def _error(expected: Any, seen: Observed) -> Iterator[Difference]:
    error = seen.error
    if expected is None:
        if error is not None:
            yield "error", None, _described(error)
        return
    if error is None:
        yield "error", expected, None
        return
    name, message = error_name(error), str(error)
    if "contains" in expected:
        if expected["contains"] not in name and expected["contains"] not in message:
            yield "error", expected, _described(error)
        return
    # The name `Error` says no more than that something was raised.
    wrong_name = expected.get("name", "Error") not in ("Error", name)
    wrong_message = "message" in expected and expected["message"] != message
    if wrong_name or wrong_message:
        yield "error", expected, _described(error)


def _described(error: Exception) -> dict[str, Any]:
    described: dict[str, Any] = {"name": error_name(error), "message": str(error)}
    place = getattr(error, "place", None)
    return {**described, "place": str(place)} if place else described


def _outcome(expected: Any, seen: Observed) -> Iterator[Difference]:
    actual = seen.session.last_flow_outcome if seen.error is None else None
    if not same(expected, actual):
        yield "outcome", expected, actual


def _form(expected: Any, seen: Observed) -> Iterator[Difference]:
    frame = seen.session.frame
    actual = frame.form if frame else None
    if not matches(expected, actual):
        yield "form", expected, actual


def _dispatch(expected: Any, seen: Observed) -> Iterator[Difference]:
    actual = seen.session.last_turn_dispatch
    if not same(expected, actual):
        yield "dispatch", expected, actual


def _tool_calls(expected: Any, seen: Observed) -> Iterator[Difference]:
    calls = seen.session.last_turn_tool_calls
    if len(calls) != len(expected) or not all(map(matches, expected, calls)):
        yield "tool_calls", expected, calls


def _http(expected: Any, seen: Observed) -> Iterator[Difference]:
    requests = list(seen.http)
    if len(requests) != len(expected) or not all(map(_same_request, expected, requests)):
        yield "http", expected, requests


def _same_request(expected: Mapping[str, Any], request: Mapping[str, Any]) -> bool:
    """Whether all that is named of a request is so; `null` means that it has none."""
    wanted = dict(expected)
    headers = wanted.pop("headers", None) or {}
    sent = {str(name).lower(): value for name, value in (request.get("headers") or {}).items()}
    return all(
        (each is None and key not in request) or same(each, request.get(key, UNDEFINED))
        for key, each in wanted.items()
    ) and all(sent.get(str(name).lower()) == value for name, value in headers.items())


def _ai_calls(expected: Any, seen: Observed) -> Iterator[Difference]:
    if list(expected) != list(seen.ai_calls):
        yield "ai_calls", expected, list(seen.ai_calls)


def _approval(expected: Any, seen: Observed) -> Iterator[Difference]:
    waiting = seen.session.pending_approval
    if not matches(expected, waiting):
        yield "approval", expected, waiting


def _unknown(expected: Any, seen: Observed) -> Iterator[Difference]:
    calls = seen.session.unknown
    if len(calls) != len(expected) or not all(map(matches, expected, calls)):
        yield "unknown", expected, calls


_CHECKS: Final[dict[str, Check]] = {
    "error": _error,
    "response": _response,
    "response_contains": _response_contains,
    "active_flow": _active_flow,
    "stack": _stack,
    "variables": _variables,
    "cargo": _cargo,
    "outcome": _outcome,
    "form": _form,
    "dispatch": _dispatch,
    "tool_calls": _tool_calls,
    "http": _http,
    "ai_calls": _ai_calls,
    "approval": _approval,
    "unknown": _unknown,
}


def shown(value: Any) -> str:
    """A value as a failure shows it: JSON, so that texts show their line ends."""
    if isinstance(value, FrozenDict | FrozenList):
        value = value.raw
    return "nothing" if value is UNDEFINED else dumps(value).decode("utf-8", "replace")
