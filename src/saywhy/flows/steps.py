"""The step table: what each kind of step does.

One function a kind, all of one shape: `(world, node, scope) → outcome`, and `resume` with the
answer for those that ask. What surrounds every step (validation before it, retries and `onFail`
after it) is put around them here; see `validation` and `failures`. spec: flow-engine 3
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Final

from saywhy.chart.machine import Language, Step
from saywhy.chart.model import Node
from saywhy.chart.outcome import Answer, Goto, Need, Outcome
from saywhy.chart.scope import Scope
from saywhy.errors import FlowExecutionError, RequiredSetFailed
from saywhy.flows import asking, branching, endings, failures, subflows, toolcalls, validation
from saywhy.flows.agents import step as agents
from saywhy.flows.agents.carried import carried_steps
from saywhy.flows.corrections.around import watched
from saywhy.flows.corrections.chart import correction_steps
from saywhy.flows.evaluate import native_value, say_text
from saywhy.flows.forms import step as forms
from saywhy.flows.forms.record import is_refused
from saywhy.flows.frames import close_flow, declare_outcome
from saywhy.flows.speech import language_of, localized, say_more
from saywhy.flows.world import World

Enter = Callable[[World, Node, Scope], Outcome]
Resume = Callable[[World, Node, Scope, Answer], Outcome]


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of step."""

    enter: Enter
    resume: Resume | None = None


def say(world: World, node: Node, scope: Scope) -> Outcome:
    """Queue a text and go on. spec: flow-engine 3.1"""
    text = say_text(world, scope, localized(node.spec, "value", language_of(world, scope)))
    say_more(world, scope, text)
    return Goto(node.next)


def set_variable(world: World, node: Node, scope: Scope) -> Outcome:
    """Store a value: an expression where it is text, the value itself otherwise. spec: 3.3"""
    variable = node.spec.get("variable")
    if not variable or "value" not in node.spec:
        raise FlowExecutionError("SET step requires both 'variable' and 'value'")
    value = node.spec["value"]
    if isinstance(value, str):
        value = native_value(world, scope, value)
    if node.spec.get("requireTrue") and value is not True:
        raise RequiredSetFailed(f'SET of "{variable}" had to give true')
    scope.set((scope.frame.scope, variable), value)
    return Goto(node.next)


ASKING: Final = frozenset({"SAY-GET", "FORM"})
"""Kinds that check answers themselves, as they come in."""

KINDS: Final[dict[str, Kind]] = {
    "SAY": Kind(say),
    "SAY-GET": Kind(asking.ask, asking.take_answer),
    "SET": Kind(set_variable),
    "CALL-TOOL": Kind(toolcalls.call, toolcalls.take_result),
    "FLOW": Kind(subflows.call_flow),
    "CASE": Kind(branching.case),
    "SWITCH": Kind(branching.switch),
    "RETURN": Kind(endings.return_value),
    "FORM": Kind(forms.enter, forms.take),
    "AGENT": Kind(agents.call_agent, agents.take_answer),
    "END": Kind(endings.end),
    "DISPATCH": Kind(endings.dispatch),
}


def flow_language(world: World) -> Language:
    """What flow charts do, for `machine.advance`."""
    steps = {name: _step(world, kind) for name, kind in KINDS.items()}
    steps |= correction_steps(world)
    steps |= carried_steps(world)
    return Language(steps, {"flow": partial(close_flow, world)})


def _step(world: World, kind: Kind) -> Step:
    own_enter, own_resume = kind.enter, kind.resume

    def enter(node: Node, scope: Scope) -> Outcome:
        if "inputValidation" in node.spec and node.kind not in ASKING and not scope.kept("outside"):
            instead = validation.before(world, node, scope)
            if instead is not None:
                return instead
        return _settled(world, node, scope, own_enter(world, node, scope))

    def resume(node: Node, scope: Scope, answer: Answer) -> Outcome:
        asked = scope.asked
        if asked is not None:
            if asked.kind == "timer":  # the pause before another try is over
                return enter(node, scope)
            corrects = asked.name == validation.CORRECTION and asked.kind == "user"
            if corrects and node.kind not in ASKING:
                validation.take_correction(scope, answer)
                return enter(node, scope)
        if own_resume is None:
            return enter(node, scope)
        return _settled(world, node, scope, own_resume(world, node, scope, answer))

    return watched(world, Step(enter, resume, partial(failures.after_error, world)))


def _settled(world: World, node: Node, scope: Scope, outcome: Outcome) -> Outcome:
    """A step that has run counts from nothing next time, and its `outcome` is remembered.

    spec: flow-engine 3.10, 8.3
    """
    if type(outcome) is Need:
        return outcome
    failures.settle(scope)
    declared = node.spec.get("outcome")
    if declared and "failure" not in scope.facts and not is_refused(scope):
        text = say_text(world, scope, str(declared))
        if text.strip():
            reason = say_text(world, scope, str(node.spec.get("reason") or ""))
            declare_outcome(scope, text, reason)
    return outcome
