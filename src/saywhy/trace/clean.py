"""Whether a commit can be kept as it is: the quick answer, which holds for nearly all of them.

It is right when it says yes, and may say no for nothing: a sensitive name with a harmless value, a
value near the limit. Then `redact` looks closely.
"""

from __future__ import annotations

from typing import Any

from saywhy.chart.commit import Commit, Condition
from saywhy.trace.sensitive import SensitiveNames
from saywhy.values import FrozenDict, FrozenList, Key


def is_clean(commit: Commit, names: SensitiveNames, limit: int) -> bool:
    """Whether, with no secret text known, nothing in the commit is to be masked or cut."""
    for op in commit.ops:
        value = op.value
        if value is not None and (_is_named(op.key, names) or _left(value, names, limit) < 0):
            return False
    if commit.decision is not None and not _conditions(commit.decision.conditions, names, limit):
        return False
    asked, answered = commit.asked, commit.answered
    if asked is not None and asked.args and _left(asked.args, names, limit) < 0:
        return False
    if answered is not None and (
        _left(answered.value, names, limit) < 0
        or (answered.facts and _left(answered.facts, names, limit) < 0)
    ):
        return False
    for call in commit.calls:
        if _left(call.args, names, limit) < 0 or _left(call.value, names, limit) < 0:
            return False
    return not commit.facts or _left(commit.facts, names, limit) >= 0


def _conditions(conditions: tuple[Condition, ...], names: SensitiveNames, limit: int) -> bool:
    for condition in conditions:
        for key, value in condition.read:
            if _is_named(key, names) or _left(value, names, limit) < 0:
                return False
        if condition.parts and not _conditions(condition.parts, names, limit):
            return False
    return True


def _is_named(key: Key, names: SensitiveNames) -> bool:
    known = names.known
    for part in key[1:]:
        if isinstance(part, str) and known.get(part, True) and part in names:
            return True
    return False


def _left(value: Any, names: SensitiveNames, left: int) -> int:
    """How much of the limit is left after a value; below 0 where a close look is needed."""
    kind = type(value)
    if kind is str:
        return left - len(value) - 2
    if kind is FrozenDict or kind is FrozenList:
        value = value.raw
        kind = type(value)
    if kind is dict:
        known = names.known
        for name, item in value.items():
            if known.get(name, True) and name in names:
                return -1
            left -= len(name)
            kind = type(item)
            if kind is str:
                left -= len(item) + 2
            else:
                left = left - 8 if kind is int else _left(item, names, left)
            if left < 0:
                return -1
        return left
    if kind is list or kind is tuple:
        for item in value:
            kind = type(item)
            if kind is str:
                left -= len(item) + 2
            else:
                left = left - 8 if kind is int else _left(item, names, left)
            if left < 0:
                return -1
        return left
    return left - 8
