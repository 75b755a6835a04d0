"""What is put around every step of a flow: in one that takes corrections, it leaves an entry.

For other flows this is one look at the frame. A step that may be taken over from the run before a
correction is not run at all.
"""

from __future__ import annotations

from saywhy.chart.machine import Step
from saywhy.chart.model import Node
from saywhy.chart.outcome import Answer, Fail, Outcome
from saywhy.chart.scope import Scope
from saywhy.flows.corrections import recording, replay
from saywhy.flows.corrections.log import RECORD
from saywhy.flows.world import World


def watched(world: World, step: Step) -> Step:
    """The step, with what it does put on record where its flow takes corrections."""
    # Closures and no `partial`: every step of every flow comes by here.
    enter, resume, failed = step.enter, step.resume, step.failed

    def entered(node: Node, scope: Scope) -> Outcome:
        if RECORD in scope.frame.data:
            return _enter(world, step, node, scope)
        return enter(node, scope)

    def resumed(node: Node, scope: Scope, answer: Answer) -> Outcome:
        outcome = resume(node, scope, answer)
        if RECORD in scope.frame.data:
            recording.record(world, node, scope, outcome, answer)
        return outcome

    def after_error(node: Node, scope: Scope, error: Exception) -> Outcome:
        outcome = failed(node, scope, error)
        if RECORD in scope.frame.data and not isinstance(outcome, Fail):
            recording.record(world, node, scope, outcome, None)
        return outcome

    return Step(entered, resumed, after_error, step.keeps_partial)


def _enter(world: World, step: Step, node: Node, scope: Scope) -> Outcome:
    taken = replay.take_up(world, node, scope)
    if taken is not None and "kept" in scope.facts:
        return taken
    outcome = taken if taken is not None else step.enter(node, scope)
    recording.record(world, node, scope, outcome, None)
    return outcome
