"""What an agent in a conversation has done for it: calls of tools, and flows.

Each is a small chart that the agent's loop runs in place of a function. A call goes the way of a
CALL-TOOL step, so that it is journaled, approved, found out about and settled like any other; a
flow runs as it does anywhere, and may ask the user. What they come to is a plain value, which the
runtime turns into what a model reads.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final

from saywhy.chart.failure import StepFailed, failure_text
from saywhy.chart.language import Step
from saywhy.chart.model import Chart, Node
from saywhy.chart.outcome import Answer, Call, Fail, Outcome, Return
from saywhy.chart.scope import Scope
from saywhy.flows import decisions, toolcalls
from saywhy.flows.agents.places import KIND
from saywhy.flows.corrections.recording import opening
from saywhy.flows.frames import OUTCOME, TRANSACTIONS, frame_data, set_variables
from saywhy.flows.toolargs import MODELLED
from saywhy.flows.world import World
from saywhy.values import UNDEFINED, FrozenDict, FrozenList, freeze, thaw

CALL: Final = "carried:call"
DONE: Final = "carried:done"
FAILED: Final = "carried:failed"
FLOW: Final = "carried:flow"

ARGUMENTS: Final = "arguments"
"""The argument of these charts that holds those of the call."""
VALUE: Final = "value"


def tool_chart(tool: str) -> Chart:
    """The chart that makes one call of a tool."""
    spec = {"tool": tool, "variable": VALUE, "onFail": "failed", "maxRetries": 0, "rests": True}
    nodes = [
        Node("call", CALL, "done", spec=spec, edges=(("failed", "on failure"),)),
        Node("done", DONE, None),
        Node("failed", FAILED, None),
    ]
    return Chart.of(f"(tool) {tool}", nodes, kind=KIND)


def flow_chart(flow: str, returns: Sequence[str] = ()) -> Chart:
    """The chart that runs a flow, and gives its variables `returns`."""
    spec = {"flow": flow, "returns": list(returns)}
    name = f"(flow) {flow}" + (f" → {', '.join(returns)}" if returns else "")
    return Chart.of(name, [Node("run", FLOW, None, spec=spec)], kind=KIND)


def carried_steps(world: World) -> dict[str, Step]:
    """What the nodes of these charts do."""
    return {
        CALL: Step(partial(_call, world), partial(_called, world)),
        DONE: Step(_done),
        FAILED: Step(_failed),
        FLOW: Step(partial(_run, world), partial(_ran, world), _flow_failed),
    }


# ------------------------------------------------------------------ calls


def _call(world: World, node: Node, scope: Scope) -> Outcome:
    """Ask for the call, or go on waiting for what a person decides about it."""
    if scope.kept("outside"):
        return decisions.take_up(world, node, scope)
    args = _arguments(scope)
    name = str(node.spec["tool"])
    scope.keep(MODELLED, {"args": args, "names": list(args)})
    scope.keep("tx", _transaction(scope))
    return toolcalls.asked(world, scope, name, world.tools.find(name), args)


def _called(world: World, node: Node, scope: Scope, answer: Answer) -> Outcome:
    """Take what the call came to, or what somebody decided about it."""
    if answer.facts.get("isResult"):
        scope.keep("isResult", True)
    code = answer.facts.get("code")
    if code:
        scope.keep("code", code)
    return toolcalls.take_result(world, node, scope, answer)


def _done(node: Node, scope: Scope) -> Outcome:
    value = scope.read((scope.frame.scope, VALUE))
    told = {VALUE: None if value is UNDEFINED else value}
    return Return(freeze({**told, "isResult": True} if scope.kept("isResult") else told))


def _failed(node: Node, scope: Scope) -> Outcome:
    told = {"error": scope.read((scope.frame.scope, VALUE))}
    code = scope.kept("code")
    return Return(freeze({**told, "code": code} if code else told))


# ------------------------------------------------------------------ flows


def _run(world: World, node: Node, scope: Scope) -> Outcome:
    """Run the flow on variables of its own, with the call's arguments as parameters."""
    chart = scope.charts.find(str(node.spec["flow"]))
    if chart is None or chart.kind != "flow":
        return Return(freeze({"error": f"there is no flow {node.spec['flow']}"}))
    target = scope.open()
    set_variables(scope, target, chart, thaw(_arguments(scope)), defaults=True)
    data = frame_data(scope, "agent") | opening(scope, chart, None)
    scope.keep("inner", target)
    scope.keep("flow", chart.name)
    return Call(chart.digest, target, awaits=True, data=data)


def _ran(world: World, node: Node, scope: Scope, answer: Answer) -> Outcome:
    """How the flow ended, what it returned, and the variables that are wanted of it."""
    inner = str(scope.kept("inner"))
    told = _ending(scope, str(scope.kept("flow")))
    if answer.value is not UNDEFINED and answer.value is not None:
        told["returned"] = answer.value
    held = {name: scope.read((inner, name)) for name in node.spec.get("returns", ())}
    found = {name: value for name, value in held.items() if value is not UNDEFINED}
    if found:
        told["variables"] = found
    return Return(freeze({VALUE: told}))


def _ending(scope: Scope, flow: str) -> dict[str, Any]:
    """How the flow ended, from its transaction and the outcome it declared."""
    told: dict[str, Any] = {"status": "completed"}
    closed = scope.peek(TRANSACTIONS)
    record = closed[-1] if isinstance(closed, FrozenList) and len(closed) else FrozenDict({})
    if record.get("flowName") == flow and record.get("state") == "failed":
        told = {"status": "failed", "reason": record.get("failureReason", "")}
    outcome = scope.peek(OUTCOME)
    if isinstance(outcome, FrozenDict) and outcome.get("flowName") == flow:
        told |= {name: outcome[name] for name in ("outcome", "reason") if outcome.get(name)}
    return told


def _flow_failed(node: Node, scope: Scope, error: Exception) -> Outcome:
    """A flow that failed is an error that the model is told of, not the end of its run."""
    if not isinstance(error, StepFailed):
        return Fail(error)
    cause: Exception = error
    while isinstance(cause, StepFailed):
        cause = cause.error
    scope.facts = {**scope.facts, "failure": failure_text(cause)}
    return Return(freeze({"error": failure_text(cause)}))


def _transaction(scope: Scope) -> Any:
    """The transaction of the flow that the agent works for."""
    named = (frame.data.get("tx") for frame in reversed(scope.cursor.frames))
    return next((tx for tx in named if tx), "")


def _arguments(scope: Scope) -> Mapping[str, Any]:
    found = scope.read((str(scope.frame.data.get("args", "")), ARGUMENTS))
    return found if isinstance(found, FrozenDict) else FrozenDict({})


__all__ = ["ARGUMENTS", "KIND", "carried_steps", "flow_chart", "tool_chart"]
