"""What is wrong with `digits`, the keypad settings of a question."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeGuard

from saywhy.errors import Problem
from saywhy.flows.checks.spot import Spot
from saywhy.flows.read_flow import kind_of


def check_digits(spot: Spot, digits: Any, *path: str | int) -> Iterator[Problem]:
    """Every problem of the settings that stand at `path` of a step."""
    if digits is None:
        return
    if not isinstance(digits, dict):
        message = f"`digits` must be an object, this is {kind_of(digits)}"
        yield spot.problem(message, *path, hint='write {"min": 6, "max": 6}')
        return
    least, most = digits.get("min"), digits.get("max")
    for key in ("min", "max"):
        value = digits.get(key)
        is_filled_in = isinstance(value, str) and "{{" in value
        if value is not None and not is_filled_in and not is_whole(value):
            message = f"`digits.{key}` must be a whole number, this is {kind_of(value)}"
            yield spot.problem(message, *path, key, hint="write it without quotes")
    if is_whole(least) and is_whole(most) and least > most:
        message = f"`digits` wants at least {least} and at most {most}"
        yield spot.problem(message, *path, hint="no answer can be both; exchange them")


def is_whole(value: Any) -> TypeGuard[int]:
    """Whether a value is a whole number from 0."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
