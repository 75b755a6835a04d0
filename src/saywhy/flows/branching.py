"""CASE and SWITCH: which branch runs, with the evidence. spec: flow-engine 3.6, 3.7"""

from __future__ import annotations

from typing import Any

from saywhy.chart.commit import Condition, Decision
from saywhy.chart.model import Node
from saywhy.chart.outcome import Goto, Outcome
from saywhy.chart.scope import Scope
from saywhy.errors import FlowExecutionError
from saywhy.expr.numbers import value_text
from saywhy.flows.evaluate import FlowNames, condition
from saywhy.flows.speech import language_of, say_phrase
from saywhy.flows.world import World
from saywhy.values import UNDEFINED, Key, get_path


def case(world: World, node: Node, scope: Scope) -> Outcome:
    """The first branch whose condition holds, else `default`."""
    tested: list[Condition] = []
    default: str | None = None
    for key, target in node.spec.get("branches", ()):
        if key == "default":
            default = target
        elif key.startswith("condition:"):
            found = _test(world, scope, key)
            tested.append(found)
            if found.result:
                scope.decision = Decision(key, tuple(tested))
                return Goto(target)
    if default is None:
        raise FlowExecutionError(
            "CASE step: no conditions matched and no default branch provided",
            hint="add a `default` branch",
        )
    scope.decision = Decision("default", tuple(tested), default=True)
    return Goto(default)


def _test(world: World, scope: Scope, key: str) -> Condition:
    text = key.removeprefix("condition:").strip()
    before = len(scope.reads)
    holds, error = condition(world, scope, text)
    read = tuple(_evidence(world, scope, key) for key in dict.fromkeys(scope.reads[before:]))
    return Condition(text, holds, key, read, error)


def _evidence(world: World, scope: Scope, key: Key) -> tuple[Key, Any]:
    if key[0] == "globals":
        return key, get_path(world.globals, key[1:])
    if key[0] == "input":
        return key, (scope.kept("input") or [""])[0]
    return key, scope.peek(key)


def switch(world: World, node: Node, scope: Scope) -> Outcome:
    """The branch named like the variable's value in text form, else `default`."""
    variable = str(node.spec.get("variable") or "")
    key, value = _variable(world, scope, variable)
    branches: dict[str, str] = dict(node.spec.get("branches", ()))
    wanted = "" if value is UNDEFINED else value_text(value)
    chosen = wanted if value is not UNDEFINED and wanted in branches else "default"
    tested = tuple(
        Condition(f"{variable} is {name}", name == chosen, name, ((key, value),))
        for name in branches
        if name != "default"
    )
    if chosen not in branches:
        language = language_of(world, scope)
        text = say_phrase(world, scope, "switch_no_branch_found", language, variable=variable)
        raise FlowExecutionError(
            text.replace("{{value}}", value_text(value)), hint="add a `default` branch"
        )
    scope.decision = Decision(chosen, tested, default=chosen == "default")
    return Goto(branches[chosen])


def _variable(world: World, scope: Scope, name: str) -> tuple[Key, Any]:
    """A variable of the flow, else what its expressions know under the name; noted as read."""
    key: Key | None = (scope.frame.scope, name)
    if scope.has(scope.frame.scope, name):
        return key, scope.read(key)
    names = FlowNames(world, scope)
    key = names.key((name,)) or key
    scope.reads.append(key)
    return key, names.get((name,))
