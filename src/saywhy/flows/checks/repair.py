"""What is wrong with how a step repairs itself: rescue steps and retries.

The rules of `inputValidation` are judged in `checks.rules`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from saywhy.errors import Problem, did_you_mean
from saywhy.flows.checks.rules import check_pattern, check_rules
from saywhy.flows.checks.spot import Spot
from saywhy.flows.read_flow import kind_of
from saywhy.tools.effect import effect_of

STRATEGIES: Final = ("immediate", "exponential", "linear", "manual")
ACTIONS: Final = ("retry", "skip", "ask_user", "fallback")


def check_repair(spot: Spot) -> Iterator[Problem]:
    """Every problem of the keys that any step may have for the case that it fails."""
    yield from _rescues(spot)
    yield from _unknown(spot)
    yield from _retries(spot)
    yield from _rules(spot)
    yield from check_rules(spot, spot.get("inputValidation"), ("inputValidation",))


def _rescues(spot: Spot) -> Iterator[Problem]:
    for key in ("onFail", "onUnknown", "onDecline"):
        written = spot.get(key)
        if isinstance(written, list) and not written:
            hint = "remove it, or say what to do"
            yield spot.problem(f"`{key}` is an empty list", key, hint=hint, severity="warning")


def _unknown(spot: Spot) -> Iterator[Problem]:
    """`onUnknown` where nothing can ever be unknown."""
    tool = spot.library.tool(str(spot.get("tool") or ""))
    if not spot.has("onUnknown") or spot.step.type != "CALL-TOOL" or tool is None:
        return
    if effect_of(tool.raw) == "reads":
        message = f"`onUnknown` never runs: tool {tool.id} only reads, so it is asked again"
        hint = 'remove it, or give the tool "effect": "once"'
        yield spot.problem(message, "onUnknown", hint=hint, severity="warning", at_key=True)


def _retries(spot: Spot) -> Iterator[Problem]:
    retries = spot.get("maxRetries")
    if retries is not None and not _is_whole(retries):
        message = f"`maxRetries` must be a whole number from 0, this is {kind_of(retries)}"
        hint = "0 tries once, 2 up to three times"
        yield spot.problem(message, "maxRetries", hint=hint)
    delay = spot.get("retryDelay")
    if delay is not None and not _is_number(delay):
        message = f"`retryDelay` must be a number of milliseconds, this is {kind_of(delay)}"
        yield spot.problem(message, "retryDelay", hint="write 500 for half a second")
    strategy = spot.get("retryStrategy")
    if strategy is not None and strategy not in STRATEGIES:
        hint = did_you_mean(str(strategy), STRATEGIES) or f"use one of {', '.join(STRATEGIES)}"
        yield spot.problem(f'unknown retryStrategy "{strategy}"', "retryStrategy", hint=hint)


def _rules(spot: Spot) -> Iterator[Problem]:
    rules = spot.get("retryOnConditions")
    if rules is None:
        return
    if not isinstance(rules, list):
        message = f"`retryOnConditions` must be a list, this is {kind_of(rules)}"
        hint = 'write [{"errorPattern": "timeout", "action": "retry"}]'
        yield spot.problem(message, "retryOnConditions", hint=hint)
        return
    for index, rule in enumerate(rules):
        path = ("retryOnConditions", index)
        if not isinstance(rule, dict):
            message = f"a rule must be an object, this is {kind_of(rule)}"
            hint = 'write {"errorPattern": "timeout", "action": "retry"}'
            yield spot.problem(message, *path, hint=hint)
        else:
            yield from _rule(spot, rule, path)


def _rule(spot: Spot, rule: dict[str, Any], path: tuple[str | int, ...]) -> Iterator[Problem]:
    pattern = rule.get("errorPattern")
    if pattern is None:
        hint = 'write what the error message must contain: "errorPattern": "timeout"'
        yield spot.problem("a rule without `errorPattern`", *path, hint=hint)
    else:
        yield from check_pattern(spot, pattern, *path, "errorPattern")
    action = rule.get("action")
    if action not in ACTIONS:
        hint = did_you_mean(str(action), ACTIONS) or f"use one of {', '.join(ACTIONS)}"
        message = f'unknown action "{action}"' if action is not None else "a rule without `action`"
        yield spot.problem(message, *path, "action", hint=hint)
    has_step = rule.get("fallbackStep") is not None
    if action == "fallback" and not has_step:
        hint = 'add "fallbackStep": {"id": …, "type": "SAY", …}'
        yield spot.problem('the action "fallback" needs a `fallbackStep`', *path, hint=hint)
    elif has_step and action in ACTIONS and action != "fallback":
        message = f'`fallbackStep` has an effect only with the action "fallback", not "{action}"'
        yield spot.problem(message, *path, "fallbackStep", hint="remove it", severity="warning")


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value >= 0
