"""What is wrong with `timeout` of a SAY-GET and `inactivity` of a flow: what is to be done about
silence.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from saywhy.errors import Problem, did_you_mean
from saywhy.flows.checks.flow import flow_problem
from saywhy.flows.checks.spot import Spot
from saywhy.flows.graph import edges_of, target_of
from saywhy.flows.model import Flow, Library
from saywhy.flows.read_flow import kind_of

TIMEOUT_KEYS: Final = ("after", "max", "ask", "value", "then")
SHORT_MS: Final = 1000
"""Below this somebody probably meant seconds."""


def check_silence(spot: Spot) -> Iterator[Problem]:
    """Every problem of a step's `timeout`."""
    timeout = spot.get("timeout")
    if timeout is None or spot.step.type != "SAY-GET":
        return
    if not isinstance(timeout, dict):
        yield from _after(spot, timeout, ("timeout",))
        return
    if timeout.get("after") is None:
        hint = 'write how many milliseconds: "timeout": {"after": 30000}'
        yield spot.problem("`timeout` has no `after`", "timeout", hint=hint)
    else:
        yield from _after(spot, timeout["after"], ("timeout", "after"))
    yield from _keys(spot, timeout)
    yield from _again(spot, timeout)
    yield from _texts(spot, timeout)
    yield from _then(spot, timeout)


def check_inactivity(flow: Flow) -> Iterator[Problem]:
    """Every problem of a flow's `inactivity`."""
    written = flow.raw.get("inactivity")
    if written is None or (not isinstance(written, bool) and written == 0):  # 0: without a limit
        return
    for message, hint, severity in _milliseconds("inactivity", written):
        yield flow_problem(flow, message, "/inactivity", hint, severity)


def _after(spot: Spot, value: Any, path: tuple[str, ...]) -> Iterator[Problem]:
    for message, hint, severity in _milliseconds(".".join(path), value):
        yield spot.problem(message, *path, hint=hint, severity=severity)


def _milliseconds(name: str, value: Any) -> Iterator[tuple[str, str, Any]]:
    """What is wrong with a number of milliseconds: message, hint, severity."""
    hint = "write 30000 for half a minute"
    if isinstance(value, bool) or not isinstance(value, int | float):
        yield f"`{name}` must be a number of milliseconds, this is {kind_of(value)}", hint, "error"
    elif not 0 < value < float("inf"):
        yield f"`{name}` must be more than 0 milliseconds, this is {value:g}", hint, "error"
    elif value < SHORT_MS:
        message = f"`{name}` is {value:g} milliseconds, less than a second"
        yield message, f"write {value * 1000:g} if seconds were meant", "warning"


def _keys(spot: Spot, timeout: dict[str, Any]) -> Iterator[Problem]:
    for key in timeout:
        if key not in TIMEOUT_KEYS and not key.startswith("ask_"):
            hint = did_you_mean(key, TIMEOUT_KEYS) or f"it takes {', '.join(TIMEOUT_KEYS)}"
            yield spot.problem(
                f'`timeout` knows no key "{key}"', "timeout", key, hint=hint, at_key=True
            )


def _again(spot: Spot, timeout: dict[str, Any]) -> Iterator[Problem]:
    """How often is asked again: said, bounded, and not said for nothing."""
    asks = next((key for key in timeout if key == "ask" or key.startswith("ask_")), "")
    most = timeout.get("max")
    if most is None:
        if asks:
            message = f"`{asks}` without `max`: nobody says how often to ask again"
            yield spot.problem(message, "timeout", asks, hint='write "max": 2', at_key=True)
    elif isinstance(most, bool) or not isinstance(most, int) or most < 0:
        message = f"`timeout.max` must be a whole number from 0, this is {kind_of(most)}"
        yield spot.problem(message, "timeout", "max", hint="2 asks again up to twice")
    elif most == 0 and asks:
        message = f"`{asks}` is never said: `max` is 0"
        hint = "raise `max`, or remove the text"
        yield spot.problem(message, "timeout", asks, hint=hint, severity="warning", at_key=True)


def _texts(spot: Spot, timeout: dict[str, Any]) -> Iterator[Problem]:
    for key, value in timeout.items():
        if (key == "ask" or key.startswith("ask_")) and not isinstance(value, str):
            message = f"`timeout.{key}` must be a text, this is {kind_of(value)}"
            yield spot.problem(message, "timeout", key, hint="put it in quotes")
    if "value" in timeout and not spot.get("variable"):
        message = "`timeout.value` goes nowhere: the step has no `variable`"
        yield spot.problem(message, "timeout", "value", hint="name one, or remove the value")


def _then(spot: Spot, timeout: dict[str, Any]) -> Iterator[Problem]:
    written = timeout.get("then")
    if isinstance(written, list) and not written:
        hint = "remove it, or say what to do"
        yield spot.problem(
            "`timeout.then` is an empty list", "timeout", "then", hint=hint, severity="warning"
        )
    for step in spot.step.on_silence:
        inside = Spot(spot.library, spot.known, spot.flow, step)
        if step.type == "DISPATCH":
            message = "DISPATCH hands the user's words back, and in silence there are none"
            yield inside.problem(message, hint="end the flow with END or RETURN")
        target = spot.library.find(target_of(step)) if step.type == "FLOW" else None
        if target is not None and _leads_to(spot.library, target, spot.flow):
            message = "silence leads back to this flow, which asks again, for as long as it lasts"
            hint = "ask again with `ask` and `max`, and let the flow end here"
            yield inside.problem(message, hint=hint, severity="warning")


def _leads_to(library: Library, start: Flow, goal: Flow) -> bool:
    """Whether a way leads from one flow to another, or they are the same."""
    seen: set[str] = set()
    waiting = [start]
    while waiting:
        flow = waiting.pop()
        if flow.id == goal.id:
            return True
        if flow.id not in seen:
            seen.add(flow.id)
            found = (library.find(edge.target) for edge in edges_of(flow, library))
            waiting += [one for one in found if one is not None]
    return False
