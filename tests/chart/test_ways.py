"""Promise: a stage ends as its kind says: along a branch, in a fork, once for each item."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from saywhy.chart.build import Builder
from saywhy.chart.decide import select, when
from saywhy.chart.failure import ForkFailed, StepFailed
from saywhy.chart.merge import Merge
from saywhy.errors import MergeConflict
from saywhy.values import UNDEFINED


def put(name: str, value: Any) -> Any:
    def stage(s: Any) -> None:
        s[name] = value

    return stage


# ------------------------------------------------------------------ deciding


@pytest.mark.parametrize(
    ("given", "text", "hint"),
    [
        ("lft", 'decider d chose "lft", which is no branch of it', 'did you mean "left"?'),
        ("zz", 'decider d chose "zz", which is no branch of it', "branches: left, right"),
        (7, "decider d gave 7", "return the name of a branch, or what decide() gives"),
        (None, "decider d gave None", "return the name of a branch, or what decide() gives"),
    ],
)
def test_a_decider_must_name_a_branch(failure: Any, given: Any, text: str, hint: str) -> None:
    """Anything else fails the stage: there is no silent way to a default."""
    b = Builder("d")
    d = b.decider(id="d")(lambda s: given)
    d.branch("left")
    d.branch("right")
    error = failure(b)
    assert (str(error), error.hint) == (text, hint)


def test_rules_as_data_decide(run: Any) -> None:
    """With rules there is no function to write; the evidence is the same."""
    b = Builder("rules")
    d = b.decider(
        id="d", rules=[when({"args.n": {"gt": 5}}).then("big", label="big!")], default="small"
    )
    d.branch("big", put("size", "big"))
    d.branch("small", put("size", "small"))
    assert run(b, n=9).state == {"size": "big"}
    result = run(b, n=1)
    assert result.state == {"size": "small"}
    decision = result.commits[0].decision
    assert decision is not None
    assert decision.default
    assert decision.conditions[0].read == ((("args", "n"), 1),)


# ------------------------------------------------------------------ forks


def test_a_fork_joins_the_writes_of_its_branches(run: Any) -> None:
    """Keys arrive under their own names; what two branches write needs a policy."""
    b = Builder("fork")
    fork = b.fork("f", merge={"list": Merge.APPEND})

    def one(s: Any) -> None:
        s.k1 = s.v + 1
        s.list.append("one")

    async def two(s: Any) -> None:
        s.k2 = s.v + 2
        s.list.append("two")

    fork.branch("one", one)
    fork.branch("two", two)
    result = run(b, state={"v": 1, "list": [0]})
    assert result.state == {"v": 1, "list": [0, "one", "two"], "k1": 2, "k2": 3}
    joined = next(commit for commit in result.commits if "joined" in commit.facts)
    assert [(side["branch"], side["names"]) for side in joined.facts["joined"]] == [
        ("one", ["k1", "list"]),
        ("two", ["k2", "list"]),
    ]
    last = {side["branch"]: side["commit"] for side in joined.facts["joined"]}
    assert result.commits[last["two"] - 1].flow == "fork/f/two"


def test_two_branches_writing_one_key_conflict(failure: Any) -> None:
    """The fork fails with a conflict that names key and branches."""
    b = Builder("fork")
    fork = b.fork("f")
    fork.branch("one", put("k", 1))
    fork.branch("two", put("k", 2))
    error = failure(b)
    assert isinstance(error, MergeConflict)
    assert str(error) == "k was written by the branches one and two"


def test_a_policy_may_be_a_function(run: Any) -> None:
    """A function decides what the writes of several come to."""
    b = Builder("fork")
    fork = b.fork("f", merge={"best": lambda old, new: max(new)})
    fork.branch("one", put("best", 3))
    fork.branch("two", put("best", 8))
    fork.branch("three", put("best", 5))
    assert run(b).state == {"best": 8}


def test_a_failing_branch_fails_the_fork(run: Any) -> None:
    """The run stops with what the branch raised, and no branch's write is kept."""
    b = Builder("fork")
    fork = b.fork("f")
    fork.branch("one", put("k", 1))
    fork.branch("two", lambda s: 1 / 0)
    with pytest.raises(StepFailed) as caught:
        run(b)
    assert isinstance(caught.value.error, ForkFailed)
    assert caught.value.path == ("f", "two")
    assert caught.value.result.state == {}


def test_collected_errors_are_given_to_the_join(run: Any) -> None:
    """With `errors` the others' writes are joined, and the failures listed under the key."""
    b = Builder("fork")
    fork = b.fork("f", errors="problems")
    fork.branch("one", put("k", 1))
    fork.branch("two", lambda s: 1 / 0)
    result = run(b)
    assert result.state == {
        "k": 1,
        "problems": [{"branch": "two", "error": "division by zero", "name": "ZeroDivisionError"}],
    }


def test_a_selector_runs_what_its_rules_choose(run: Any) -> None:
    """All branches that match run side by side; none is fine as well."""
    b = Builder("select")

    @b.selector
    def pick(s: Any) -> Any:
        return select(
            s, [when({"args.n": {"gt": 0}}).then("a"), when({"args.n": {"gt": 5}}).then("b")]
        )

    pick.branch("a", put("a", 1))
    pick.branch("b", put("b", 1))
    b.stage(id="after")(put("after", 1))
    assert run(b, n=9).state == {"a": 1, "b": 1, "after": 1}
    result = run(b, n=3)
    assert result.state == {"a": 1, "after": 1}
    assert result.commits[0].decision is not None
    assert result.commits[0].decision.selected == ("a",)
    assert run(b, n=0).state == {"after": 1}


@pytest.mark.parametrize(
    ("given", "text"),
    [
        (["a", "x"], 'selector pick chose "x", which is no branch of it'),
        ({"a": 1}, "selector pick gave FrozenDict({'a': 1})"),
        ([1], "selector pick gave FrozenList([1])"),
    ],
)
def test_a_selector_must_name_branches(failure: Any, given: Any, text: str) -> None:
    """Anything else fails the stage."""
    b = Builder("select")
    b.selector(id="pick")(lambda s: given).branch("a", put("a", 1))
    assert str(failure(b)) == text


def test_a_selector_with_rules_and_merging(run: Any) -> None:
    """Rules as data, and policies, work for selectors too."""
    b = Builder("select")
    rules = [when({"args.n": 1}).then("a"), when({"args.n": 1}).then("b")]
    pick = b.selector(id="pick", rules=rules, merge={"k": Merge.REPLACE})
    pick.branch("a", put("k", "a"))
    pick.branch("b", put("k", "b"))
    assert run(b, n=1).state == {"k": "b"}


# ------------------------------------------------------------------ for each


def test_for_each_gives_results_in_the_order_of_the_items() -> None:
    """A branch sees its item and number; what it returns is put into the list."""
    b = Builder("each")

    async def look(s: Any) -> str:
        await asyncio.sleep(0.001 * (3 - s.index))
        return f"{s.item.name}{s.index}"

    b.for_each(lambda s: s.args.items, look, id="look", max_branches=5, into="found")
    b.stage(id="after")(lambda s: s.keys())
    result = asyncio.run(b.build().run({"items": [{"name": "a"}, {"name": "b"}, {"name": "c"}]}))
    assert result.state == {"found": ["a0", "b1", "c2"]}
    assert result.value == ["found"]


def test_more_items_than_allowed_are_dropped_and_said(run: Any, failure: Any) -> None:
    """The first ones are run; how many were not is on the commit."""
    b = Builder("each")
    b.for_each(lambda s: range(5), lambda s: s.item * 2, id="x", max_branches=3, into="found")
    assert str(failure(b)) == "x is a range, which a conversation cannot hold"
    b = Builder("each")
    b.for_each(lambda s: [*range(5)], lambda s: s.item * 2, id="x", max_branches=3, into="found")
    result = run(b)
    assert result.state == {"found": [0, 2, 4]}
    assert result.commits[0].facts == {"dropped": 2}
    assert result.commits[0].warnings == ("5 items, more than 3: the last 2 dropped",)


def test_a_failed_item_leaves_a_gap_when_errors_are_collected(run: Any) -> None:
    """Its place in the list is undefined; its error is in the other list."""
    b = Builder("each")
    b.for_each(
        lambda s: [1, 0, 2],
        lambda s: 10 // s.item,
        id="x",
        max_branches=3,
        into="found",
        errors="problems",
    )
    result = run(b)
    assert list(result.state["found"]) == [10, UNDEFINED, 5]
    assert [problem["branch"] for problem in result.state["problems"]] == ["x~1"]


def test_branches_of_for_each_may_have_several_stages(run: Any, failure: Any) -> None:
    """The branch is a line of stages like others; other writes are joined as in a fork."""
    b = Builder("each")
    line = b.for_each(
        lambda s: [1, 2], id="x", max_branches=2, into="r", merge={"log": Merge.APPEND}
    )
    line.stage(id="one")(lambda s: s.__setattr__("twice", s.item * 2))
    line.stage(id="two")(lambda s: s.log.append(s.twice) or s.twice)
    error = failure(b)
    assert isinstance(error, StepFailed | ForkFailed | MergeConflict)
    b = Builder("each")
    line = b.for_each(
        lambda s: [1, 2],
        id="x",
        max_branches=2,
        into="r",
        merge={"log": Merge.APPEND, "twice": Merge.REPLACE},
    )
    line.stage(id="one")(lambda s: s.__setattr__("twice", s.item * 2))
    line.stage(id="two")(lambda s: s.log.append(s.twice) or s.twice)
    assert run(b, state={"log": []}).state == {"log": [2, 4], "twice": 4, "r": [2, 4]}


def test_no_items_and_what_is_no_list(run: Any, failure: Any) -> None:
    """Nothing gives an empty list; something else is named."""
    b = Builder("each")
    b.for_each(lambda s: s.args.items, lambda s: 1, id="x", max_branches=3, into="found")
    assert run(b, items=[]).state == {"found": []}
    assert str(failure(b, items={"a": 1})) == "the items of x are no list, but FrozenDict({'a': 1})"
