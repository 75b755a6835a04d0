"""What is wrong with the switches of a question: each is true, false, or a condition."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from saywhy.errors import Problem
from saywhy.flows.checks.spot import Spot
from saywhy.flows.read_flow import kind_of

SWITCHES: Final = ("pii", "asSpoken")
_WORDS: Final = {
    **dict.fromkeys(("yes", "on", "y"), "true"),
    **dict.fromkeys(("no", "off", "n"), "false"),
}
"""Truth in YAML 1.1, and texts since: here they would be conditions on variables of these names."""


def check_switches(spot: Spot, raw: Mapping[str, Any], *path: str | int) -> Iterator[Problem]:
    """Every problem of the switches in a step, or in an input of a form, which `path` leads to."""
    for key in SWITCHES:
        value = raw.get(key)
        if value is None or isinstance(value, bool):
            continue
        if not isinstance(value, str):
            message = f"`{key}` must be true, false or a condition, not {kind_of(value)}"
            hint = 'write true, or a condition: "amount > 5"'
            yield spot.problem(message, *path, key, hint=hint)
        elif value.strip().lower() in _WORDS:
            message = f'`{key}` is the text "{value}", a condition on a variable of that name'
            hint = f"write {_WORDS[value.strip().lower()]}"
            yield spot.problem(message, *path, key, hint=hint, severity="warning")
