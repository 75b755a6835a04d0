"""Promise: what branches wrote is taken over in declared order, under the author's policy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from saywhy.chart.cursor import Base, Cursor, Frame, Side
from saywhy.chart.merge import Merge, Policy, additions, join_branches, merged
from saywhy.chart.model import Chart, Charts, Node
from saywhy.chart.scope import Scope
from saywhy.chart.stack import apply_writes
from saywhy.errors import ChartError, MergeConflict
from saywhy.values import FrozenList, freeze, thaw

NODE = Node("join", "do")
CHART = Chart.of("c", [NODE])


class Joined:
    """Branches that wrote into layers over `before`, and what joining them came to."""

    def __init__(
        self,
        before: Mapping[str, Any],
        *branches: Callable[[Scope, str], None],
        failed: str = "",
        **policies: Policy,
    ) -> None:
        cursor = Cursor([Frame(1, CHART.digest, "c", "join", "p")])
        cursor.state.scopes["p"] = {name: freeze(value) for name, value in before.items()}
        sides: list[Side] = []
        for number, write in enumerate(branches):
            own = f"b{number}"
            cursor.state.scopes[own] = {}
            cursor.state.bases[own] = Base("p")
            branch = Scope(cursor, cursor.state, cursor.top, CHART, NODE, Charts([CHART]))
            write(branch, own)
            apply_writes(branch)
            error = "broken" if own == failed else ""
            sides.append(Side(own, own, True, error=error, last=10 + number))
        self.scope = Scope(cursor, cursor.state, cursor.top, CHART, NODE, Charts([CHART]))
        self.facts = join_branches(self.scope, sides, policies)
        self.ops = [(op.verb, op.key[1], thaw(op.value)) for op in self.scope.ops]
        apply_writes(self.scope)
        found = cursor.state.scopes["p"]
        self.state = {name: thaw(value) for name, value in found.items()}


def sets(**values: Any) -> Callable[[Scope, str], None]:
    def write(scope: Scope, own: str) -> None:
        for name, value in values.items():
            scope.set((own, name), value)

    return write


def appends(name: str, *items: Any) -> Callable[[Scope, str], None]:
    def write(scope: Scope, own: str) -> None:
        for item in items:
            scope.append((own, name), item)

    return write


def deletes(name: str) -> Callable[[Scope, str], None]:
    def write(scope: Scope, own: str) -> None:
        scope.delete((own, name))

    return write


def test_keys_with_one_writer_need_no_policy() -> None:
    """Each branch's own keys arrive; the join reads them where the branch left them."""
    joined = Joined({"v": 1}, sets(k1=1), sets(k2=2))
    assert joined.state == {"v": 1, "k1": 1, "k2": 2}
    assert joined.scope.reads == [("b0", "k1"), ("b1", "k2")]
    assert joined.facts == [
        {"branch": "b0", "scope": "b0", "names": ["k1"], "commit": 10},
        {"branch": "b1", "scope": "b1", "names": ["k2"], "commit": 11},
    ]


@pytest.mark.parametrize("policies", [{}, {"k": Merge.ERROR}])
def test_two_writers_of_a_key_conflict(policies: dict[str, Policy]) -> None:
    """Without a policy the conflict names the key and the branches; equal values are no excuse."""
    with pytest.raises(MergeConflict) as caught:
        Joined({}, sets(k=1), sets(other=1), sets(k=1), **policies)
    assert str(caught.value) == "k was written by the branches b0 and b2"
    assert caught.value.branches == ("b0", "b2")
    assert "declare a merge policy" in caught.value.hint


def test_replace_takes_the_last_in_declared_order() -> None:
    """REPLACE: the last branch that wrote the key wins."""
    joined = Joined({"k": 0}, sets(k=1), sets(k=2), sets(x=1), k=Merge.REPLACE)
    assert joined.state == {"k": 2, "x": 1}


def test_append_adds_what_each_branch_added() -> None:
    """APPEND: the items each put at the end, and the whole of a list made anew."""
    joined = Joined(
        {"k": [0]}, appends("k", 1, 2), appends("k", 3), sets(k=["new"]), k=Merge.APPEND
    )
    assert joined.state == {"k": [0, 1, 2, 3, "new"]}
    assert joined.ops == [("append", "k", item) for item in (1, 2, 3, "new")]


def test_append_to_nothing_and_of_single_values() -> None:
    """A list that was not there begins; a value that is no list is one item."""
    joined = Joined({}, appends("k", 1), sets(k={"$num": "NaN"}), k=Merge.APPEND)
    assert joined.state == {"k": [1, {"$num": "NaN"}]}


def test_a_list_that_only_grew_is_recorded_as_what_was_added() -> None:
    """One writer of a long list leaves its additions in the log, not the list."""
    joined = Joined({"k": list(range(1000))}, appends("k", "new"))
    assert joined.ops == [("append", "k", "new")]
    assert joined.state["k"][-2:] == [999, "new"]


def test_union_leaves_out_what_is_there() -> None:
    """UNION: like APPEND without doubles; 1 and true are not the same."""
    joined = Joined(
        {"k": [1]}, appends("k", 1, {"a": 1}), appends("k", {"a": 1}, True), k=Merge.UNION
    )
    assert joined.state == {"k": [1, {"a": 1}, True]}


def test_union_of_objects_has_all_fields() -> None:
    """UNION of objects: later branches win a field; something else is no object."""
    joined = Joined({"k": {"a": 0, "b": 0}}, sets(k={"a": 1}), sets(k={"c": 2}), k=Merge.UNION)
    assert joined.state == {"k": {"a": 1, "b": 0, "c": 2}}
    with pytest.raises(ChartError, match="the union of an object and something else"):
        Joined({}, sets(k={"a": 1}), sets(k=3), k=Merge.UNION)


def test_a_function_is_given_the_value_before_and_those_of_the_writers() -> None:
    """A policy may be any function; what it gives becomes state."""
    joined = Joined({"k": 10}, sets(k=12), sets(k=15), k=lambda old, new: old + sum(new))
    assert joined.state == {"k": 37}


def test_a_deletion_is_a_write() -> None:
    """A branch may delete; with another writer that conflicts as well."""
    assert Joined({"k": 1, "v": 1}, deletes("k")).state == {"v": 1}
    assert Joined({"k": 1}, sets(k=2), deletes("k"), k=Merge.REPLACE).state == {}
    with pytest.raises(MergeConflict):
        Joined({"k": 1}, sets(k=2), deletes("k"))


def test_writes_of_a_failed_branch_are_dropped() -> None:
    """Of a failed branch only its error is told; its key is free for another."""
    joined = Joined({}, sets(k=1), sets(k=2), failed="b0")
    assert joined.state == {"k": 2}
    assert joined.facts[0] == {"branch": "b0", "scope": "b0", "error": "broken"}


def test_what_was_added_to_a_list() -> None:
    """Only what is still the old list with more at its end has additions."""
    old = freeze([1, {"a": 1}])
    assert additions(old, old.appended(2)) == [2]
    assert additions(old, freeze([1, {"a": 1}, 2])) == [2]
    assert additions(old, freeze([1])) is None
    assert additions(old, freeze([2, {"a": 1}])) is None
    assert additions(3, old) is None


def test_lists_that_come_from_elsewhere_are_added_whole() -> None:
    """Without a common start a list that looks like ours is added all the same."""
    ours = freeze(["x"])
    assert merged(ours, [freeze(["x"])], Merge.APPEND) == FrozenList(["x", "x"])
    assert merged(ours, [freeze(["x"])], Merge.APPEND, ours) == FrozenList(["x"])
    assert merged(ours, [freeze(["y"])], Merge.REPLACE) == FrozenList(["y"])


def test_a_list_that_has_grown_from_another_is_not_compared_item_by_item() -> None:
    """What was added is known at a glance, however long both are."""

    class Heavy:
        __hash__ = None  # type: ignore[assignment]

        def __eq__(self, other: object) -> bool:
            raise AssertionError("compared")

    before = FrozenList([]).appended(Heavy())
    after = before.appended(1, 2)
    assert additions(before, after) == [1, 2]
    assert before != after
    assert after == after.appended()
