"""What the writes of a stage come to: only what differs from before is kept.

A variable set twice leaves one operation, one set to the value it had leaves none.
"""

from __future__ import annotations

from typing import Any

from saywhy.chart.commit import Op
from saywhy.chart.scope import Scope
from saywhy.values import UNDEFINED, Key, same


def keep_net(scope: Scope) -> None:
    """Drop operations that a later one covers, and those that change nothing."""
    ops = scope.ops
    if not ops:
        return
    if len(ops) > 1:
        ops[:] = _uncovered(ops)
    writers: dict[Key, int] = {}
    for op in ops:
        writers[op.key[:2]] = writers.get(op.key[:2], 0) + 1
    kept = [op for op in ops if writers[op.key[:2]] > 1 or not _is_idle(scope, op)]
    if len(kept) < len(ops):
        for op in ops:
            if not any(op.key[:2] == one.key[:2] for one in kept):
                root: Any = op.key
                scope.staged.pop(root, None)
        ops[:] = kept


def _is_idle(scope: Scope, op: Op) -> bool:
    """Whether the only operation on a variable leaves it as it was before the stage."""
    if len(op.key) != 2 or op.verb == "append":
        return False
    owner, name = str(op.key[0]), str(op.key[1])
    before = scope.state.get(owner, name)
    if op.verb == "delete":
        return before is UNDEFINED and name not in scope.state.scopes.get(owner, ())
    return before is not UNDEFINED and same(before, op.value)


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
