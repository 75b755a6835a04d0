"""The path of a record: nodes, ways and calls with how often, whoever carried them out."""

from __future__ import annotations

from saywhy.chart.check import END
from saywhy.chart.commit import Answered, Commit
from saywhy.chart.path import path_of

NAMES = {"m": "Main", "s": "Sub", "x": ""}


def step(seq: int, chart: str, node: str, to: str, frame: int = 1, **more: object) -> Commit:
    return Commit(seq, 1, frame, chart, chart, node, "step", to=to, **more)  # type: ignore[arg-type]


def named(commit: Commit) -> str:
    return NAMES[commit.chart]


def test_counts_nodes_and_ways() -> None:
    """Each time a node is entered counts, a resumed one does not; a loop's ways are counted."""
    commits = [
        step(1, "m", "ask", "rest", phase="asked"),
        step(2, "m", "ask", "test", answered=Answered("user"), phase="answered"),
        step(3, "m", "test", "ask"),
        step(4, "m", "ask", "rest", phase="asked"),
        step(5, "m", "ask", "test", answered=Answered("user"), phase="answered"),
        step(6, "m", "test", "return"),
        step(7, "m", "test", "", phase="closed"),
    ]
    path = path_of(commits, named)
    assert path.nodes == {("Main", "ask"): 2, ("Main", "test"): 2}
    assert path.ways == {
        ("Main", "ask", "test"): 2,
        ("Main", "test", "ask"): 1,
        ("Main", "test", END): 1,
    }
    assert path.calls == {}
    assert path.charts == ["Main"]


def test_counts_calls_also_through_what_carries_them_out() -> None:
    """What a chart without a name opens was opened by whoever opened that; the caller goes on."""
    commits = [
        step(1, "m", "call", "call x"),
        step(2, "x", "carry", "call s", 2, caller=1),
        step(3, "s", "say", "return", 3, caller=2),
        step(4, "m", "next", "call s"),
        step(5, "s", "say", "return", 4, caller=4),
    ]
    path = path_of(commits, named)
    assert path.calls == {("Main", "call", "Sub"): 1, ("Main", "next", "Sub"): 1}
    assert path.ways == {("Main", "call", "next"): 1, ("Sub", "say", END): 2}
    assert path.nodes["Sub", "say"] == 2


def test_a_failed_step_has_no_way_on() -> None:
    """Where a step failed there is no way to draw."""
    assert path_of([step(1, "m", "a", "fail")], named).ways == {}


def test_one_turn_counts_alone() -> None:
    """With a turn, what was before only tells where the path came from."""
    commits = [
        step(1, "m", "call", "call s"),
        Commit(2, 2, 3, "s", "s", "say", "step", to="return", caller=1),
    ]
    path = path_of(commits, named, of_turn=2)
    assert path.nodes == {("Sub", "say"): 1}
    assert path.calls == {("Main", "call", "Sub"): 1}
