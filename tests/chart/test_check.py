"""Promise: a chart's graph is checked: targets, nodes never reached, loops without a way out."""

from __future__ import annotations

import pytest

from saywhy.chart.check import END, check, targets
from saywhy.chart.model import Chart, Node


def found(*nodes: Node, leaves: tuple[str, ...] = (), start: str | None = None) -> list[str]:
    chart = Chart.of("c", nodes, start=start)
    return [f"{problem.severity}: {problem.message}" for problem in check(chart, leaves=leaves)]


def test_a_sound_chart_has_no_problems() -> None:
    """Branches that meet again and loops with a way out are fine."""
    assert (
        found(
            Node("a", "do", "b"),
            Node("b", "choose", edges=(("c", "yes"), ("a", "again"), (END, "stop"))),
            Node("c", "do"),
        )
        == []
    )


def test_an_unknown_target_is_named_with_what_was_meant() -> None:
    """Each target that no node has is one problem, with place and hint."""
    chart = Chart.of(
        "c",
        [
            Node("first", "do", "secnd", place=("flow.json", 3, 5, "/0")),
            Node("second", "do", edges=(("third", "x"),)),
        ],
        start="frist",
    )
    problems = list(check(chart))
    assert [problem.message for problem in problems][:3] == [
        'chart c starts at "frist", which is no node of it',
        '"first" leads to "secnd", which is no node of chart c',
        '"second" leads to "third", which is no node of chart c',
    ]
    assert problems[1].hint == 'did you mean "second"?'
    assert str(problems[1].place) == "flow.json:3:5"
    assert (problems[1].flow, problems[1].step) == ("c", "first")


def test_a_node_never_reached() -> None:
    """What no edge leads to from the start is an error."""
    assert found(Node("a", "do"), Node("b", "do", "a")) == ['error: "b" is never reached']


def test_no_way_out_is_a_warning() -> None:
    """A loop without an exit is named once, with all its nodes."""
    assert found(Node("a", "do", "b"), Node("b", "do", "a")) == [
        'warning: there is no way out of "a", "b"'
    ]


def test_kinds_that_leave_are_a_way_out() -> None:
    """A node that ends the chart by what it is counts as an exit."""
    assert found(Node("a", "do", "b"), Node("b", "END", "a"), leaves=("END",)) == []


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        (Node("a", "do"), [END]),
        (Node("a", "do", "b"), ["b"]),
        (Node("a", "do", "b", edges=(("c", "x"),)), ["b", "c"]),
        (Node("a", "do", edges=(("c", "x"),)), ["c"]),
    ],
)
def test_where_a_node_may_go(node: Node, expected: list[str]) -> None:
    """A node without `next` ends the chart only when it has no edges at all."""
    assert targets(node) == expected
