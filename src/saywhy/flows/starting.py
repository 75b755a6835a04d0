"""The routing steps that find the flow which words start, and open it.

A name or id is found at once; beyond that a model is asked where there is one, else a part of a
name will do. What is found is opened with the parameters that the words gave.
spec: flow-engine 5.1-5.4, 3.8
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from saywhy.chart.commit import Condition, Decision
from saywhy.chart.model import Chart, Node
from saywhy.chart.outcome import Answer, Goto, Need, Outcome, Return
from saywhy.chart.scope import Scope
from saywhy.flows import detection, intent, yielding
from saywhy.flows.corrections.recording import opening
from saywhy.flows.frames import OUTCOME, frame_data, set_variables
from saywhy.flows.model import Flow
from saywhy.flows.modelled import ask_model, text_of
from saywhy.flows.speech import REPLY, TENTATIVE, language_of, prompt_for
from saywhy.flows.world import World
from saywhy.values import UNDEFINED, Key, thaw


class Starter(msgspec.Struct, frozen=True, eq=False):
    """The steps from the words to an open flow."""

    world: World

    def intent(self, node: Node, scope: Scope) -> Outcome:
        """Find the flow that the words start; none: the host answers."""
        text = words(scope)
        if not text.strip():
            return self._found(scope, None)
        order = self.world.order
        match = intent.exact(text, order)
        if match is None and self.world.has_model:
            return ask_model(detection.DETECT, input=text, conversation=chat(scope))
        if match is None:
            match = intent.partial(text, order, guard=self.world.options.partial_match)
        if match is None:
            return self._found(scope, None)
        scope.decision = named(match.flow, match.how)
        return self._found(scope, match.flow)

    def after_intent(self, node: Node, scope: Scope, answer: Answer) -> Outcome:
        """What the model says. Raises `ModelFailed` where it says nothing that can be read."""
        words(scope)
        choice = detection.flow_choice(self.world, text_of(answer))
        scope.decision = detection.decision_of(choice)
        scope.facts["considered"] = [option.name for option in self.world.offered]
        _report(scope, detection.problems_of(choice))
        option = choice.flow
        if option is None:
            return self._found(scope, None)
        is_next = detection.is_staged(self.world) and option.askable
        then = "parameters" if is_next else "language"
        flow = self.world.charts.find(option.id or option.name)
        assert flow is not None, "only flows of this engine are on offer"
        return self._found(scope, option, choice.parameters, then=then)

    def parameters(self, node: Node, scope: Scope) -> Outcome:
        """Ask for the parameters of the flow that was found."""
        flow = scope.kept("match")["flow"]
        return ask_model(detection.EXTRACT, flow=flow, input=words(scope), conversation=chat(scope))

    def after_parameters(self, node: Node, scope: Scope, answer: Answer) -> Outcome:
        """Take the parameters; without an answer the flow starts, and asks for them itself."""
        words(scope)
        match = scope.kept("match")
        if answer.error is None:
            option = detection.option_of(self.world, match["flow"])
            choice = detection.parameter_choice(option, text_of(answer))
            _report(scope, detection.dropped_text(choice.dropped))
            scope.keep("match", {**match, "parameters": dict(choice.parameters)})
        return Goto("language")

    def language(self, node: Node, scope: Scope) -> Outcome:
        """Ask in which language the words are, where nobody has said it."""
        if not self.world.detects_language or scope.state.get("session", "language"):
            return Goto("open")
        return ask_model(detection.LANGUAGE, input=words(scope))

    def after_language(self, node: Node, scope: Scope, answer: Answer) -> Outcome:
        """Take the language; without an answer it stays open."""
        words(scope)
        code = "" if answer.error is not None else detection.language_code(text_of(answer))
        if code:
            scope.set(("session", "language"), code)
        return Goto("open")

    def _found(
        self,
        scope: Scope,
        flow: Flow | detection.FlowOption | None,
        parameters: Mapping[str, Any] | None = None,
        *,
        then: str = "open",
    ) -> Outcome:
        """Go on with the flow that was found; none: routing is over."""
        dispatched = scope.peek(("turn", "dispatched"))
        if dispatched is not UNDEFINED:
            name = flow.name if flow else None
            scope.set(("turn", "dispatch"), {"fromFlow": dispatched, "matchedFlow": name})
            forget(scope, ("turn", "dispatched"), *([OUTCOME] if flow else ()))
        if flow is None:
            scope.decision = scope.decision or Decision("none", default=True)
            return Return()
        if yielding.is_resting(scope, flow.name):
            return yielding.come_back(self.world, scope)
        scope.keep("match", {"flow": flow.id or flow.name, "parameters": dict(parameters or {})})
        return Goto(then)

    # -------------------------------------------------------- opening

    def open_flow(self, node: Node, scope: Scope) -> Outcome:
        """Open the flow that was found, with the placeholder it shows if it says nothing."""
        match = scope.kept("match")
        chart = scope.charts.find(match["flow"])
        assert chart is not None, "routing only finds flows of this engine"
        if yielding.resting(scope):
            yielding.say_left(self.world, scope, chart)
            parameters = thaw(match["parameters"])
            return opened(scope, chart, parameters, "intent-switch", boundary=True)
        language = language_of(self.world, scope)
        text = self.world.phrases.say("flow_init", language, flowPrompt=prompt_for(chart, language))
        scope.set(TENTATIVE, text)
        return opened(scope, chart, thaw(match["parameters"]), "user-input")

    def after_start(self, node: Node, scope: Scope, answer: Answer) -> Outcome:
        """A started flow that dispatches at once is not routed again. spec: flow-engine 3.8"""
        again = scope.peek(("turn", "dispatched"))
        if again is UNDEFINED:
            return Return()
        if scope.peek(("turn", "dispatch")) is UNDEFINED:
            return Goto("intent")
        forget(scope, ("turn", "dispatched"), REPLY)
        scope.facts["error"] = f"{again} reached DISPATCH before any SAY-GET: not routed again"
        scope.warn(scope.facts["error"])
        return Return()


def opened(
    scope: Scope,
    chart: Chart,
    parameters: Mapping[str, Any],
    initiator: str,
    *,
    boundary: bool = False,
    end: bool = False,
) -> Need:
    """Write the first variables of a flow and ask the driver to open its frame."""
    target = scope.open()
    set_variables(scope, target, chart, parameters, defaults=True)
    text = "" if boundary else words(scope).strip()
    message = scope.peek(("turn", "message"))
    said = [text, message] if text else None
    data = frame_data(scope, initiator, user_input=said) | opening(scope, chart, said)
    args = {"chart": chart.digest, "scope": target, "data": data, "boundary": boundary}
    return Need("flow", "start", {**args, "end": end}, "repeatable")


def words(scope: Scope) -> str:
    """The user's words of this turn, noted as read."""
    scope.reads.append(("input", str(scope.peek(("turn", "message")))))
    return scope.peek(("turn", "text"))


def chat(scope: Scope) -> Any:
    """What was said last that no flow handled, as a model is told of it."""
    return scope.kept("received").get("chat") or []


def named(flow: Flow, how: str) -> Decision:
    """The decision for a flow whose name was said."""
    tested = Condition(f"{how} match of a name or id", True, flow.name, error="")
    return Decision(flow.name, (tested,))


def forget(scope: Scope, *keys: Key) -> None:
    """Delete what is there of these keys."""
    for key in keys:
        if scope.peek(key) is not UNDEFINED:
            scope.delete(key)


def _report(scope: Scope, problems: list[str]) -> None:
    for problem in problems:
        scope.warn(problem)
