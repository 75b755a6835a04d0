"""RETURN, END and DISPATCH: three ways to leave. spec: flow-engine 3.8"""

from __future__ import annotations

from typing import Any

from saywhy.chart.model import Node
from saywhy.chart.outcome import Outcome, Return
from saywhy.chart.scope import Scope
from saywhy.expr.numbers import value_text
from saywhy.flows.agents.places import carrier_of
from saywhy.flows.evaluate import native_value
from saywhy.flows.guidance import Pieces
from saywhy.flows.languages import key_of
from saywhy.flows.speech import REPLY, drop_tentative, here, joined, language_of, take_queue
from saywhy.flows.world import World
from saywhy.values import UNDEFINED, FrozenList, freeze


def return_value(world: World, node: Node, scope: Scope) -> Outcome:
    """End every flow; the value in text form is the reply."""
    value: Any = ""
    if "value" in node.spec:
        key = key_of(node.spec, "value", language_of(world, scope))
        value = node.spec[key]
        if key != "value":
            scope.facts["evaluated"] = key  # a record names the expression that was evaluated
    if isinstance(value, str):
        value = native_value(world, scope, value, hide_errors=True)
    carrier = carrier_of(scope)
    if carrier:  # the agent that had the flow run is told, and not the user
        return Return(value, unwind="all", how="returned", down_to=carrier)
    text = reply_text(freeze(value))
    pieces: Pieces = here(scope, text) if text else []
    queued = take_queue(scope)
    drop_tentative(scope)
    if node.spec.get("keepSay"):
        pieces = joined(queued, pieces)
    scope.set(REPLY, pieces)
    return Return(value, unwind="all", how="returned")


def reply_text(value: Any) -> str:
    """What a user sees of a returned value: lists by commas, objects as JSON, nothing for none."""
    if value is None or value is UNDEFINED:
        return ""
    if isinstance(value, FrozenList):
        return ",".join(reply_text(item) for item in value)
    return value_text(value)


def end(world: World, node: Node, scope: Scope) -> Outcome:
    """End this flow only; the caller goes on."""
    return Return()


def dispatch(world: World, node: Node, scope: Scope) -> Outcome:
    """End every flow and hand the user's words back to routing."""
    take_queue(scope)
    drop_tentative(scope)
    if scope.peek(REPLY) is not UNDEFINED:
        scope.delete(REPLY)
    scope.set(("turn", "dispatched"), scope.frame.name)
    return Return(unwind="all", how="dispatched", reason="dispatched")
