"""Promise: a chart written in Python becomes plain nodes, and every mistake is found at once."""

from __future__ import annotations

from typing import Any, TypedDict

import pytest

from saywhy.chart.build import Builder
from saywhy.chart.decide import decide, when
from saywhy.chart.merge import Merge
from saywhy.chart.model import Chart
from saywhy.errors import DefinitionError


def nothing(s: Any) -> None:
    """Do nothing"""


def messages(builder: Builder) -> list[str]:
    with pytest.raises(DefinitionError) as caught:
        builder.build()
    return [problem.message for problem in caught.value.problems]


# ------------------------------------------------------------------ what it becomes


def test_declaration_order_is_the_order_of_the_run() -> None:
    """Stages follow each other as declared; ids and descriptions come from the functions."""
    b = Builder("plain")

    @b.stage
    def first(s: Any) -> None:
        """Begin well

        and more."""

    b.stage(id="second", name="Second", describe="Go on", tags=["x"])(nothing)
    chart = b.build().chart
    assert (chart.name, chart.kind, chart.start) == ("plain", "python", "first")
    one, two = chart.nodes.values()
    assert (one.id, one.next, one.describe) == ("first", "second", "Begin well")
    assert (two.id, two.next, two.name, two.describe) == ("second", None, "Second", "Go on")
    assert two.spec == {"tags": ["x"]}
    assert one.where.file.endswith("test_build.py")
    assert one.where.line > 0


def test_a_chart_goes_through_json() -> None:
    """A built chart is data: its JSON gives it back, digest and all."""
    b = Builder("data")
    b.stage(id="a", retry={"attempts": 2, "backoff": [0.1, 1]})(nothing)
    d = b.decider(id="d", rules=[when(x=1).then("l")], default="r")
    d.branch("l", nothing, loop_to="a", max_iter=3, on_limit="r")
    d.branch("r", nothing, label="the rest")
    b.fork("f", merge={"k": Merge.UNION}).branch("one", nothing)
    built = b.build()
    for chart in built.charts:
        assert Chart.from_json(chart.to_json()) == chart


def test_the_digest_follows_what_a_chart_does() -> None:
    """Another bound, branch or mounted chart is another version; another wording is not."""

    def made(most: int = 3, describe: str = "", inner: int = 1) -> str:
        small = Builder("small")
        for number in range(inner):
            small.stage(id=f"s{number}")(nothing)
        b = Builder("big")
        b.stage(id="a", describe=describe)(nothing)
        b.mount(small)
        d = b.decider(id="d")(lambda s: "x")
        d.branch("x", loop_to="a", max_iter=most)
        d.branch("y")
        return b.build().chart.digest

    assert made() == made()
    assert made(describe="other words") == made()
    assert len({made(), made(most=4), made(inner=2)}) == 3


def test_branches_of_a_decider_meet_again() -> None:
    """Each branch goes on after the decider; edges carry the labels."""
    b = Builder("meet")

    @b.decider
    def route(s: Any) -> str:
        return "left"

    route.branch("left", nothing, label="to the left")
    right = route.branch("right")
    right.stage(id="r1")(nothing)
    right.stage(id="r2")(nothing)
    route.branch("straight")
    b.stage(id="after")(nothing)
    nodes = b.build().chart.nodes
    assert nodes["route"].edges == (
        ("left", "to the left"),
        ("r1", "right"),
        ("after", "straight"),
    )
    assert nodes["left"].next == nodes["r2"].next == "after"
    assert nodes["r1"].next == "r2"


def test_what_runs_because_of_a_decision_says_so() -> None:
    """Nodes in a branch are under their decider, those after the meeting point are not."""
    b = Builder("under")
    outer = b.decider(id="outer")(lambda s: "x")
    x = outer.branch("x")
    inner = x.decider(id="inner")(lambda s: "deep")
    inner.branch("deep", nothing)
    inner.branch("skip")
    x.stage(id="after-inner")(nothing)
    outer.branch("y", nothing)
    b.stage(id="met")(nothing)
    leaving = b.decider(id="leaving")(lambda s: "go-on")
    leaving.branch("stop", nothing, ends=True)
    leaving.branch("go-on")
    b.stage(id="last")(nothing)
    nodes = b.build().chart.nodes
    assert {node.id: node.under for node in nodes.values()} == {
        "outer": (),
        "inner": ("outer",),
        "deep": ("inner",),
        "after-inner": ("outer",),
        "y": ("outer",),
        "met": (),
        "leaving": (),
        "stop": ("leaving",),
        "last": ("leaving",),
    }


def test_a_branch_may_end_the_chart() -> None:
    """`ends` leads nowhere; an empty branch that ends is an edge to the end."""
    b = Builder("ends")
    d = b.decider(id="d")(lambda s: "stop")
    d.branch("stop", ends=True)
    d.branch("work", nothing).end()
    d.branch("on")
    b.stage(id="after")(nothing)
    nodes = b.build().chart.nodes
    assert nodes["d"].edges == (("", "stop"), ("work", "work"), ("after", "on"))
    assert nodes["work"].next is None


def test_loops_inside_loops_know_each_other() -> None:
    """Going round an outer loop begins the count of those inside anew."""
    b = Builder("loops")
    b.stage(id="outer")(nothing)
    b.stage(id="inner")(nothing)
    again = b.decider(id="again")(lambda s: "yes")
    again.branch("yes", loop_to="inner", max_iter=5)
    again.branch("no")
    more = b.decider(id="more")(lambda s: "yes")
    more.branch("yes", loop_to="outer", max_iter=7)
    more.branch("no")
    nodes = b.build().chart.nodes
    assert nodes["more"].spec["exits"]["yes"]["resets"] == ["again~inner"]
    assert nodes["again"].spec["exits"]["yes"] == {"to": "inner", "max": 5, "resets": []}


def test_branches_side_by_side_are_charts_of_their_own() -> None:
    """Each branch of a fork, selector or for-each has its chart, named by its path."""
    b = Builder("wide")
    fork = b.fork("fork")
    fork.branch("one", nothing)
    fork.branch("two").fork("inner").branch("deep", nothing)
    b.for_each(lambda s: [], nothing, id="each", max_branches=2)
    built = b.build()
    assert sorted(chart.id for chart in built.charts) == [
        "wide",
        "wide/each/each.item",
        "wide/fork/one",
        "wide/fork/two",
        "wide/fork/two/inner/deep",
    ]
    assert set(built.functions) == {
        "wide/each",
        "wide/each/each.item/each.item",
        "wide/fork/one/one",
        "wide/fork/two/inner/deep/deep",
    }


def test_a_strict_state_lists_its_names() -> None:
    """Names come from the annotations of the class and those it inherits from."""

    class Base(TypedDict):
        a: int

    class Turn(Base, total=False):
        b: str

    for strict, meta in ((True, {"names": ["a", "b"]}), (False, {})):
        b = Builder("s", state=Turn, strict=strict)
        b.stage(nothing)
        assert b.build().chart.meta == meta


# ------------------------------------------------------------------ what is wrong


def test_every_problem_is_found_at_once() -> None:
    """One build reports all mistakes, each with the place of its stage."""
    b = Builder("bad")
    b.stage(id="a b")(nothing)
    b.stage(id="same")(nothing)
    b.stage(id="same")(nothing)
    b.decider(id="none")(lambda s: "x")
    b.pausable(id="ask")(nothing)
    b.stage(id="r", retry={"attempts": 0, "tries": 3})(nothing)
    fork = b.fork("fork", errors="args")
    fork.branch("empty")
    fork.branch("one", nothing)
    fork.branch("one", nothing)
    b.for_each(lambda s: [], nothing, id="each", max_branches=0, into="_x")
    b.loop_to("nowhere", max_iter=0)
    b.stage(id="late")(nothing)
    assert messages(b) == [
        'stage "late" is declared after the end of its line',
        'the id "a b" has a reserved character',
        'two stages have the id "same"',
        "decider none has no branches",
        "pausable ask has no second half",
        "r: retry takes attempts of 1 or more, not 0",
        'r: retry has no "tries"',
        'fork: "args" is reserved and cannot be a variable',
        'fork fork has two branches "one"',
        'branch "empty" of fork has no stages',
        "each: max_branches is 0, not 1 or more",
        'each: "_x" is reserved and cannot be a variable',
        'loop_to("nowhere"): no stage with this id was declared before, in this chart',
        'loop_to("nowhere"): max_iter is 0, not 1 or more',
    ]


def test_problems_have_places_and_hints() -> None:
    """A problem is rendered with file, line and what to try."""
    b = Builder("bad")
    b.stage(id="x/y")(nothing)
    with pytest.raises(DefinitionError) as caught:
        b.build()
    (problem,) = caught.value.problems
    assert problem.place.file.endswith("test_build.py")
    assert (problem.flow, problem.step) == ("bad", "x/y")
    assert problem.render().endswith(
        'error: the id "x/y" has a reserved character\n    ids have no spaces and none of / # ~'
    )


def test_rules_and_branches_must_fit() -> None:
    """With rules as data, targets nobody has and branches nobody takes are found."""
    b = Builder("rules")
    rules = [when(a=1).then("lft"), when(a=2).then("right")]
    d = b.decider(id="d", rules=rules, default="strait")
    for name in ("left", "right", "straight"):
        d.branch(name, nothing)
    assert messages(b) == [
        'a rule of d leads to "lft", which is no branch',
        'the default of d is "strait", which is no branch',
        'no rule of d leads to its branch "left"',
        'no rule of d leads to its branch "straight"',
    ]


def test_a_decider_with_rules_needs_a_default() -> None:
    """Rules may all fail, so there must be something to do then."""
    b = Builder("rules")
    b.decider(id="d", rules=[when(a=1).then("x")]).branch("x", nothing)
    with pytest.raises(DefinitionError, match="name a branch with default="):
        b.build()


def test_stages_nobody_reaches() -> None:
    """When all branches leave, what follows is never reached."""
    b = Builder("unreached")
    b.stage(id="a")(nothing)
    d = b.decider(id="d")(lambda s: "x")
    d.branch("x", loop_to="a")
    d.branch("y", ends=True)
    b.stage(id="after")(nothing)
    assert messages(b) == ['"after" is never reached']


def test_a_loop_without_a_way_out_is_a_warning() -> None:
    """A stage may stop the run by itself, so such a loop is built."""
    b = Builder("spin")
    b.stage(id="a")(nothing)
    b.loop_to("a")
    (warning,) = b.build().warnings
    assert (warning.severity, warning.message) == ("warning", 'there is no way out of "a"')


def test_a_loop_stays_inside_its_branch_chart() -> None:
    """A branch that runs beside others cannot go back to a stage outside."""
    b = Builder("out")
    b.stage(id="a")(nothing)
    b.fork("fork").branch("one", nothing, loop_to="a")
    assert messages(b) == ['loop_to("a"): no stage with this id was declared before, in this chart']


def test_an_unknown_place_for_the_limit() -> None:
    """`on_limit` must name a stage of the chart."""
    b = Builder("limit")
    b.stage(id="a")(nothing)
    b.loop_to("a", on_limit="b")
    assert messages(b)[0] == '"a" leads to "b", which is no node of chart limit'


def test_an_empty_chart() -> None:
    """A chart needs a stage."""
    assert messages(Builder("empty")) == ["chart empty has no stages"]


def test_charts_that_cannot_be_told_apart() -> None:
    """Two different charts with one id are refused where they meet."""
    one, two, b = Builder("same"), Builder("same"), Builder("main")
    one.stage(id="x")(nothing)
    two.stage(id="y")(lambda s: None)
    b.mount(one, id="m1")
    b.mount(two, id="m2")
    assert messages(b) == ['two different charts have the id "same"']


def test_a_chart_that_mounts_itself() -> None:
    """A chart inside itself has no end; by its id it is found when it runs."""
    b = Builder("self")
    b.stage(id="a")(nothing)
    b.mount(b)
    assert messages(b) == ["chart self mounts itself"]


def test_problems_of_a_mounted_chart_are_reported_with_ours() -> None:
    """A chart that is mounted while it is being written is built and checked as well."""
    inner, b = Builder("inner"), Builder("outer")
    inner.decider(id="d")(lambda s: "x")
    b.mount(inner)
    b.decider(id="e")(lambda s: decide(s, [], "x")).branch("x", nothing)
    assert messages(b) == ["decider d has no branches"]
