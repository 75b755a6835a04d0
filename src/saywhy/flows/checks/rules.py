"""What is wrong with `inputValidation`: patterns and the validator that may refuse an answer.

A step may have it, and an input of a form.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from saywhy.errors import Problem, did_you_mean
from saywhy.flows.checks.keys import misspelt_keys
from saywhy.flows.checks.spot import Spot
from saywhy.flows.read_flow import kind_of
from saywhy.flows.source import join
from saywhy.tools.pattern import pattern_problem

Path = tuple[str | int, ...]

PATTERN_KEYS: Final = frozenset({"field", "pattern", "message"})


def _example(of_input: bool) -> str:
    field = "" if of_input else '"field": "zip", '
    return f'{{{field}"pattern": "^[0-9]{{5}}$", "message": …}}'


def check_rules(spot: Spot, rules: Any, path: Path, *, of_input: bool = False) -> Iterator[Problem]:
    """Every problem of the rules at `path`; those of an input of a form name no field."""
    if rules is None:
        return
    if not isinstance(rules, dict):
        message = f"`inputValidation` must be an object, this is {kind_of(rules)}"
        yield spot.problem(message, *path, hint=f'write {{"patterns": [{_example(of_input)}]}}')
        return
    yield from _patterns(spot, rules.get("patterns"), (*path, "patterns"), of_input=of_input)
    validator = rules.get("customValidator")
    at = (*path, "customValidator")
    if validator is not None and not isinstance(validator, str):
        message = f"`customValidator` must be the name of a function, this is {kind_of(validator)}"
        yield spot.problem(message, *at, hint="put the name in quotes")
    functions = spot.known.functions
    if isinstance(validator, str) and functions is not None and validator not in functions:
        hint = did_you_mean(validator, sorted(functions)) or "hand it over as an approved function"
        message = f'no approved function is called "{validator}"'
        yield spot.problem(message, *at, hint=hint, known_names=sorted(functions))
    if validator is None and not rules.get("patterns"):
        message = "`inputValidation` has neither `patterns` nor `customValidator`"
        yield spot.problem(message, *path, hint="remove it", severity="warning")


def _patterns(spot: Spot, patterns: Any, under: Path, *, of_input: bool) -> Iterator[Problem]:
    if patterns is None:
        return
    if not isinstance(patterns, list):
        message = f"`patterns` must be a list, this is {kind_of(patterns)}"
        yield spot.problem(message, *under, hint="write [{…}]")
        return
    known = PATTERN_KEYS - {"field"} if of_input else PATTERN_KEYS
    for index, entry in enumerate(patterns):
        path = (*under, index)
        if not isinstance(entry, dict):
            message = f"a pattern must be an object, this is {kind_of(entry)}"
            yield spot.problem(message, *path, hint=f"write {_example(of_input)}")
            continue
        if not of_input and (not isinstance(entry.get("field"), str) or not entry["field"]):
            hint = "name the variable to check"
            yield spot.problem("a pattern without `field`", *path, hint=hint)
        if entry.get("pattern") is None:
            hint = 'write what the value must look like: "pattern": "^[0-9]{5}$"'
            yield spot.problem("a pattern without `pattern`", *path, hint=hint)
        else:
            yield from check_pattern(spot, entry["pattern"], *path, "pattern")
        yield from misspelt_keys(
            spot.flow,
            join(spot.step.pointer, *path),
            entry,
            known,
            prefixes=("message_",),
            step=spot.step.id,
        )
        yield from _message(spot, entry, path)


def _message(spot: Spot, entry: dict[str, Any], path: Path) -> Iterator[Problem]:
    for key, text in entry.items():
        if key != "message" and not key.startswith("message_"):
            continue
        if text is not None and not isinstance(text, str):
            yield spot.problem(f"`{key}` must be a text", *path, key, hint="put it in quotes")
        elif text and "{{" in text:
            message = f"`{key}` is no template, it is shown as it is written"
            hint = "write it without {{ }}; a `customValidator` can make up its texts"
            yield spot.problem(message, *path, key, hint=hint, severity="warning")


def check_pattern(spot: Spot, pattern: Any, *path: str | int) -> Iterator[Problem]:
    """What is wrong with a regular expression."""
    if not isinstance(pattern, str):
        message = f"a regular expression must be a text, this is {kind_of(pattern)}"
        yield spot.problem(message, *path, hint="put it in quotes")
        return
    wrong = pattern_problem(pattern)
    if wrong:
        yield spot.problem(wrong, *path, hint="check its brackets and backslashes")
