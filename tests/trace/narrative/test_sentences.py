"""Sentences that other tests do not tell: what only keeps a loop going, and calls that are out."""

from __future__ import annotations

from typing import Any

from saywhy.chart.commit import Answered, Asked, Commit, Op
from saywhy.chart.model import Chart, Node
from saywhy.trace.narrative.sentences import came_later, is_out, sentence_of
from saywhy.trace.phrases import ENGLISH, usual
from saywhy.trace.trace import Trace
from tests.agent.recorders.conftest import all_runs


def commit(**more: Any) -> Commit:
    return Commit(1, 1, 1, **{"chart": "c", "flow": "F", "node": "n", "kind": "stage"} | more)


def test_what_only_keeps_a_loop_going_is_not_told() -> None:
    """A chart says which of its variables are its own; a step that wrote others is told."""
    chart = Chart.of("F", [Node("n", "stage")], meta={"own": {"loopCount": ""}})
    own = commit(chart=chart.digest, ops=(Op("set", ("state", "loopCount"), 2),))
    trace = Trace([own], [chart])
    assert sentence_of(trace, own) == ""
    other = commit(chart=chart.digest, ops=(Op("set", ("state", "fee"), 2),))
    assert sentence_of(trace, other) == 'Ran stage "n", which wrote fee = 2.'
    without = commit(ops=own.ops)
    assert sentence_of(trace, without) == 'Ran stage "n", which wrote loopCount = 2.'


def test_calls_that_are_out() -> None:
    """A call is out until something came back; whose answer came later is said."""
    out = commit(kind="CALL-TOOL", asked=Asked("tool", "pay", {"sum": 8}))
    assert is_out(out)
    assert not is_out(commit(kind="CALL-TOOL", answered=Answered("tool", "pay", 1)))
    assert not is_out(commit(kind="SAY-GET", asked=Asked("user", "sum")))
    assert came_later(out, 4, ENGLISH) == "Called pay(sum = 8); its answer came in turn 4."
    assert sentence_of(Trace(), out, usual("de")) == (
        "pay(sum = 8) aufgerufen; eine Antwort ist nicht verzeichnet."
    )


async def test_agents_in_every_language() -> None:
    """Runs with tools, rules, questions and failures; no English sentence is left among them."""
    for record in await all_runs([]):
        for language in ("es", "de"):
            say = usual(language)
            for step in record:
                english = sentence_of(record, step)
                told = sentence_of(record, step, say)
                assert bool(told) == bool(english)
                assert not english or told != english
