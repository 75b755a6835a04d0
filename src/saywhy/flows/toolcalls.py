"""CALL-TOOL: fill the arguments, ask for the call, store the result. spec: flow-engine 3.4, 6.2"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from saywhy.chart.model import Node
from saywhy.chart.outcome import Answer, Goto, Need, Outcome
from saywhy.chart.scope import Scope
from saywhy.expr.template import fill_paths, parse_template
from saywhy.flows import failures
from saywhy.flows.evaluate import FlowNames
from saywhy.flows.world import World
from saywhy.tools.arguments import generate
from saywhy.tools.tool import Tool
from saywhy.values import FrozenDict, same, thaw


def call(world: World, node: Node, scope: Scope) -> Outcome:
    """Ask the outside for the tool's result. All attempts of one step share one call number."""
    name = str(node.spec.get("tool") or "")
    tool = world.tools.find(name)
    args = _arguments(world, node, scope, tool)
    if not scope.kept("call"):
        scope.keep("call", scope.state.seq + 1)
    return Need("tool", name, args, tool.effect if tool else "once")


def _arguments(world: World, node: Node, scope: Scope, tool: Tool | None) -> Any:
    names = FlowNames(world, scope)
    given = node.spec.get("args")
    if isinstance(given, Mapping) and given:
        filled, reads = fill_paths(given, names)
        scope.reads.extend(key for key in map(names.key, reads) if key is not None)
        return filled
    if tool is None:
        return {}
    variables = thaw(names.merged())
    made = generate(tool, variables, (scope.kept("input") or [""])[0]) or {}
    for name in made:
        key = names.key((name,))
        if key is not None:
            scope.reads.append(key)
    return made


def take_result(world: World, node: Node, scope: Scope, answer: Answer) -> Outcome:
    """Store what the tool gave, or see to its failure."""
    for attempt in answer.facts.get("attempts", ()):
        scope.append(("turn", "calls"), attempt)
    if answer.error is not None:
        return failures.after_fault(world, node, scope, answer)
    variable = node.spec.get("variable")
    if variable:
        scope.set((scope.frame.scope, str(variable)), answer.value)
    _write_back(world, node, scope, answer.facts.get("arguments_after"))
    failures.settle(scope)
    return Goto(node.next)


def _write_back(world: World, node: Node, scope: Scope, after: Any) -> None:
    """What a tool changed in an object it was handed by `{{path}}` stays changed. spec: 4.4 B"""
    asked = scope.asked
    given = node.spec.get("args")
    if not after or asked is None or not isinstance(given, Mapping):
        return
    before = asked.args
    for name, template in given.items():
        changed = after.get(name)
        if changed is None or same(changed, before.get(name)) or not isinstance(template, str):
            continue
        single = parse_template(template).single
        if single is not None:
            _assign(world, scope, single.source.strip(), changed)


def _assign(world: World, scope: Scope, path: str, value: Any) -> None:
    from saywhy.expr.names import read_expression

    reads = read_expression(path).reads
    if len(reads) != 1:
        return
    key = FlowNames(world, scope).key(reads[0])
    if key == ("cargo",) and isinstance(value, Mapping | FrozenDict):
        for name, item in value.items():
            if not same(scope.peek(("cargo", name)), item):
                scope.set(("cargo", name), item)
    elif key is not None and key[0] not in ("globals", "session"):
        scope.set(key, value)
