"""The commit of a step, made from what its scope has noted.

One step gives one commit; a frame that ends may leave a closing one. Redaction and keeping are the
trace's.
"""

from __future__ import annotations

from typing import Any, Final

from saywhy.chart.commit import Answered, Asked, Commit, Phase
from saywhy.chart.failure import failure_name, failure_text
from saywhy.chart.outcome import Answer, Call, Fail, Goto, Need, Outcome
from saywhy.chart.scope import Scope
from saywhy.values import Key


def step_commit(
    scope: Scope, depth: int, outcome: Outcome, asked: Need | None, answer: Answer | None
) -> Commit:
    """The record of the step that `scope` was for; it takes the next number."""
    state, frame, node = scope.state, scope.frame, scope.node
    state.seq = seq = state.seq + 1
    phase: Phase = "enter" if asked is None else "answered"
    need: Asked | None = None
    error = error_name = ""
    if type(outcome) is Goto:
        to = outcome.to or "return"
    elif type(outcome) is Need:
        to, phase = "rest", "asked"
        need = Asked(outcome.kind, outcome.name, outcome.args, outcome.effect)
    elif type(outcome) is Fail:
        to, error, error_name = "fail", failure_text(outcome.error), failure_name(outcome.error)
    else:
        to = f"call {outcome.chart}" if type(outcome) is Call else type(outcome).__name__.lower()
    ops = scope.ops
    reads = tuple(dict.fromkeys(scope.reads)) if len(scope.reads) > 1 else tuple(scope.reads)
    return Commit(
        seq,
        state.turn,
        frame.id,
        scope.chart.digest,
        scope.chart.name,
        node.id,
        node.kind,
        phase,
        depth,
        frame.caller,
        scope.now,
        reads and (_READS.get(reads) or _shared(reads)),
        scope.exact,
        tuple(ops) if ops else (),
        scope.decision,
        need,
        None if asked is None else _answered(asked, answer),
        scope.calls,
        to,
        error,
        error_name,
        scope.warnings,
        scope.facts or _NO_FACTS,
        scope.tags,
        scope.secrets,
    )


_NO_FACTS: Final[dict[str, Any]] = {}

_READS: Final[dict[tuple[Key, ...], tuple[Key, ...]]] = {}
_MOST_READS: Final = 128


def _shared(reads: tuple[Key, ...]) -> tuple[Key, ...]:
    """The same reads as of a step before, where there is one: a loop reads the same each time."""
    found = _READS.get(reads)
    if found is None:
        if len(_READS) >= _MOST_READS:
            _READS.clear()
        found = _READS[reads] = reads
    return found


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
        calls=scope.calls,
        warnings=scope.warnings,
        facts=scope.facts,
    )


def _answered(asked: Need, answer: Answer | None) -> Answered:
    if answer is None:
        return Answered(asked.kind, asked.name)
    error, name = answer.error or "", answer.error_name
    return Answered(asked.kind, asked.name, answer.value, error, answer.facts, name)
