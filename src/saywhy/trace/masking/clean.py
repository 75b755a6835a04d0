"""Whether a commit can be kept as it is: the quick answer, which holds for nearly all of them.

It is right when it says yes, and may say no for nothing: a variable of a sensitive name with a
harmless value, a value near the limit. Then `redact` looks closely.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from saywhy.chart.commit import Commit, Condition
from saywhy.trace.masking.sensitive import LONGEST_NOTED, SensitiveNames, gives_away
from saywhy.values import FrozenDict, FrozenList, Key


def is_clean(commit: Commit, names: SensitiveNames, limit: int) -> bool:
    """Whether, with no secret text known, nothing in the commit is to be masked or cut."""
    # Nearly every value is a short text under a known name: looked at here, it costs no call.
    harmless = names.harmless
    for op in commit.ops:
        value = op.value
        if value is None:
            continue
        if type(value) is str:
            if len(value) + 2 > limit:
                return False
        elif _left(value, names, limit) < 0:
            return False
        key = op.key
        if (len(key) != 2 or key[1] not in harmless) and _is_named(key, names):
            return False
    decision = commit.decision
    conditions = decision.conditions if decision is not None else ()
    if conditions and not _conditions(conditions, names, limit):
        return False
    asked, answered = commit.asked, commit.answered
    if asked is not None and asked.args and _left(asked.args, names, limit) < 0:
        return False
    if answered is not None:
        value = answered.value
        if type(value) is str:
            if len(value) + 2 > limit:
                return False
        elif value is not None and _left(value, names, limit) < 0:
            return False
        if answered.facts and _left(answered.facts, names, limit) < 0:
            return False
    for call in commit.calls:
        for value in (call.args, call.value, call.after):
            if _left(value, names, limit) < 0:
                return False
    facts = commit.facts
    if not facts or (len(facts) == 1 and type(facts.get("message")) is int):
        return True  # half of all steps tell which message they take in, and no more
    return _left(facts, names, limit) >= 0


def _conditions(conditions: tuple[Condition, ...], names: SensitiveNames, limit: int) -> bool:
    for condition in conditions:
        for key, value in condition.read:
            if _is_named(key, names) or _left(value, names, limit) < 0:
                return False
        if condition.parts and not _conditions(condition.parts, names, limit):
            return False
    return True


def _is_named(key: Key, names: SensitiveNames) -> bool:
    harmless = names.harmless
    for part in key[1:]:
        if part in harmless or not isinstance(part, str) or part.isdecimal():
            continue  # a number is none too: that of a message, of which there is always a new one
        if part in names:
            return True
    return False


_FLAT: Final = frozenset({int, float, bool, type(None)})
"""Types of values that count as 8 bytes, like every item of a list or an object."""

_FIELD: Final = LONGEST_NOTED + 8
"""What a field with a harmless name counts for at most, its value apart."""

_encode: Final = msgspec.json.Encoder().encode


def _left(value: Any, names: SensitiveNames, left: int) -> int:
    """How much of the limit is left after a value; below 0 where a close look is needed."""
    kind = type(value)
    if kind is not dict and (kind is FrozenList or kind is FrozenDict):
        value = value.raw
        kind = type(value)
    if kind is dict:
        if names.harmless.issuperset(value):
            left -= _FIELD * len(value)
        elif any(name in names and gives_away(name, held) for name, held in value.items()):
            return -1
        else:
            left -= sum(map(len, value)) + 8 * len(value)
        value = value.values()
    elif kind is list or kind is tuple:
        quick = _left_by_text(value, left)
        if quick >= 0:
            return quick
        left -= 8 * len(value)
    else:
        return left - (len(value) + 2 if kind is str else 8)
    if left < 0:
        return -1
    for item in value:
        kind = type(item)
        if kind is str:
            left -= len(item)
        elif kind not in _FLAT and item:  # what is empty holds nothing, and is not gone into
            left = _left(item, names, left)
            if left < 0:
                return -1
    return left


def _left_by_text(items: Any, left: int) -> int:
    """How much is left at least after a list in which nothing has a name, as the stretches of a
    reply are; below 0 where its JSON text alone does not tell.

    No value counts for more than 8 bytes for each byte of that text, which is written in no time.
    """
    try:
        text = _encode(items)
    except (TypeError, ValueError):  # values that JSON does not have
        return -1
    return -1 if b"{" in text else left - 8 * len(text)
