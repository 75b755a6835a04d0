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
from saywhy.flows import choosing, detection, finding, yielding
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
        text, chat = words(scope), said_before(scope)
        choice = choosing.take(scope)
        if choice is not None:
            number = choosing.picked(choice, text, language_of(self.world, scope))
            if number is not None:
                return self._picked(scope, choice, number)
            chat = choice.chat()
        found = finding.begin(self.world, text, chat)
        if isinstance(found, Need):
            return found
        if found is None:
            return self._found(scope, None)
        scope.decision = named(found.flow, found.how)
        outcome = self._found(scope, found.flow)
        if type(outcome) is Goto and outcome.to == "open":
            return self.open_flow(node, scope)  # in the same step: nothing is left to find out
        return outcome

    def _picked(self, scope: Scope, choice: choosing.Choice, number: int) -> Outcome:
        """The user said which of two flows is meant; it starts with the words that fitted both."""
        option = detection.option_of(self.world, choice.flows[number])
        scope.decision = detection.picked(option.name)
        both = (detection.option_of(self.world, flow) for flow in choice.flows)
        scope.facts["considered"] = [each.name for each in both]
        scope.reads.append(("input", str(choice.message)))
        is_first = number == 0
        asks = bool(option.askable) and (not is_first or detection.is_staged(self.world))
        parameters = choice.parameters if is_first else {}
        said = [choice.text, choice.message]
        return self._found(
            scope, option, parameters, then="parameters" if asks else "language", said=said
        )

    def after_intent(self, node: Node, scope: Scope, answer: Answer) -> Outcome:
        """What the model says; or the flow that was opened at once rests or has ended.

        Raises `ModelFailed` where the model says nothing that can be read.
        """
        if scope.asked is None or scope.asked.kind != "model":
            return self.after_start(node, scope, answer)
        text = words(scope)
        choice = finding.chosen(self.world, answer)
        scope.decision = detection.decision_of(choice)
        scope.facts["considered"] = [option.name for option in self.world.offered]
        _report(scope, detection.problems_of(choice))
        option, other = choice.flow, choice.alternative
        if option is None:
            return self._found(scope, None)
        if other is not None and self._may_ask(scope):
            scope.decision = detection.undecided(option, other)
            flows = (option.id or option.name, other.id or other.name)
            self._dispatched(scope, None)
            choosing.ask(self.world, scope, flows, dict(choice.parameters), text)
            return Return()
        then = "parameters" if finding.asks_parameters(self.world, option) else "language"
        return self._found(scope, option, choice.parameters, then=then)

    def _may_ask(self, scope: Scope) -> bool:
        """Whether to ask which of two flows is meant: not where a flow rests and waits."""
        return self.world.options.clarify and not yielding.resting(scope)

    def parameters(self, node: Node, scope: Scope) -> Outcome:
        """Ask for the parameters of the flow that was found."""
        match = scope.kept("match")
        words(scope)
        option = detection.option_of(self.world, match["flow"])
        text, _ = starting_words(scope, match)
        return finding.ask_parameters(option, text, said_before(scope))

    def after_parameters(self, node: Node, scope: Scope, answer: Answer) -> Outcome:
        """Take the parameters; without an answer the flow starts, and asks for them itself."""
        words(scope)
        match = scope.kept("match")
        option = detection.option_of(self.world, match["flow"])
        choice = finding.parameters(option, answer)
        _report(scope, detection.dropped_text(choice.dropped))
        if choice.parameters:
            scope.keep("match", {**match, "parameters": dict(choice.parameters)})
        return Goto("language")

    def language(self, node: Node, scope: Scope) -> Outcome:
        """Ask in which language the words are, where nobody has said it."""
        if not self.world.detects_language or scope.state.get("session", "language"):
            return Goto("open")
        words(scope)
        return ask_model(detection.LANGUAGE, input=starting_words(scope, scope.kept("match"))[0])

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
        said: list[Any] | None = None,
    ) -> Outcome:
        """Go on with the flow that was found; none: routing is over."""
        self._dispatched(scope, flow.name if flow else None)
        if flow is None:
            scope.decision = scope.decision or Decision("none", default=True)
            return Goto("fallback") if self._may_fall_back(scope) else Return()
        if yielding.is_resting(scope, flow.name):
            return yielding.come_back(self.world, scope)
        match = {"flow": flow.id or flow.name, "parameters": dict(parameters or {})}
        scope.keep("match", {**match, "said": said} if said else match)
        return Goto(then)

    def _may_fall_back(self, scope: Scope) -> bool:
        """Whether an agent takes words that fit no flow: never those meant for one that waits."""
        return bool(self.world.fallback) and not yielding.resting(scope)

    def fall_back(self, node: Node, scope: Scope) -> Outcome:
        """Open the flow that hands the words to an agent."""
        return opened(scope, scope.charts[self.world.fallback], {}, "fallback")

    def _dispatched(self, scope: Scope, name: str | None) -> None:
        """Words that a flow handed on lead to this flow, or to none."""
        dispatched = scope.peek(("turn", "dispatched"))
        if dispatched is not UNDEFINED:
            scope.set(("turn", "dispatch"), {"fromFlow": dispatched, "matchedFlow": name})
            forget(scope, ("turn", "dispatched"), *([OUTCOME] if name is not None else ()))

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
        said = starting_words(scope, match)
        return opened(scope, chart, thaw(match["parameters"]), "user-input", said=said)

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
    said: tuple[str, int] | None = None,
) -> Need:
    """Write the first variables of a flow and ask the driver to open its frame.

    `said` are the words it was started with, where they are not those of this turn.
    """
    target = scope.open()
    set_variables(scope, target, chart, parameters, defaults=True)
    text, message = said or ("" if boundary else words(scope), scope.peek(("turn", "message")))
    spoken = [text.strip(), message] if text.strip() else None
    data = frame_data(scope, initiator, user_input=spoken) | opening(scope, chart, spoken)
    args = {"chart": chart.digest, "scope": target, "data": data, "boundary": boundary}
    return Need("flow", "start", {**args, "end": end}, "repeatable")


def words(scope: Scope) -> str:
    """The user's words of this turn, noted as read."""
    turn = scope.state.scopes["turn"]  # written when the turn began, by an earlier step
    scope.reads.append(("input", str(turn.get("message", UNDEFINED))))
    return turn.get("text", UNDEFINED)


def starting_words(scope: Scope, match: Mapping[str, Any]) -> tuple[str, int]:
    """The words that a flow starts with and the number of their message: those of this turn, unless
    the user was asked what they meant."""
    said = match.get("said")
    if not said:
        return words(scope), scope.peek(("turn", "message"))
    scope.reads.append(("input", str(said[1])))
    return said[0], said[1]


def said_before(scope: Scope) -> Any:
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
