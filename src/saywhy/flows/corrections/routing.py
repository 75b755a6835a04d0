"""The routing step between commands and interruptions: do the words correct an earlier answer?

Only asked where the flow that waits takes corrections. What the words mean is `said`'s, what the
correction would lead to `plan`'s; here is decided what becomes of it: it is made, it is offered
with what must be undone for it, or it is refused in words and the question stays open.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from saywhy.chart.commit import Condition, Decision
from saywhy.chart.cursor import Cursor, Frame
from saywhy.chart.model import Node
from saywhy.chart.outcome import Answer, Goto, Need, Outcome, Return
from saywhy.chart.scope import Scope
from saywhy.flows.corrections import said
from saywhy.flows.corrections.chart import CORRECTING
from saywhy.flows.corrections.entries import Entry, effect_tree
from saywhy.flows.corrections.log import owner_of, recorded
from saywhy.flows.corrections.plan import plan
from saywhy.flows.corrections.rewind import Correction
from saywhy.flows.corrections.said import Answered, Said
from saywhy.flows.modelled import ask_model
from saywhy.flows.speech import GAP, deliver, here, language_of, say_phrase
from saywhy.flows.starting import words
from saywhy.flows.world import World
from saywhy.values import UNDEFINED, freeze, raw

NEXT = "interruption"


def may_correct(flow: Cursor) -> bool:
    """Whether the words may be a correction: the flow waits for the user, and takes some."""
    if not flow.frames:
        return False
    top = flow.frames[-1]
    if not (recorded(top) or top.name == CORRECTING):
        return False
    return top.waiting is not None and top.waiting.kind == "user"


def is_agreeing(flow: Cursor) -> bool:
    """Whether the user is asked if what was done may be undone for a correction."""
    return flow.top.name == CORRECTING


class Corrector(msgspec.Struct, frozen=True, eq=False):
    """The routing step, asked and answered."""

    world: World

    def correction(self, node: Node, scope: Scope) -> Outcome:
        """Look for a correction in the words; without one they go on to the flow."""
        flow = _corrected(scope)
        owner = owner_of(flow, flow.top)
        answers = said.answered(scope.charts, flow, owner)
        over = said.given_before(scope.charts, owner)
        if not answers and not over:
            return Goto(NEXT)
        text, language = words(scope), language_of(self.world, scope)
        known = {one.variable: said.spoken(one.names, language) for one in answers}
        known |= {n: said.spoken(names, language) for n, names in over if n not in known}
        chart = scope.charts.find(owner.chart)
        written = chart.meta["corrections"].get("patterns", {}) if chart else {}
        found = said.by_pattern(self.world, text, language, known, written)
        if is_agreeing(scope.cursors[-1]):
            # Of what is being agreed on only the new value may change: the rest is asked again.
            pending = raw(scope.cursors[-1].top.data["correction"])["variable"]
            if found is None or found.variable != pending:
                return Goto(NEXT)
        if found is not None:
            return self._correct(scope, answers, found, "a form of words")
        if self._is_for_model(text, flow.top):
            return self._ask(scope, text, known)
        return Goto(NEXT)

    def after_correction(self, node: Node, scope: Scope, answer: Answer) -> Outcome:
        """What the model says; or the flow rests again, or has ended."""
        if scope.asked is None or scope.asked.kind != "model":
            dispatched = scope.peek(("turn", "dispatched")) is not UNDEFINED
            return Goto("intent") if dispatched else Return()
        words(scope)
        flow = scope.cursors[-1]
        answers = said.answered(scope.charts, flow, owner_of(flow, flow.top))
        found, problem = said.by_model(answer, [one.variable for one in answers])
        if found is None:
            tested = Condition("the model takes it for a correction", False, error=problem)
            scope.decision = Decision("answer", (tested,), default=True)
            return Goto(NEXT)
        return self._correct(scope, answers, found, "the model")

    def _is_for_model(self, text: str, waiting: Frame) -> bool:
        """One word is an answer, and a sensitive answer is nobody's to read."""
        return self.world.has_model and len(text.split()) > 1 and not waiting.data.get("pii")

    def _ask(self, scope: Scope, text: str, known: Mapping[str, list[str]]) -> Need:
        question = scope.cursors[-1].top.data.get("question")
        told = [{"variable": name, "names": ", ".join(names)} for name, names in known.items()]
        asked = question if isinstance(question, str) else ""
        return ask_model(said.TASK, input=text, question=asked, answers=told)

    # ------------------------------------------------------------ what becomes of it

    def _correct(self, scope: Scope, answers: list[Answered], found: Said, how: str) -> Outcome:
        tested = Condition(f"{how} corrects an answer", True, found.variable)
        scope.decision = Decision(found.variable, (tested,))
        target = next((one for one in answers if one.variable == found.variable), None)
        if target is None:
            return self._refuse(scope, "correction_over", "it was given to a flow that is over")
        flow = _corrected(scope)
        message = int(scope.peek(("turn", "message")))
        correction = Correction(target.entry.seq, found.value, message)
        planned = plan(self.world, scope.charts, flow, correction, scope.now)
        scope.calls += planned.calls  # for whoever runs the turn once more
        if planned.refused:
            scope.facts["refused"] = planned.refused
            return self._stay(scope, planned.refused)
        if planned.impossible:
            return self._refuse(scope, "correction_over", planned.impossible)
        stuck = [one.effect.tool for one in planned.effects if one.effect and not one.effect.undo]
        if stuck:
            why = f"{stuck[0]} was called with it, and its step declares no undo"
            return self._refuse(scope, "correction_final", why)
        return self._make(scope, flow, target, found, planned.effects)

    def _refuse(self, scope: Scope, phrase: str, why: str) -> Outcome:
        """Say that it cannot be made, and why for whoever reads the record."""
        scope.facts["refused"] = why
        scope.warn(f"a correction was not made: {why}")
        language = language_of(self.world, scope)
        return self._stay(scope, say_phrase(self.world, scope, phrase, language))

    def _stay(self, scope: Scope, text: str) -> Outcome:
        """Tell the user, and ask the open question once more. Nothing has changed."""
        question = scope.cursors[-1].top.data.get("question")
        pieces = here(scope, text)
        if isinstance(question, str) and question:
            pieces = [*pieces, [GAP, 0], *here(scope, question)]
        deliver(scope, pieces)
        return Return()

    def _make(
        self,
        scope: Scope,
        flow: Cursor,
        target: Answered,
        found: Said,
        effects: tuple[Entry, ...],
    ) -> Outcome:
        """Open the frame that carries it out, above the flow that waits."""
        chart = scope.charts.find(CORRECTING)
        assert chart is not None, "the engine knows the chart of corrections"
        was = target.value
        held: dict[str, Any] = {
            "variable": found.variable,
            "was": None if was is UNDEFINED else raw(was),
            "value": found.value,
            "message": int(scope.peek(("turn", "message"))),
            "seq": target.entry.seq,
            "before": raw(target.entry.data.get("input") or ["", 0]),
            "effects": [
                {**effect_tree(one.effect), "seq": one.seq} for one in effects if one.effect
            ],
        }
        if is_agreeing(scope.cursors[-1]):
            args = {"text": words(scope), "correction": held}
            return Need("flow", "answer", freeze(args), "repeatable")
        data = {"correction": held, "started": scope.now}
        args = {"chart": chart.digest, "scope": flow.top.scope, "data": data, "boundary": True}
        return Need("flow", "start", freeze({**args, "end": False}), "repeatable")


def _corrected(scope: Scope) -> Cursor:
    """The flows, without the frame that asks whether a correction may be carried out."""
    flow = scope.cursors[-1]
    if is_agreeing(flow):
        flow = flow.copy()
        flow.frames.pop()
    return flow
