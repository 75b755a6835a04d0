"""AGENT: hand words to an agent, and say or keep what it answers."""

from __future__ import annotations

from typing import Any, Final

from saywhy.chart.model import Node
from saywhy.chart.outcome import Answer, Call, Goto, Outcome
from saywhy.chart.scope import Scope
from saywhy.errors import FlowExecutionError, did_you_mean
from saywhy.expr.numbers import value_text
from saywhy.flows.agents import kept
from saywhy.flows.answers import note_words
from saywhy.flows.evaluate import say_text
from saywhy.flows.overview import prompt_of
from saywhy.flows.speech import drop_tentative, language_of, localized, say_more
from saywhy.flows.world import World
from saywhy.values import UNDEFINED

RESULT: Final = "result"
"""The variable of a run that holds its answer."""


def call_agent(world: World, node: Node, scope: Scope) -> Outcome:
    """Run the agent on the words of the step, or on those of the user."""
    name = str(node.spec.get("agent") or "")
    chart = world.agents.get(name)
    if chart is None:
        known = ", ".join(world.agents) or "none: hand them to the engine as agents=…"
        hint = did_you_mean(name, list(world.agents)) or f"agents of this engine: {known}"
        raise FlowExecutionError(f'AGENT step: there is no agent "{name}"', hint=hint)
    told = {"message": _message(world, node, scope), **kept.given(scope, name)}
    over = kept.scope_of(name) if _remembers(node) else ""
    args = scope.open(told, over=over)
    inner = scope.open(over=args)
    scope.keep("agent", inner)
    scope.facts = {**scope.facts, "agent": name}
    return Call(chart, inner, awaits=True, data={"args": args})


def take_answer(world: World, node: Node, scope: Scope, answer: Answer) -> Outcome:
    """Say the agent's answer, or put it into the step's variable; both where both are wanted."""
    name, inner = str(node.spec["agent"]), str(scope.kept("agent"))
    found = scope.read((inner, RESULT))
    text = "" if found is UNDEFINED else value_text(found)
    stop = scope.peek((inner, "stopReason"))
    scope.facts = {**scope.facts, "agent": name, "stopReason": "" if stop is UNDEFINED else stop}
    if _remembers(node):
        kept.take(scope, name, inner)
    scope.keep("agent", None)
    variable = node.spec.get("variable")
    if variable:
        scope.set((scope.frame.scope, str(variable)), text)
    if node.spec.get("say", not variable) and text:
        drop_tentative(scope)
        say_more(world, scope, text)
    return Goto(node.next)


def _message(world: World, node: Node, scope: Scope) -> str:
    if "value" in node.spec:
        return say_text(world, scope, localized(node.spec, "value", language_of(world, scope)))
    said: Any = scope.kept("input")
    if said and str(said[0]).strip():
        note_words(scope)
        return str(said[0])
    # A flow that the host started without words: it is what the user wants. No model takes nothing.
    return prompt_of(scope.charts, scope.frame.chart, language_of(world, scope))


def _remembers(node: Node) -> bool:
    """Whether the agent knows what was said before in this conversation."""
    return node.spec.get("history", "conversation") == "conversation"


__all__ = ["call_agent", "take_answer"]
