"""Keys that look like a slip of the pen.

Unknown keys are allowed, since hosts keep notes of their own in flows; only one that nearly is a
known key is worth a warning.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from typing import Any, Final

from saywhy.errors import Problem
from saywhy.flows.model import Flow, ToolDefinition
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
        "language",
        "parameters",
        "parameterInstructions",
        "scope",
        "inactivity",
        "wraps",
        "variables",
        "steps",
        "metadata",
        "corrections",
        "pii",
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
    "SAY": frozenset({"value", "pii"}),
    "SAY-GET": frozenset({"value", "variable", "digits", "asSpoken", "pii", "timeout"}),
    "SET": frozenset({"value", "pii", "variable", "requireTrue"}),
    "CALL-TOOL": frozenset({"tool", "pii", "args", "variable", "onUnknown", "undo"}),
    "FLOW": frozenset(
        {"value", "name", "parameters", "initializeDefaults", "discardSay", "variable", "pii"}
    ),
    "AGENT": frozenset({"agent", "pii", "value", "variable", "say", "history"}),
    "CASE": frozenset({"branches", "_branchOrder"}),
    "SWITCH": frozenset({"variable", "branches", "_branchOrder"}),
    "RETURN": frozenset({"value", "pii", "keepSay"}),
    "FORM": frozenset(
        {"variable", "inputs", "review", "confirm", "submit", "retry", "onYield", "onDecline"}
    ),
    "END": frozenset(),
    "DISPATCH": frozenset(),
}
ALL_STEP_KEYS: Final = COMMON_KEYS.union(*STEP_KEYS.values())

TOOL_KEYS: Final = frozenset(
    [
        "id",
        "name",
        "description",
        "parameters",
        "schema",
        "required",
        "implementation",
        "effect",
        "approval",
        "reconcile",
        "cache",
        "returns",
        "security",
        "riskLevel",
        "apiKey",
        "hashAuth",
        "authentication",
    ]
)
IMPLEMENTATION_KEYS: Final = frozenset(
    [
        "type",
        "function",
        "timeout",
        "thread",
        "retries",
        "circuitBreaker",
        "retryDelay",
        "mockResponse",
        "url",
        "method",
        "contentType",
        "pathParams",
        "queryParams",
        "useQueryParams",
        "customQuery",
        "arrayFormat",
        "headers",
        "defaultHeaders",
        "authHeaders",
        "userAgent",
        "idempotencyHeader",
        "apiKey",
        "basicAuth",
        "apiKeyHeader",
        "hashAuth",
        "authentication",
        "acceptStatus",
        "responseMapping",
        "server",
        "tool",
        "idempotencyKey",
    ]
)
SCHEMA_KEYS: Final = frozenset({"type", "properties", "required", "additionalProperties"})

_CLOSE: Final = 0.85
"""How alike two keys must be: "interruptible" is a slip, "values" may be a host's own key."""


def misspelt_keys(
    owner: Flow | ToolDefinition,
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
        meant = nearest_key(key, free) or _language_key(key, prefixes)
        if meant:
            place = owner.place_of(join(pointer, key))
            if owner.source:
                place = owner.source.key_place(owner.place.pointer + join(pointer, key))
            yield Problem(
                f'unknown key "{key}"',
                place,
                f'did you mean "{meant}"?',
                "warning",
                flow=owner.id if isinstance(owner, Flow) else "",
                step=step,
            )


def nearest_key(key: str, known: Iterable[str]) -> str:
    """The known key that was meant; empty when none is near enough.

    The same letters in another order, in other case or with dashes are a slip as well.
    """
    letters = _letters(key)
    for candidate in known:
        if _letters(candidate) == letters:
            return candidate
    close = get_close_matches(key, list(known), n=1, cutoff=_CLOSE)
    return close[0] if close else ""


def _letters(key: str) -> list[str]:
    return sorted(letter for letter in key.lower() if letter.isalnum())


def _language_key(key: str, prefixes: tuple[str, ...]) -> str:
    """`value-es` and `valueEs` are `value_es`."""
    for prefix in prefixes:
        if found := re.fullmatch(rf"{prefix[:-1]}(?:[-.]([A-Za-z]{{2}})|([A-Z][A-Za-z]))", key):
            return prefix + (found[1] or found[2]).lower()
    return ""
