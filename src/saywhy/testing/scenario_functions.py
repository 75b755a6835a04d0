"""Functions of a scenario, written as data: one row of a table for each kind.

The engine calls them like functions of a host, with whatever it passes. spec: the scenario format
in docs/reference/scenario-files.md
"""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Callable, Mapping
from typing import Any, Final

from saywhy.clock import Clock
from saywhy.errors import CallerError, did_you_mean
from saywhy.expr.numbers import number_text
from saywhy.values import UNDEFINED, dumps

Function = Callable[..., Any]


class ScriptedError(Exception):
    """What a function of kind `raise` raises."""


def function_from_data(name: str, spec: Any, clock: Clock) -> Function:
    """The function that a scenario describes. Raises `CallerError` for an unknown kind."""
    kind = spec.get("kind") if isinstance(spec, Mapping) else None
    maker = _KINDS.get(str(kind))
    if maker is None:
        raise CallerError(
            f"the function {name} has no known kind ({kind})",
            hint=did_you_mean(str(kind), tuple(_KINDS)) or f"kinds: {', '.join(_KINDS)}",
        )
    try:
        return maker(spec, clock)
    except KeyError as missing:
        raise CallerError(f"the function {name} of kind {kind} needs the key {missing}") from None


def text_of(value: Any) -> str:
    """A value as text, as JavaScript writes it."""
    if isinstance(value, str):
        return value
    if value is None:
        return "null"
    if value is UNDEFINED:
        return "undefined"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return number_text(value)
    if isinstance(value, list):
        return ",".join("" if one is None or one is UNDEFINED else text_of(one) for one in value)
    return dumps(value).decode() if isinstance(value, Mapping) else str(value)


def _number(value: Any) -> float | int:
    if isinstance(value, int | float):
        return value
    text = str(value).strip()
    try:
        return int(text or "0")
    except ValueError:
        return float(text)


def _constant(spec: Mapping[str, Any], clock: Clock) -> Function:
    value = spec["value"]
    return lambda *args: copy.deepcopy(value)


def _echo(spec: Mapping[str, Any], clock: Clock) -> Function:
    def echo(*args: Any) -> Any:
        return args[0] if len(args) == 1 else list(args) if args else UNDEFINED

    return echo


def _raise(spec: Mapping[str, Any], clock: Clock) -> Function:
    message = str(spec["message"])

    def fail(*args: Any) -> Any:
        raise ScriptedError(message)

    return fail


def _sequence(spec: Mapping[str, Any], clock: Clock) -> Function:
    values = list(spec["values"])
    calls = 0

    def step(*args: Any) -> Any:
        nonlocal calls
        value = values[min(calls, len(values) - 1)]
        calls += 1
        if isinstance(value, Mapping) and list(value) == ["$raise"]:
            raise ScriptedError(str(value["$raise"]))
        return copy.deepcopy(value)

    return step


def _add(spec: Mapping[str, Any], clock: Clock) -> Function:
    names = list(spec["args"])

    def add(a: Any, *rest: Any) -> Any:
        return sum(_number(a[name]) for name in names)

    return add


def _concat(spec: Mapping[str, Any], clock: Clock) -> Function:
    separator = str(spec.get("separator", ""))
    return lambda *args: separator.join(map(text_of, args))


def _upper(spec: Mapping[str, Any], clock: Clock) -> Function:
    def upper(a: Any, *rest: Any) -> str:
        return text_of(a).upper()

    return upper


def _pick(spec: Mapping[str, Any], clock: Clock) -> Function:
    key = spec["key"]

    def pick(a: Any, *rest: Any) -> Any:
        return a.get(key, UNDEFINED) if isinstance(a, Mapping) else UNDEFINED

    return pick


def _slow(spec: Mapping[str, Any], clock: Clock) -> Function:
    value, seconds = spec["value"], spec["ms"] / 1000

    async def slow(*args: Any) -> Any:
        await clock.sleep(seconds)
        return copy.deepcopy(value)

    return slow


def _valid_if(spec: Mapping[str, Any], clock: Clock) -> Function:
    field, allowed, message = spec["field"], set(map(text_of, spec["in"])), spec["message"]

    def valid(variables: Mapping[str, Any], *rest: Any) -> dict[str, Any]:
        if text_of(variables.get(field, UNDEFINED)) in allowed:
            return {"isValid": True}
        return {"isValid": False, "errors": [message]}

    return valid


def _set_cargo(spec: Mapping[str, Any], clock: Clock) -> Function:
    key, value = spec["key"], spec["value"]

    def write(a: dict[str, Any], *rest: Any) -> bool:
        a[key] = copy.deepcopy(value)
        return True

    return write


def _one_time_code(spec: Mapping[str, Any], clock: Clock) -> Function:
    digest = hashlib.sha256(str(spec["code"]).encode()).hexdigest()

    def send(*args: Any) -> dict[str, Any]:
        box: Any = args[-1] if args else None
        if not isinstance(box, dict):
            raise ScriptedError("a one-time code needs an object to be noted in, as last argument")
        box.update(otpHash=digest, otpTimestamp=round(clock.now()))
        return {"success": True}

    return send


_KINDS: Final[dict[str, Callable[[Mapping[str, Any], Clock], Function]]] = {
    "constant": _constant,
    "echo": _echo,
    "raise": _raise,
    "sequence": _sequence,
    "add": _add,
    "concat": _concat,
    "upper": _upper,
    "pick": _pick,
    "slow": _slow,
    "valid_if": _valid_if,
    "set_cargo": _set_cargo,
    "one_time_code": _one_time_code,
}
