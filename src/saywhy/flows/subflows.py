"""FLOW: call another flow, become it, or start over with it. spec: flow-engine 3.5"""

from __future__ import annotations

from typing import Any

from saywhy.chart.model import Chart, Node
from saywhy.chart.outcome import Call, Goto, Outcome, Return
from saywhy.chart.scope import Scope
from saywhy.expr.template import fill_paths
from saywhy.flows.corrections.recording import opening, reopened
from saywhy.flows.evaluate import FlowNames, say_text
from saywhy.flows.frames import frame_data, set_variables
from saywhy.flows.speech import QUEUE, drop_tentative
from saywhy.flows.world import World
from saywhy.values import UNDEFINED, FrozenDict


def call_flow(world: World, node: Node, scope: Scope) -> Outcome:
    """Run the target as the step's `callType` says; an unknown target is skipped with a warning."""
    target = str(node.spec.get("value") or node.spec.get("name") or "")
    if "{{" in target:
        target = say_text(world, scope, target)
    chart = scope.charts.find(target)
    if chart is None or chart.kind != "flow":
        scope.warn(f'{node.where}: no flow has the id or name "{target}"; the step does nothing')
        return Goto(node.next)
    parameters = _parameters(world, node, scope)
    kind = node.spec.get("callType") or "call"
    if kind == "reboot":
        return _reboot(node, scope, chart, parameters)
    if kind == "replace":
        return _replace(node, scope, chart, parameters)
    return _call(node, scope, chart, parameters)


def _parameters(world: World, node: Node, scope: Scope) -> dict[str, Any]:
    given = node.spec.get("parameters")
    if not isinstance(given, dict) or not given:
        return {}
    names = FlowNames(world, scope)
    filled, reads = fill_paths(given, names, fill_keys=True)
    scope.reads.extend(key for key in map(names.key, reads) if key is not None)
    return dict(filled.items()) if isinstance(filled, dict | FrozenDict) else {}


def _call(node: Node, scope: Scope, chart: Chart, parameters: dict[str, Any]) -> Outcome:
    isolated = chart.meta.get("scope") == "isolated"
    again = reopened(scope, node)
    target = again.scope_for(scope) if isolated else scope.frame.scope
    set_variables(scope, target, chart, parameters, defaults=True)
    initiator = "onFail-recovery" if node.spec.get("rescue") else "sub-flow"
    said = scope.kept("input")
    data = frame_data(scope, initiator, user_input=said, parent=scope.kept("tx", ""))
    data |= opening(scope, chart, said, node) | dict(again.data)
    return Call(chart.digest, target, then=node.next, data=data)


def _replace(node: Node, scope: Scope, chart: Chart, parameters: dict[str, Any]) -> Outcome:
    isolated = chart.meta.get("scope") == "isolated"
    target = scope.open() if isolated else scope.frame.scope
    fill = bool(node.spec.get("initializeDefaults"))
    set_variables(
        scope,
        target,
        chart,
        parameters,
        defaults=isolated or fill,
        only_undefined=fill and not isolated,
    )
    initiator = "onFail-recovery" if node.spec.get("rescue") else "replacement"
    data = frame_data(
        scope, initiator, user_input=scope.kept("input"), parent=scope.kept("parent", "")
    )
    data |= opening(scope, chart, scope.kept("input"), node, tail=True)
    return Call(chart.digest, target, tail=True, data=data)


def _reboot(node: Node, scope: Scope, chart: Chart, parameters: dict[str, Any]) -> Outcome:
    target = scope.open()
    set_variables(scope, target, chart, parameters, defaults=True)
    if node.spec.get("discardSay"):
        drop_tentative(scope)
        if scope.peek(QUEUE) is not UNDEFINED:
            scope.delete(QUEUE)
    initiator = "reboot-recovery" if node.spec.get("rescue") else "reboot"
    data = frame_data(scope, initiator, user_input=scope.kept("input"))
    data |= opening(scope, chart, scope.kept("input"))
    return Return(
        unwind="all",
        how="rebooted",
        reason=f"System rebooted to flow {chart.name}",
        then=Call(chart.digest, target, data=data),
    )
