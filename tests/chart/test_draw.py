"""Promise: a chart is drawn as it is, with the path of a run over it, whatever its texts hold."""

from __future__ import annotations

from typing import Any

from saywhy.chart.build import Builder
from saywhy.chart.draw import Link, mermaid, mermaid_set, visits
from saywhy.chart.model import Chart, Charts, Node


def nothing(s: Any) -> None:
    pass


def lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines()]


def looping() -> Builder:
    b = Builder("loop")
    b.stage(id="work", describe="Do the work")(lambda s: s.__setattr__("n", s.get("n", 0) + 1))
    d = b.decider(id="more")(lambda s: "again" if s.n < 3 else "done")
    d.branch("again", nothing, label="not yet", loop_to="work", max_iter=9, on_limit="done")
    d.branch("done", nothing)
    return b


def test_shapes_labels_and_back_edges() -> None:
    """Deciders are diamonds, edges carry labels, a back edge is dotted, the end is drawn."""
    assert mermaid(looping().build().chart) == (
        "flowchart TD\n"
        '  n0["work<br/>Do the work"]\n'
        '  n1{"more"}\n'
        '  n2["again"]\n'
        '  n3["done"]\n'
        '  nend(["end"])\n'
        "  n0 --> n1\n"
        '  n1 -->|"not yet"| n2\n'
        '  n1 -->|"done"| n3\n'
        "  n2 -.-> n0\n"
        '  n2 -->|"after 9 times"| n3\n'
        "  n3 --> nend\n"
    )


def test_the_path_of_a_run_lies_over_it(run: Any) -> None:
    """Nodes that ran are marked, with how often; the others are pale."""
    b = looping()
    counts = visits(run(b).commits)
    assert counts == {"work": 3, "more": 3, "again": 2, "done": 1}
    del counts["done"]
    drawn = lines(mermaid(b.build().chart, visited=counts))
    assert 'n0["work<br/>Do the work (×3)"]' in drawn
    assert "class n0 visited" in drawn
    assert "class n3 missed" in drawn
    assert drawn[-1] == "classDef missed opacity:0.5"


def nested() -> Builder:
    inner, b = Builder("inner"), Builder("outer")
    inner.stage(id="deep")(nothing)
    b.mount(inner, id="m")
    fork = b.fork("f")
    fork.branch("one", nothing)
    fork.branch("two").mount(inner, id="again")
    b.for_each(lambda s: [1, 2], nothing, id="each", max_branches=2)
    return b


def test_charts_inside_are_boxes(run: Any) -> None:
    """Mounts, branches and for-each are drawn inside, when their charts are handed in."""
    built = nested().build()
    drawn = lines(mermaid(built.chart, charts=Charts(built.charts)))
    assert 'subgraph n0["m"]' in drawn
    assert 'n0_0["deep"]' in drawn
    assert 'n1{{"f"}}' in drawn
    assert 'subgraph n1b1["two"]' in drawn
    assert 'n1b1_0_0["deep"]' in drawn
    assert "n1 --> n1b1" in drawn
    assert drawn.count("end") == 5
    assert 'n0[["m"]]' in lines(mermaid(built.chart))


def test_visits_go_into_charts_and_branches(run: Any) -> None:
    """A node inside is counted under the path that leads to it."""
    assert visits(run(nested()).commits) == {
        "m": 1,
        "m/deep": 1,
        "f": 1,
        "f/one/one": 1,
        "f/two/again": 1,
        "f/two/again/deep": 1,
        "each": 1,
        "each/each.item/each.item": 2,
    }


def test_texts_cannot_break_the_picture() -> None:
    """Quotes, brackets, line breaks and long texts are made harmless."""
    chart = Chart.of(
        "odd",
        [
            Node("a", "SAY", "b", name='say "hi" <b>#1</b>;', describe="two\nlines | `x`"),
            Node("b", "SAY", spec={"value": "long " * 40}, edges=(("a", 'x"]; y'),)),
        ],
    )
    drawn = lines(mermaid(chart))
    assert drawn[1] == (
        'n0["say #34;hi#34; #60;b#62;#35;1#60;/b#62;#59;<br/>two lines #124; #96;x#96;"]'
    )
    assert drawn[2].endswith('…"]')
    assert len(drawn[2]) < 80
    assert 'n1 -.->|"x#34;]#59; y"| n0' in drawn


def test_steps_of_a_flow_are_named_by_what_they_say() -> None:
    """A node that is called by its pointer shows its kind and its most telling field."""
    chart = Chart.of(
        "flow",
        [
            Node("/steps/0", "SAY", "/steps/1", spec={"value": "Hello"}),
            Node("/steps/1", "CASE", "/steps/2", "size", edges=(("/steps/2", "amount > 5"),)),
            Node("/steps/2", "CALL-TOOL", spec={"tool": "Pay", "variable": "fee"}),
        ],
    )
    assert lines(mermaid(chart))[1:] == [
        'n0["SAY<br/>Hello"]',
        'n1{"size"}',
        'n2["CALL-TOOL<br/>Pay"]',
        'nend(["end"])',
        "n0 --> n1",
        'n1 -->|"amount #62; 5"| n2',
        "n2 --> nend",
    ]


def test_a_chart_that_calls_itself_is_drawn_once() -> None:
    """A box is not drawn inside itself."""
    chart = Chart.of("self", [Node("m", "mount", spec={"chart": "self"})])
    assert mermaid(chart, charts=Charts([chart])).count("subgraph") == 0


def test_several_charts_in_one_picture() -> None:
    """Each chart has its box; ways between them are dotted, also to what is not there."""
    one = Chart.of("one", [Node("a", "FLOW")])
    two = Chart.of("two", [Node("b", "SAY")])
    drawn = lines(mermaid_set([one, two], [Link("one", "a", "two", "call"), Link("two", "b", "x")]))
    assert 'subgraph f0["one"]' in drawn
    assert 'f0_0 -.->|"call"| f1' in drawn
    assert 'o0(["x"])' in drawn
    assert "f1_0 -.-> o0" in drawn
