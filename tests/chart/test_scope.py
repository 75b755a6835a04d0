"""Promise: a step reads what it wrote, its writes are staged, and what shows through is noted."""

from __future__ import annotations

from typing import Any

import pytest

from saywhy.chart.cursor import Base, Cursor, Frame
from saywhy.chart.model import Chart, Charts, Node
from saywhy.chart.scope import Scope
from saywhy.chart.stack import apply_writes
from saywhy.errors import StateValueError
from saywhy.values import UNDEFINED, freeze

NODE = Node("n", "do")
CHART = Chart.of("c", [NODE])


def scope_of(cursor: Cursor) -> Scope:
    return Scope(cursor, cursor.state, cursor.top, CHART, NODE, Charts([CHART]))


@pytest.fixture
def cursor() -> Cursor:
    """A frame on scope `v2`, which lies over `v1`."""
    made = Cursor([Frame(1, CHART.digest, "c", "n", "v2")])
    made.state.scopes = {
        "v1": {"a": 1, "list": freeze([1, 2]), "user": freeze({"name": "Ada"})},
        "v2": {},
    }
    made.state.bases = {"v2": Base("v1")}
    made.state.next_id = 10
    return made


def test_a_read_sees_what_the_step_wrote(cursor: Cursor) -> None:
    """Writes are seen at once by the step, and by nobody else until it ends."""
    scope = scope_of(cursor)
    scope.set(("v2", "a"), 2)
    scope.append(("v2", "new"), "x")
    assert scope.read(("v2", "a")) == 2
    assert scope.read(("v2", "new", 0)) == "x"
    assert cursor.state.get("v2", "a") == 1
    apply_writes(scope)
    assert cursor.state.get("v2", "a") == 2
    assert cursor.state.get("v1", "a") == 1


def test_what_shows_through_is_noted_where_it_lives(cursor: Cursor) -> None:
    """A read through a layer names the scope that holds the variable, path and all."""
    scope = scope_of(cursor)
    assert scope.read(("v2", "user", "name")) == "Ada"
    assert scope.read(("v2", "nothing")) is UNDEFINED
    assert scope.reads == [("v1", "user", "name"), ("v2", "nothing")]


def test_a_change_inside_what_shows_through_is_a_copy_first(cursor: Cursor) -> None:
    """The operations of the upper scope alone say what it holds; the lower one stays."""
    scope = scope_of(cursor)
    scope.append(("v2", "list"), 3)
    scope.set(("v2", "user", "name"), "Bob")
    assert [(op.verb, op.key) for op in scope.ops] == [
        ("set", ("v2", "list")),
        ("append", ("v2", "list")),
        ("set", ("v2", "user")),
        ("set", ("v2", "user", "name")),
    ]
    assert scope.reads == [("v1", "list"), ("v1", "user")]
    apply_writes(scope)
    assert cursor.state.get("v2", "list") == freeze([1, 2, 3])
    assert cursor.state.get("v1", "list") == freeze([1, 2])
    assert cursor.state.get("v2", "user") == freeze({"name": "Bob"})


def test_what_was_deleted_above_does_not_show_through(cursor: Cursor) -> None:
    """Deleting in the upper scope hides the lower one's variable, also after JSON."""
    scope = scope_of(cursor)
    scope.delete(("v2", "a"))
    assert not scope.has("v2", "a")
    assert scope.read(("v2", "a")) is UNDEFINED
    apply_writes(scope)
    again = Cursor.from_json(cursor.to_json())
    assert again.state.get("v2", "a") is UNDEFINED
    assert again.state.get("v1", "a") == 1
    after = scope_of(again)
    assert "a" not in after.names("v2")
    after.set(("v2", "a"), 5)
    assert after.has("v2", "a")
    apply_writes(after)
    assert again.state.get("v2", "a") == 5


def test_names_are_those_of_all_layers(cursor: Cursor) -> None:
    """Which variables there are follows writes and deletions of the step."""
    scope = scope_of(cursor)
    scope.set(("v2", "b"), 1)
    scope.delete(("v2", "list"))
    assert set(scope.names("v2")) == {"a", "user", "b"}


def test_an_opened_scope_lies_over_another_at_once(cursor: Cursor) -> None:
    """What a step opens can be read by it, and is there when the step has ended."""
    scope = scope_of(cursor)
    seeds = scope.open({"item": 1}, over="v1")
    inner = scope.open(over=seeds)
    assert scope.read((inner, "item")) == 1
    assert scope.read((inner, "a")) == 1
    assert inner not in cursor.state.scopes
    apply_writes(scope)
    assert cursor.state.get(inner, "item") == 1
    assert cursor.state.bases[inner] == Base(seeds)


def test_discarding_forgets_what_was_staged(cursor: Cursor) -> None:
    """After a discard nothing of the step reaches the state or its frame."""
    scope = scope_of(cursor)
    scope.set(("v2", "b"), 1)
    scope.keep("k", 1)
    scope.open({"x": 1})
    scope.discard()
    apply_writes(scope)
    assert cursor.state.scopes["v2"] == {}
    assert set(cursor.state.scopes) == {"v1", "v2"}
    assert cursor.top.data == {}


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        (object(), "v2.x is a object, which a conversation cannot hold"),
        ({"a": {1: 2}}, "v2.x.a has the key 1, which is no text"),
        ([lambda: 1], "v2.x.0 is a function, which a conversation cannot hold"),
    ],
)
def test_what_a_conversation_cannot_hold_is_refused(
    cursor: Cursor, value: Any, problem: str
) -> None:
    """A refused value leaves no operation behind."""
    scope = scope_of(cursor)
    with pytest.raises(StateValueError) as caught:
        scope.set(("v2", "x"), value)
    assert str(caught.value) == problem
    assert scope.ops == []
    assert not scope.has("v2", "x")


def test_a_variable_may_have_any_name(cursor: Cursor) -> None:
    """The empty name is a name like others, also in a scope that was just opened."""
    scope = scope_of(cursor)
    inner = scope.open({"": "empty"})
    assert scope.read((inner, "")) == "empty"
    apply_writes(scope)
    assert cursor.state.get(inner, "") == "empty"
