"""How the writes of a fork's branches become one state.

Each branch wrote into a scope of its own, over that of the fork's frame. Here they are taken over
in declared order, under a policy for each key. One writer needs none; two without one conflict.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import Any

from saywhy.chart.commit import Op
from saywhy.chart.cursor import Side
from saywhy.chart.scope import GONE, Scope
from saywhy.errors import ChartError, MergeConflict
from saywhy.values import UNDEFINED, FrozenDict, FrozenList, append_path, freeze, same, seal


class Merge(Enum):
    """What becomes of a key that several branches wrote."""

    REPLACE = "replace"
    """The last branch in declared order wins."""
    APPEND = "append"
    """What each branch added to the list, one after the other."""
    UNION = "union"
    """Like APPEND, without what is there already; of objects, all fields, later branches first."""
    ERROR = "error"
    """A conflict, as without a policy."""


Policy = Merge | Callable[[Any, list[Any]], Any]
"""A function is given the value before the fork and those of the branches that wrote the key."""


Written = list[tuple[Side, Any]]
"""Who wrote a key, and what; `GONE` where a branch deleted it."""


def join_branches(
    scope: Scope,
    sides: Sequence[Side],
    policies: Mapping[str, Policy],
    takes: Sequence[str] | None = None,
) -> list[dict[str, Any]]:
    """Stage the joined writes of `sides` on the frame of `scope`; gives who wrote what.

    The writes of a branch that failed are dropped, and so are those of names that are not in
    `takes`, where that is given. Raises `MergeConflict` naming key and branches.
    """
    written: dict[str, Written] = {}
    facts: list[dict[str, Any]] = []
    for side in sides:
        if side.error:
            facts.append({"branch": side.name, "scope": side.scope, "error": side.error})
            continue
        changes = branch_writes(scope, side.scope)
        if takes is not None:
            changes = {name: value for name, value in changes.items() if name in takes}
        for name, value in changes.items():
            if name not in written:
                written[name] = []
            written[name].append((side, value))
        # Not "keys": a record masks what stands under that name.
        names = list(changes)
        told = {"branch": side.name, "scope": side.scope, "names": names, "commit": side.last}
        facts.append(told)
    for name, found in written.items():
        take_over(scope, name, found, policies.get(name))
    return facts


def branch_writes(scope: Scope, branch: str) -> dict[str, Any]:
    """What a branch's scope holds by itself; `GONE` for what it took away."""
    state = scope.state
    own = state.scopes.get(branch, {})
    base = state.bases.get(branch)
    if base is None or not base.gone:
        return own
    gone = {name: GONE for name in base.gone if name not in own} if base else {}
    return {**own, **gone}


def take_over(scope: Scope, name: str, found: Written, policy: Policy | None) -> None:
    """Write one key of the branches on the frame of `scope`."""
    key = (scope.frame.scope, name)
    scope.reads += [(side.scope, name) for side, _ in found]
    before = scope.peek(key)
    if policy is Merge.REPLACE or (len(found) == 1 and (policy is None or policy is Merge.ERROR)):
        put(scope, key, before, found[-1][1])
        return
    if policy is None or policy is Merge.ERROR:
        raise MergeConflict((name,), found[0][0].name, found[1][0].name)
    values = [UNDEFINED if value is GONE else value for _, value in found]
    put(scope, key, before, merged(before, values, policy, before))


def merged(before: Any, values: Sequence[Any], policy: Policy, base: Any = UNDEFINED) -> Any:
    """What a value becomes by those that several wrote in its place.

    `base` is what the writers started from: of a list that still begins with it, only the rest was
    added. Without it every list is new.
    """
    if policy is Merge.APPEND:
        return _appended(before, values, base)
    if policy is Merge.UNION:
        return _union(before, values, base)
    if isinstance(policy, Merge):
        return values[-1]
    return freeze(policy(before, list(values)))


def put(scope: Scope, key: tuple[str, str], before: Any, value: Any) -> None:
    """Stage `value`, noted as what was added where it is a list that has only grown."""
    if value is GONE:
        scope.delete(key)
        return
    if type(value) is not FrozenList:
        scope.staged[key] = value
        scope.ops.append(Op("set", key, value))
        return
    added = additions(before, value)
    if added is None or not scope.has(*key) or scope.holder(*key) != key[0]:
        ops = [Op("set", key, value)]
    else:
        ops = [Op("append", key, seal(item)) for item in added]
    scope.replace(key, value, ops)


def additions(before: Any, value: Any) -> list[Any] | None:
    """What was put at the end of a list, not sealed; None when `value` is no longer `before`."""
    if not isinstance(before, FrozenList) or not isinstance(value, FrozenList):
        return None
    added = value.behind(before)
    if added is not None:  # without a look at what both have: they may be long
        return added
    old, new = before.raw, value.raw
    if len(new) < len(old) or not all(map(_alike, old, new)):
        return None
    return new[len(old) :]


def _alike(one: Any, other: Any) -> bool:
    return one is other or same(one, other)


def _appended(before: Any, values: Sequence[Any], base: Any) -> FrozenList:
    grown = before if isinstance(before, FrozenList) else FrozenList([])
    for value in values:
        grown = grown.appended(*_items(base, value))
    return grown


def _items(base: Any, value: Any) -> list[Any]:
    """What a branch adds: the items at the end, those of a new list, or the value itself."""
    if value is UNDEFINED:
        return []
    if not isinstance(value, FrozenList):
        return append_path(FrozenList([]), (), value).raw
    added = additions(base, value)
    return value.raw if added is None else added


def _union(before: Any, values: Sequence[Any], base: Any) -> Any:
    if any(isinstance(value, FrozenDict) for value in (before, *values)):
        fields: dict[str, Any] = {}
        for value in (before, *values):
            if isinstance(value, FrozenDict):
                fields |= value.raw
            elif value is not UNDEFINED:
                raise ChartError("the union of an object and something else cannot be made")
        return FrozenDict(fields)
    items = list(before.raw) if isinstance(before, FrozenList) else []
    for value in values:
        for item in _items(base, value):
            if not any(same(item, there) for there in items):
                items.append(item)
    return FrozenList(items)
