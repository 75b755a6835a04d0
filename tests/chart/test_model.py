"""Promise: charts are data with a digest over what they do, found by digest, id and name."""

from __future__ import annotations

import pytest

from saywhy.chart.model import Chart, Charts, Node
from saywhy.errors import ChartError, Place


def test_json_gives_the_chart_back() -> None:
    """Every field of a node survives."""
    node = Node(
        "/steps/0",
        "CASE",
        "/steps/1",
        "size",
        {"value": {"deep": [1, None]}},
        ("/steps/9",),
        ("pay.flows.json", 3, 5, "/0/steps/0"),
        "by amount",
        (("/steps/1", "amount > 5"),),
    )
    chart = Chart.of("pay", [node, Node("/steps/1", "END")], kind="flow", meta={"version": 2})
    assert Chart.from_json(chart.to_json()) == chart


def test_the_digest_is_over_what_a_chart_does() -> None:
    """Places and descriptions may change; a step, its target or the chart's name may not."""
    base = Chart.of("c", [Node("a", "do", spec={"x": 1})])
    same = Chart.of("c", [Node("a", "do", spec={"x": 1}, place=("f", 1, 1, ""), describe="d")])
    others = [
        Chart.of("c", [Node("a", "do", spec={"x": 2})]),
        Chart.of("c", [Node("a", "do", "a", spec={"x": 1})]),
        Chart.of("d", [Node("a", "do", spec={"x": 1})]),
        Chart.of("c", [Node("a", "do", spec={"x": 1})], meta={"v": 1}),
    ]
    assert same.digest == base.digest
    assert len({base.digest, *(chart.digest for chart in others)}) == 5


def test_two_nodes_of_one_id_are_refused() -> None:
    """A chart names each node once."""
    with pytest.raises(ChartError, match='chart c: two nodes have the id "a"'):
        Chart.of("c", [Node("a", "do"), Node("a", "do")])


def test_an_unknown_node_is_named_with_what_was_meant() -> None:
    """The error says which chart, and the nearest id."""
    chart = Chart.of("c", [Node("first", "do")])
    assert chart.node("first").id == "first"
    with pytest.raises(ChartError, match='chart c has no node "frist"') as caught:
        chart.node("frist")
    assert caught.value.hint == 'did you mean "first"?'


def test_a_node_knows_its_place() -> None:
    """Where the author wrote it; else its id."""
    assert Node("a", "do", place=("f.json", 2, 3, "/0")).where == Place("f.json", 2, 3, "/0")
    assert str(Node("/steps/1", "do").where) == "/steps/1"


def test_the_newest_version_is_found_by_name_and_the_older_by_digest() -> None:
    """Frames run on with the version they were opened with; new ones get the newest."""
    old = Chart.of("c", [Node("a", "do")], id="c-id")
    new = Chart.of("c", [Node("b", "do")], id="c-id")
    charts = Charts([new])
    charts.add_version(old)
    assert charts.find("c") is charts.find("c-id") is charts.find(new.digest) is new
    assert charts.find(old.digest) is charts.version(old.digest) is old
    assert charts.find("nobody") is charts.version("c") is None
    assert (old.digest in charts, len(list(charts))) == (True, 2)
