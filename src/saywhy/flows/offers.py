"""An interruption that is offered and not made: "switch" goes there, "continue" stays here.

The offer waits in the session until the user answers it or says something else. Whether to make
one is left to `turn`, what the words are to `commands`. spec: flow-engine 5.7
"""

from __future__ import annotations

from typing import Final

import msgspec

from saywhy.chart.cursor import Frame
from saywhy.chart.model import Chart
from saywhy.chart.scope import Scope
from saywhy.flows.speech import GAP, deliver, here, language_of, prompt_for, prompt_of, say_phrase
from saywhy.flows.world import World

OFFER: Final[tuple[str, str]] = ("session", "pendingInterruption")


class Offer(msgspec.Struct, frozen=True):
    """Another flow that the user may go to instead of answering."""

    flow: str
    """Id of the flow that is offered."""
    targetFlow: str  # noqa: N815 - named as the sentences and the hosts of flows name it
    """What users are shown as its name."""
    currentFlow: str  # noqa: N815
    """What users are shown as the name of the flow they are in."""

    @property
    def named(self) -> dict[str, str]:
        """The values that sentences about the offer are filled with."""
        return {"targetFlow": self.targetFlow, "currentFlow": self.currentFlow}


def offer(world: World, scope: Scope, target: Chart, root: Frame) -> None:
    """Ask the user whether to leave the flow at `root` for `target`; the question stays open."""
    language = language_of(world, scope)
    here_now = prompt_of(scope.charts, root.chart, language) or root.name
    made = Offer(target.id, prompt_for(target, language), here_now)
    scope.set(OFFER, msgspec.to_builtins(made))
    deliver(
        scope, here(scope, say_phrase(world, scope, "flow_switch_offer", language, **made.named))
    )


def pending(scope: Scope) -> Offer | None:
    """The offer that waits for an answer; None without one, or when its flow is gone."""
    if not scope.has(*OFFER):
        return None
    made = msgspec.convert(dict(scope.read(OFFER)), Offer)
    return made if scope.charts.find(made.flow) is not None else None


def withdraw(scope: Scope) -> None:
    """The offer no longer stands: it was answered, or something else was said."""
    if scope.has(*OFFER):
        scope.delete(OFFER)


def go_on(world: World, scope: Scope, declined: Offer, top: Frame) -> None:
    """The user stays: say so, and ask the open question again."""
    said = say_phrase(
        world,
        scope,
        "cmd_interruption_continue",
        language_of(world, scope),
        flowName=declined.currentFlow,
        **declined.named,
    )
    question = top.data.get("question")
    deliver(scope, here(scope, f"{said}{GAP}{question}" if question else said))
