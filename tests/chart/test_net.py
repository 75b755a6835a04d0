"""Promise: a stage's writes come down to what differs from before."""

from __future__ import annotations

from typing import Any

from saywhy.chart.cursor import Base, Cursor, Frame
from saywhy.chart.model import Chart, Charts, Node
from saywhy.chart.net import keep_net
from saywhy.chart.scope import Scope
from saywhy.chart.stack import apply_writes
from saywhy.values import freeze, thaw

NODE = Node("work", "stage")
CHART = Chart.of("c", [NODE])


def scope_on(**variables: Any) -> Scope:
    cursor = Cursor([Frame(1, CHART.digest, "c", "work", "s")])
    cursor.state.scopes["s"] = {name: freeze(value) for name, value in variables.items()}
    return Scope(cursor, cursor.state, cursor.top, CHART, NODE, Charts([CHART]))


def net(scope: Scope) -> list[tuple[Any, ...]]:
    keep_net(scope)
    return [(op.verb, *op.key[1:], thaw(op.value)) for op in scope.ops]


def test_an_equal_value_is_no_write() -> None:
    """Setting what is there already leaves nothing, and the state keeps the value it shares."""
    scope = scope_on(a=[1, {"b": 2}], n=1)
    before = scope.state.get("s", "a")
    scope.set(("s", "a"), [1, {"b": 2}])
    scope.set(("s", "n"), 1)
    assert net(scope) == []
    apply_writes(scope)
    assert scope.state.get("s", "a") is before


def test_true_is_not_one() -> None:
    """Values that Python takes for equal are writes where a conversation tells them apart."""
    scope = scope_on(a=1, b=0.0)
    scope.set(("s", "a"), True)
    scope.set(("s", "b"), -0.0)
    assert net(scope) == [("set", "a", True), ("set", "b", -0.0)]


def test_only_the_last_of_several_sets_counts() -> None:
    """What a later write covers goes, inside and out."""
    scope = scope_on(a=0)
    for number in range(5):
        scope.set(("s", "a"), number)
    scope.set(("s", "b"), {"x": 1})
    scope.set(("s", "b", "x"), 2)
    scope.set(("s", "b"), {"x": 3})
    assert net(scope) == [("set", "a", 4), ("set", "b", {"x": 3})]


def test_there_and_back_is_nothing() -> None:
    """A variable that ends as it began was not written."""
    scope = scope_on(a=1)
    scope.set(("s", "a"), 2)
    scope.set(("s", "a"), 1)
    scope.set(("s", "new"), 1)
    scope.delete(("s", "new"))
    assert net(scope) == []


def test_positions_that_move_are_left_alone() -> None:
    """After a deletion in a list an index means another item: both writes stay."""
    scope = scope_on(a=[0, 1, 2, 3])
    scope.set(("s", "a", 2), "x")
    scope.delete(("s", "a", 0))
    scope.set(("s", "a", 2), "y")
    assert net(scope) == [("set", "a", 2, "x"), ("delete", "a", 0, None), ("set", "a", 2, "y")]
    apply_writes(scope)
    assert thaw(scope.state.get("s", "a")) == [1, "x", "y"]


def test_a_copy_of_what_shows_through_stays() -> None:
    """The copy before a change inside is what the change stands on."""
    scope = scope_on()
    scope.state.bases["s"] = Base("below")
    scope.state.scopes["below"] = {"a": freeze([1])}
    scope.append(("s", "a"), 2)
    assert net(scope) == [("set", "a", [1]), ("append", "a", 2)]


def test_deleting_what_shows_through_is_a_write() -> None:
    """In a layer a deletion hides the variable below: it stays."""
    scope = scope_on()
    scope.state.bases["s"] = Base("below")
    scope.state.scopes["below"] = {"a": 1}
    scope.delete(("s", "a"))
    assert net(scope) == [("delete", "a", None)]
