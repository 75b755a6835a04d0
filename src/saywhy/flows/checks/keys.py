"""Keys that look like a slip of the pen.

Unknown keys are allowed, since hosts keep notes of their own in flows; only one that nearly is a
known key is worth a warning.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Any, Final

from saywhy.errors import Problem
from saywhy.flows.model import Flow
from saywhy.flows.source import join

FLOW_KEYS: Final = frozenset(
    [
        "id",
        "name",
        "prompt",
        "description",
        "version",
        "primary",
        "interruptable",
        "parameters",
        "parameterInstructions",
        "scope",
        "wraps",
        "variables",
        "steps",
        "metadata",
    ]
)
COMMON_KEYS: Final = frozenset(
    [
        "id",
        "type",
        "outcome",
        "reason",
        "onFail",
        "maxRetries",
        "retryDelay",
        "retryStrategy",
        "retryOnConditions",
        "inputValidation",
        "callType",
    ]
)
STEP_KEYS: Final[Mapping[str, frozenset[str]]] = {
    "SAY": frozenset({"value"}),
    "SAY-GET": frozenset({"value", "variable", "digits", "asSpoken", "pii"}),
    "SET": frozenset({"value", "variable", "requireTrue"}),
    "CALL-TOOL": frozenset({"tool", "args", "variable"}),
    "FLOW": frozenset(
        {"value", "name", "parameters", "initializeDefaults", "discardSay", "variable"}
    ),
    "CASE": frozenset({"branches", "_branchOrder"}),
    "SWITCH": frozenset({"variable", "branches", "_branchOrder"}),
    "RETURN": frozenset({"value", "keepSay"}),
    "END": frozenset(),
    "DISPATCH": frozenset(),
}
ALL_STEP_KEYS: Final = COMMON_KEYS.union(*STEP_KEYS.values())

_CLOSE: Final = 0.85
"""How alike two keys must be: "interruptible" is a slip, "values" may be a host's own key."""


def misspelt_keys(
    flow: Flow,
    pointer: str,
    raw: Mapping[str, Any],
    known: frozenset[str],
    elsewhere: frozenset[str] = frozenset(),
    prefixes: tuple[str, ...] = (),
    step: str = "",
) -> Iterator[Problem]:
    """A warning for each key that is nearly, but not quite, a known one that is not there.

    Keys that have a meaning `elsewhere`, on other step types, are left to other checks.
    """
    free = sorted(known - raw.keys())
    for key in raw:
        if key in known or key in elsewhere or key.startswith(("_", *prefixes)):
            continue
        close = get_close_matches(key, free, n=1, cutoff=_CLOSE)
        if close:
            place = flow.place_of(join(pointer, key))
            if flow.source:
                place = flow.source.key_place(flow.place.pointer + join(pointer, key))
            yield Problem(
                f'unknown key "{key}"',
                place,
                f'did you mean "{close[0]}"?',
                "warning",
                flow=flow.id,
                step=step,
            )
