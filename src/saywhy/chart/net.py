"""What the writes of a stage come to: only what differs from before is kept.

A variable set twice leaves one operation, one set to the value it had leaves none.
"""

from __future__ import annotations

from typing import Any, Final

from saywhy.chart.commit import Op
from saywhy.chart.scope import Scope
from saywhy.values import UNDEFINED, Key, same


def keep_net(scope: Scope) -> None:
    """Drop operations that a later one covers, and those that change nothing."""
    ops = scope.ops
    if not ops:
        return
    if len(ops) == 1:
        if _is_idle(scope, ops[0]):
            ops.clear()
            scope.staged.clear()
        return
    if all(map(_is_append, ops)):  # messages, most of the time
        return
    if len({op.key[:2] for op in ops}) < len(ops):
        ops[:] = _uncovered(ops)
        writes: dict[Key, int] = {}
        for op in ops:
            writes[op.key[:2]] = writes.get(op.key[:2], 0) + 1
        idle = [op for op in ops if writes[op.key[:2]] == 1 and _is_idle(scope, op)]
    else:
        idle = [op for op in ops if _is_idle(scope, op)]
    for op in idle:
        root: Any = op.key
        scope.staged.pop(root, None)
    if idle:
        gone = {id(op) for op in idle}
        ops[:] = [op for op in ops if id(op) not in gone]


def _is_append(op: Op) -> bool:
    return op.verb == "append"


def _is_idle(scope: Scope, op: Op) -> bool:
    """Whether the only operation on a variable leaves it as it was before the stage."""
    key: Any = op.key
    verb = op.verb
    if len(key) != 2 or verb == "append":
        return False
    own = scope.state.scopes.get(key[0], _NOTHING)
    before = own[key[1]] if key[1] in own else scope.state.get(key[0], key[1])
    if verb == "delete":
        return before is UNDEFINED and key[1] not in own
    value = op.value
    kind = type(value)
    if kind is int or kind is str or kind is bool:
        return type(before) is kind and before == value
    return before is not UNDEFINED and same(before, value)


_NOTHING: Final[dict[str, Any]] = {}


def _uncovered(ops: list[Op]) -> list[Op]:
    """Without those whose place is set or deleted as a whole later on."""
    covered: set[Key] = set()
    kept: list[Op] = []
    for op in reversed(ops):
        key = op.key
        if covered and any(key[:length] in covered for length in range(2, len(key) + 1)):
            continue
        kept.append(op)
        # Positions in a list move when items are deleted: only names cover for sure.
        if op.verb != "append" and all(isinstance(part, str) for part in key[2:]):
            covered.add(key)
    kept.reverse()
    return kept
