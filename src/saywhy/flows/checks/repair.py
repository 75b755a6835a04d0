"""What is wrong with how a step repairs itself: rescue steps, retries and `inputValidation`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from saywhy.errors import Problem, did_you_mean
from saywhy.flows.checks.keys import misspelt_keys
from saywhy.flows.checks.spot import Spot
from saywhy.flows.read_flow import kind_of
from saywhy.flows.source import join
from saywhy.tools.effect import effect_of
from saywhy.tools.pattern import pattern_problem

STRATEGIES: Final = ("immediate", "exponential", "linear", "manual")
PATTERN_KEYS: Final = frozenset({"field", "pattern", "message"})
ACTIONS: Final = ("retry", "skip", "ask_user", "fallback")


def check_repair(spot: Spot) -> Iterator[Problem]:
    """Every problem of the keys that any step may have for the case that it fails."""
    yield from _rescues(spot)
    yield from _unknown(spot)
    yield from _retries(spot)
    yield from _rules(spot)
    yield from _validation(spot)


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
        yield from _pattern(spot, pattern, *path, "errorPattern")
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


def _validation(spot: Spot) -> Iterator[Problem]:
    validation = spot.get("inputValidation")
    if validation is None:
        return
    if not isinstance(validation, dict):
        message = f"`inputValidation` must be an object, this is {kind_of(validation)}"
        hint = 'write {"patterns": [{"field": "zip", "pattern": "^[0-9]{5}$", "message": …}]}'
        yield spot.problem(message, "inputValidation", hint=hint)
        return
    yield from _patterns(spot, validation.get("patterns"))
    validator = validation.get("customValidator")
    path = ("inputValidation", "customValidator")
    if validator is not None and not isinstance(validator, str):
        message = f"`customValidator` must be the name of a function, this is {kind_of(validator)}"
        yield spot.problem(message, *path, hint="put the name in quotes")
    functions = spot.known.functions
    if isinstance(validator, str) and functions is not None and validator not in functions:
        hint = did_you_mean(validator, sorted(functions)) or "hand it over as an approved function"
        message = f'no approved function is called "{validator}"'
        yield spot.problem(message, *path, hint=hint, known_names=sorted(functions))
    if validator is None and not validation.get("patterns"):
        message = "`inputValidation` has neither `patterns` nor `customValidator`"
        yield spot.problem(message, "inputValidation", hint="remove it", severity="warning")


def _patterns(spot: Spot, patterns: Any) -> Iterator[Problem]:
    if patterns is None:
        return
    if not isinstance(patterns, list):
        message = f"`patterns` must be a list, this is {kind_of(patterns)}"
        yield spot.problem(message, "inputValidation", "patterns", hint="write [{…}]")
        return
    for index, entry in enumerate(patterns):
        path = ("inputValidation", "patterns", index)
        if not isinstance(entry, dict):
            message = f"a pattern must be an object, this is {kind_of(entry)}"
            hint = 'write {"field": "zip", "pattern": "^[0-9]{5}$", "message": …}'
            yield spot.problem(message, *path, hint=hint)
            continue
        if not isinstance(entry.get("field"), str) or not entry["field"]:
            hint = "name the variable to check"
            yield spot.problem("a pattern without `field`", *path, hint=hint)
        if entry.get("pattern") is None:
            hint = 'write what the value must look like: "pattern": "^[0-9]{5}$"'
            yield spot.problem("a pattern without `pattern`", *path, hint=hint)
        else:
            yield from _pattern(spot, entry["pattern"], *path, "pattern")
        yield from misspelt_keys(
            spot.flow,
            join(spot.step.pointer, *path),
            entry,
            PATTERN_KEYS,
            prefixes=("message_",),
            step=spot.step.id,
        )
        yield from _message(spot, entry, path)


def _message(spot: Spot, entry: dict[str, Any], path: tuple[str | int, ...]) -> Iterator[Problem]:
    for key, text in entry.items():
        if key != "message" and not key.startswith("message_"):
            continue
        if text is not None and not isinstance(text, str):
            yield spot.problem(f"`{key}` must be a text", *path, key, hint="put it in quotes")
        elif text and "{{" in text:
            message = f"`{key}` is no template, it is shown as it is written"
            hint = "write it without {{ }}; a `customValidator` can make up its texts"
            yield spot.problem(message, *path, key, hint=hint, severity="warning")


def _pattern(spot: Spot, pattern: Any, *path: str | int) -> Iterator[Problem]:
    if not isinstance(pattern, str):
        message = f"a regular expression must be a text, this is {kind_of(pattern)}"
        yield spot.problem(message, *path, hint="put it in quotes")
        return
    wrong = pattern_problem(pattern)
    if wrong:
        yield spot.problem(wrong, *path, hint="check its brackets and backslashes")


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value >= 0
