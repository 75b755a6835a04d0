"""How a stage ends: on to the next, along a branch, back round a loop, with a question.

Each function here takes what the author's function gave and says the outcome.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import iscoroutine
from typing import Any, Final

from msgspec import structs

from saywhy.chart.commit import Decision
from saywhy.chart.outcome import Branch, Call, Fork, Invoke, Need, Outcome, Return
from saywhy.chart.plan import Exit, Plan
from saywhy.chart.scope import Scope
from saywhy.chart.view import args_scope
from saywhy.errors import ChartError, did_you_mean
from saywhy.values import FrozenList, freeze, seal

Stop = tuple[str, bool] | None


def given_value(plan: Plan, value: Any, stop: Stop) -> Any:
    """What the author's function gave, frozen while its views are good; None where nobody looks."""
    kind = type(value)
    if kind is Decision or isinstance(value, Decision | str):
        return value
    if kind is Need or isinstance(value, Need | Invoke):
        if plan.node.kind != "pausable":
            raise ChartError(
                f"stage {plan.node.id} gave something to ask",
                hint="declare it with `pausable`, whose second half takes the answer",
            )
        return value
    if hasattr(type(value), "__await__"):
        if iscoroutine(value):
            value.close()
        raise ChartError(
            f"stage {plan.node.id} is no async function, but gave something to await",
            hint="write it with `async def`",
        )
    if plan.node.kind == "stage" and plan.way.goto is not None and stop is None:
        return None
    return freeze(value, (plan.node.id,))


def finish(plan: Plan, scope: Scope, value: Any, stop: Stop) -> Outcome:
    """The outcome of a stage whose function has given `value` (see `given_value`)."""
    if stop is None:
        return _WAYS.get(plan.kind, leave)(plan, scope, value)
    _forget(scope)
    reason, everything = stop
    unwind = "all" if everything else "frame"
    return Return(value, unwind, "stopped", reason)


def leave(plan: Plan, scope: Scope, value: Any = None, way: Exit | None = None) -> Outcome:
    """Go where an exit leads, the usual one unless told; a back edge is counted."""
    if scope.data or scope.frame.data:
        _forget(scope)
    if way is None:
        way = plan.way
    if way.loop is not None:
        return way.loop.follow(scope)
    return Return(value) if way.goto is None else way.goto


def _forget(scope: Scope) -> None:
    """What was kept while the stage ran again and again is over."""
    data, held = scope.data, scope.frame.data
    if "stage" in data or ("stage" in held and held["stage"] is not None):
        data["stage"] = None
    if "inner" in data or ("inner" in held and held["inner"] is not None):
        data["inner"] = None


def _on_or_ask(plan: Plan, scope: Scope, value: Any) -> Outcome:
    """A pausable stage asks what its first half gives; nothing means there is no question.

    The second half may go on asking, with a `Need` or an `Invoke`; all else is what it returns.
    """
    if value is None:
        return leave(plan, scope)
    memo = scope.kept("stage")
    if type(value) is Need or isinstance(value, Need | Invoke):
        if memo:
            scope.keep("stage", None)  # of the question before
        return _ask(plan, scope, value)
    if memo and "answer" in memo:
        return leave(plan, scope, value)
    spec = plan.node.spec
    return Need(spec.get("ask", "user"), plan.node.id, value, spec.get("effect", "once"))


def _ask(plan: Plan, scope: Scope, value: Need | Invoke) -> Outcome:
    if isinstance(value, Need):
        args = freeze(value.args, (plan.node.id,))
        return value if args is value.args else structs.replace(value, args=args)
    args = scope.open({name: freeze(one, (name,)) for name, one in value.args.items()})
    inner = scope.open(over=args)
    return Call(value.chart, inner, awaits=True, data={"args": args})


def _decided(plan: Plan, scope: Scope, value: Any) -> Outcome:
    decision = Decision(value) if isinstance(value, str) else value
    if not isinstance(decision, Decision) or decision.selected:
        raise ChartError(
            f"decider {plan.node.id} gave {value!r}",
            hint="return the name of a branch, or what decide() gives",
        )
    way = plan.exits.get(decision.chosen)
    if way is None:
        raise _no_branch(plan, decision.chosen)
    scope.decision = decision
    if plan.notes_decision:
        scope.keep("decided", [plan.node.id, decision.chosen, decision.label])
    return leave(plan, scope, None, way)


def _selected(plan: Plan, scope: Scope, value: Any) -> Outcome:
    decision = value if isinstance(value, Decision) else _picked(plan, value)
    known = dict(plan.branches)
    for name in decision.selected:
        if name not in known:
            raise _no_branch(plan, name)
    scope.decision = decision
    if not decision.selected:
        return leave(plan, scope)
    return fork(plan, scope, {name: known[name] for name in decision.selected})


def _picked(plan: Plan, value: Any) -> Decision:
    if not isinstance(value, FrozenList) or not all(isinstance(name, str) for name in value):
        raise ChartError(
            f"selector {plan.node.id} gave {value!r}",
            hint="return a list of branches, or what select() gives",
        )
    names = tuple(dict.fromkeys(value))
    return Decision(", ".join(names), selected=names)


def _no_branch(plan: Plan, name: str) -> ChartError:
    known = list(plan.exits) or [branch for branch, _ in plan.branches]
    hint = did_you_mean(name, known) or f"branches: {', '.join(known)}"
    what = plan.node.kind
    return ChartError(f'{what} {plan.node.id} chose "{name}", which is no branch of it', hint=hint)


def _each(plan: Plan, scope: Scope, value: Any) -> Outcome:
    """One branch for each item, with the item and its number to look at."""
    items = FrozenList([]) if value is None else value
    if not isinstance(items, FrozenList):
        raise ChartError(f"the items of {plan.node.id} are no list, but {value!r}")
    most: int = plan.node.spec["max"]
    if len(items) > most:
        scope.facts["dropped"] = len(items) - most
        scope.warn(f"{len(items)} items, more than {most}: the last {len(items) - most} dropped")
    chart: str = plan.node.spec["chart"]
    branches = [
        _branch(scope, f"{plan.node.id}~{at}", chart, {"item": seal(item), "index": at})
        for at, item in enumerate(items.raw[:most])
    ]
    return Fork(tuple(branches), bool(plan.node.spec.get("collect")))


def fork(plan: Plan, scope: Scope, branches: Mapping[str, str]) -> Fork:
    """Run these branches, by name and chart, each on a scope over the frame's own."""
    sides = [_branch(scope, name, chart, {}) for name, chart in branches.items()]
    return Fork(tuple(sides), bool(plan.node.spec.get("collect")))


def _branch(scope: Scope, name: str, chart: str, seeds: Mapping[str, Any]) -> Branch:
    base = scope.frame.scope
    if seeds:  # a layer between, so that seeds are no writes of the branch
        base = scope.open(seeds, over=base)
    return Branch(name, chart, scope.open(over=base), {"args": args_scope(scope)})


_WAYS: Final[dict[str, Callable[[Plan, Scope, Any], Outcome]]] = {
    "pausable": _on_or_ask,
    "decider": _decided,
    "selector": _selected,
    "each": _each,
}
