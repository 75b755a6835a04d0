"""Which calls a person must approve, and what exactly an approval is for.

An approval is for one tool with one set of arguments: the digest of both, salted, is what it is
bound to. Who is asked, and how long the answer is waited for, is the conversation's business.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Final

from saywhy.expr.javascript import Evaluated, JavaScript, Placement
from saywhy.expr.outcome import Given
from saywhy.expr.template import condition_source
from saywhy.values import Value, dumps, freeze, raw

DAY_MS: Final = 86_400_000.0
"""How long an approval is waited for unless the tool says otherwise."""

_UNITS: Final = {"s": 1_000.0, "m": 60_000.0, "h": 3_600_000.0, "d": DAY_MS}
_SPAN: Final = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([smhd])\s*", re.ASCII)


@dataclass(frozen=True, slots=True)
class Approval:
    """When a call needs a person's word. `by` says whom to ask; it is shown, and not enforced."""

    when: str = ""
    """An expression over `args`; empty: always."""
    expires_ms: float = DAY_MS
    by: str = ""


def approval_of(definition: Mapping[str, Any]) -> Approval | None:
    """What a checked definition says under `approval`; None: nobody is asked."""
    given = definition.get("approval")
    if given is True:
        return Approval()
    if not isinstance(given, Mapping):
        return None
    return Approval(
        str(given.get("when") or ""),
        duration_ms(given.get("expires")) or DAY_MS,
        str(given.get("by") or ""),
    )


def duration_ms(given: Any) -> float | None:
    """A stretch of time: milliseconds, or text such as `90s`, `15m`, `2h`, `1d`. None for else."""
    if isinstance(given, int | float) and not isinstance(given, bool):
        return float(given) if 0 < given < float("inf") else None
    match = _SPAN.fullmatch(given) if isinstance(given, str) else None
    return float(match[1]) * _UNITS[match[2]] or None if match else None


def wants_approval(
    approval: Approval,
    arguments: Mapping[str, Any],
    names: Mapping[str, Value],
    engine: Placement | None,
    now_ms: float,
) -> bool:
    """Whether these arguments need a person's word. A condition that fails counts as true."""
    if not approval.when:
        return True
    values: dict[str, Value] = {**names, "args": freeze(arguments)}
    source = condition_source(approval.when)
    found = (engine or JavaScript()).evaluate(source, Given(values), now_ms=now_ms)
    if not isinstance(found, Evaluated):
        return True
    value = raw(found.value)
    if isinstance(value, float | int):
        return bool(value) and value == value  # noqa: PLR0124 - NaN is not equal to itself
    return isinstance(value, dict | list) or bool(value)


def digest_of(tool: str, arguments: Any, salt: str) -> str:
    """What an approval is bound to. The salt keeps short arguments from being guessed."""
    text = dumps([tool, _ordered(raw(freeze(arguments)))])
    return blake2b(text, digest_size=16, key=salt.encode()).hexdigest()


def _ordered(tree: Any) -> Any:
    """The same whichever order the names stand in."""
    tree = raw(tree)
    if isinstance(tree, dict):
        return {name: _ordered(tree[name]) for name in sorted(tree)}
    if isinstance(tree, list):
        return [_ordered(item) for item in tree]
    return tree
