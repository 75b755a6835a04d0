"""The frame that carries a correction out: ask about effects, undo them, go back.

It stands on top of the flow that waits, for as long as there is something to ask or to call. Each
undo is a call like any other, with its journal, its limits, its retries; a crash between the undo
and the step that runs again resumes where it was. What is corrected was settled by `plan`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from saywhy.chart.machine import Step
from saywhy.chart.model import Chart, Node
from saywhy.chart.outcome import Answer, Goto, Need, Outcome, Return, Rewind
from saywhy.chart.scope import Scope
from saywhy.flows import toolcalls
from saywhy.flows.answers import withdraw_keypad
from saywhy.flows.corrections.consent import wants_it
from saywhy.flows.corrections.entries import Effect, effect_of
from saywhy.flows.corrections.log import key_of
from saywhy.flows.corrections.recording import CORRECTED
from saywhy.flows.corrections.rewind import Correction, Rewound, rewound
from saywhy.flows.private import note_private
from saywhy.flows.speech import (
    GAP,
    deliver,
    here,
    joined,
    language_of,
    queue_text,
    say_phrase,
    take_queue,
)
from saywhy.flows.world import World
from saywhy.values import raw, seal

CORRECTING: Final = "(correction)"
CONSENT: Final = "correction:consent"
UNDO: Final = "correction:undo"
APPLY: Final = "correction:apply"

NODES: Final = (
    (CONSENT, UNDO, "may what was done be undone and done again?"),
    (UNDO, APPLY, "undo what was done, the newest first"),
    (APPLY, None, "go back to the step that asked"),
)


def correction_chart() -> Chart:
    """The chart of the frame that carries a correction out."""
    nodes = [Node(kind, kind, then, describe=text) for kind, then, text in NODES]
    return Chart.of(CORRECTING, nodes, kind="correction")


def correction_steps(world: World) -> dict[str, Step]:
    """What the nodes of that chart do."""
    steps = Steps(world)
    return {
        CONSENT: Step(steps.consent, steps.after_consent),
        UNDO: Step(steps.undo, steps.after_undo),
        APPLY: Step(steps.apply),
    }


class Steps(msgspec.Struct, frozen=True, eq=False):
    """The steps of a correction. The frame keeps it as `correction`, with the effects to undo."""

    world: World

    # ------------------------------------------------------------ asking

    def consent(self, node: Node, scope: Scope) -> Outcome:
        """Ask whether what was done may be undone; nothing to undo, nothing to ask."""
        effects = _effects(scope)
        if not effects:
            return Goto(APPLY)
        language = language_of(self.world, scope)
        own = [effect.text for effect in effects if effect.text]
        rest = [effect.tool for effect in effects if not effect.text]
        if rest:
            named = ", ".join(dict.fromkeys(rest))
            own.append(self.world.phrases.say("correction_undo", language, toolName=named))
        text = GAP.join(own)
        deliver(scope, joined(take_queue(scope), here(scope, text)))
        scope.keep("question", text)
        return Need("user", "correction")

    def after_consent(self, node: Node, scope: Scope, answer: Answer) -> Outcome:
        """Yes: undo. No: everything stays as it was. Anything else: ask again."""
        message = answer.facts.get("message", 0)
        scope.reads.append(("input", str(message)))
        if "correction" in answer.facts:  # another value for the same answer: that is asked about
            scope.keep("correction", answer.facts["correction"])
            scope.keep("question", None)
            return self.consent(node, scope)
        agreed = wants_it(str(answer.value or ""), language_of(self.world, scope))
        scope.facts["agreed"] = agreed
        if agreed is None:
            return self.consent(node, scope)
        scope.keep("question", None)
        if agreed:
            return Goto(UNDO)
        self._tell(scope, "correction_declined")
        return Return(how="declined")

    # ------------------------------------------------------------ undoing

    def undo(self, node: Node, scope: Scope) -> Outcome:
        """Call the tool that undoes the newest effect that stands. All attempts are one call."""
        effect = _next(scope)
        if effect is None:
            return Goto(APPLY)
        if scope.kept("outside"):
            return self._settled(
                node, scope, toolcalls.call(self.world, _call(node, effect), scope)
            )
        tool = self.world.tools.find(effect.undo)
        note_private(scope, tool, effect.args)
        if not scope.kept("call"):
            scope.keep("call", scope.state.seq + 1)
        return Need("tool", effect.undo, seal(effect.args), tool.effect if tool else "reads")

    def after_undo(self, node: Node, scope: Scope, answer: Answer) -> Outcome:
        """It is undone: the next one. It is not: the correction is not made."""
        if scope.asked is not None and scope.asked.kind == "timer":
            return self.undo(node, scope)
        effect = _next(scope)
        assert effect is not None, "what is undone stands in the frame"
        # What an undo changes in its arguments is nobody's variable.
        facts = {name: fact for name, fact in answer.facts.items() if name != "arguments_after"}
        given = msgspec.structs.replace(answer, facts=facts)
        outcome = toolcalls.take_result(self.world, _call(node, effect), scope, given)
        return self._settled(node, scope, outcome)

    def _settled(self, node: Node, scope: Scope, outcome: Outcome) -> Outcome:
        if isinstance(outcome, Need):
            return outcome
        held = dict(raw(scope.kept("correction")))
        if isinstance(outcome, Goto):
            newest = held["effects"][-1]
            held["effects"] = held["effects"][:-1]
            held["undone"] = [*held.get("undone", ()), newest["seq"]]
            scope.facts["undone"] = newest["seq"]
            scope.keep("correction", held)
            return Goto(UNDO)
        # Said by the step's own words already. What was undone before is done again as it was.
        self._tell(scope, "correction_not_undone")
        if not held.get("undone"):
            return Return(how="failed")
        held |= {"effects": [], "given_up": True}
        scope.keep("correction", held)
        return Goto(APPLY)

    # ------------------------------------------------------------ going back

    def apply(self, node: Node, scope: Scope) -> Outcome:
        """Put the variables back and go on at the step that asked, with the other answer."""
        held = raw(scope.kept("correction"))
        place = scope.cursor.frames.index(scope.frame)
        undone = tuple(held.get("undone", ()))
        value, message = held["value"], held["message"]
        if held.get("given_up"):
            value, message = held["before"]
        correction = Correction(held["seq"], value, message, undone)
        found = rewound(scope.cursor, scope.cursor.frames[place - 1], correction)
        scope.facts["correction"] = {
            name: held[name] for name in ("variable", "was", "value", "message", "seq")
        } | {"undone": list(undone)}
        scope.reads.append(("input", str(held["message"])))
        withdraw_keypad(scope)
        restore(scope, found)
        return Rewind(found.frame.id, found.to, CORRECTED, found.data)

    def _tell(self, scope: Scope, phrase: str) -> None:
        queue_text(
            self.world,
            scope,
            say_phrase(self.world, scope, phrase, language_of(self.world, scope)),
        )


def restore(scope: Scope, found: Rewound) -> None:
    """Write what a rewinding gives back, as part of a step."""
    for write in found.restored:
        if write.gone:
            if scope.has(*write.root):
                scope.delete(write.root)
        else:
            scope.set(write.root, write.value)
    scope.replace(key_of(found.owner), found.log, [])


def _effects(scope: Scope) -> list[Effect]:
    held: Mapping[str, Any] = raw(scope.kept("correction"))
    return [effect_of(tree) for tree in held["effects"]]


def _next(scope: Scope) -> Effect | None:
    effects = _effects(scope)
    return effects[-1] if effects else None


def _call(node: Node, effect: Effect) -> Node:
    """The step that an undo is, to those who see to tools that fail."""
    return msgspec.structs.replace(node, kind="CALL-TOOL", spec={"tool": effect.undo}, next=UNDO)


__all__ = [
    "APPLY",
    "CONSENT",
    "CORRECTING",
    "UNDO",
    "correction_chart",
    "correction_steps",
    "restore",
]
