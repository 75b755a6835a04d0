"""The commit of a step, made from what its scope has noted.

One step gives one commit; a frame that ends may leave a closing one. Redaction and keeping are the
trace's.
"""

from __future__ import annotations

from saywhy.chart.commit import Answered, Asked, Commit
from saywhy.chart.failure import failure_name, failure_text
from saywhy.chart.outcome import Answer, Call, Fail, Goto, Need, Outcome
from saywhy.chart.scope import Scope


def step_commit(
    scope: Scope, depth: int, outcome: Outcome, asked: Need | None, answer: Answer | None
) -> Commit:
    """The record of the step that `scope` was for; it takes the next number."""
    state, frame, chart, node = scope.state, scope.frame, scope.chart, scope.node
    state.seq += 1
    reads = scope.reads
    need = outcome if type(outcome) is Need else None
    error = outcome.error if type(outcome) is Fail else None
    return Commit(
        state.seq,
        state.turn,
        frame.id,
        chart.digest,
        chart.name,
        node.id,
        node.kind,
        "asked" if need else "answered" if asked else "enter",
        depth,
        frame.caller,
        scope.now,
        tuple(reads) if len(reads) < 2 else tuple(dict.fromkeys(reads)),
        scope.exact,
        tuple(scope.ops),
        scope.decision,
        Asked(need.kind, need.name, need.args, need.effect) if need else None,
        _answered(asked, answer) if asked else None,
        tuple(scope.calls) if scope.calls else (),
        (outcome.to or "return") if type(outcome) is Goto else _target(outcome),
        failure_text(error) if error else "",
        failure_name(error) if error else "",
        tuple(scope.warnings) if scope.warnings else (),
        scope.facts,
        scope.tags,
        scope.secrets,
    )


def closing_commit(scope: Scope, depth: int) -> Commit:
    """The record of a frame's end."""
    state, frame, chart = scope.state, scope.frame, scope.chart
    state.seq += 1
    return Commit(
        state.seq,
        state.turn,
        frame.id,
        chart.digest,
        chart.name,
        scope.node.id,
        "end",
        "closed",
        depth,
        frame.caller,
        scope.now,
        tuple(dict.fromkeys(scope.reads)),
        exact=scope.exact,
        ops=tuple(scope.ops),
        calls=tuple(scope.calls),
        warnings=tuple(scope.warnings),
        facts=scope.facts,
    )


def _answered(asked: Need, answer: Answer | None) -> Answered:
    if answer is None:
        return Answered(asked.kind, asked.name)
    return Answered(asked.kind, asked.name, answer.value, answer.error or "", answer.facts)


def _target(outcome: Outcome) -> str:
    if type(outcome) is Need:
        return "rest"
    return f"call {outcome.chart}" if type(outcome) is Call else type(outcome).__name__.lower()
