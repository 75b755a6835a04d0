"""Promise: objects and lists of the state behave like dict and list, exactly noted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saywhy.chart.cursor import Cursor, Frame
from saywhy.chart.model import Chart, Charts, Node
from saywhy.chart.nested import DictView, ListView, plain
from saywhy.chart.scope import Scope
from saywhy.chart.stack import apply_writes
from saywhy.chart.view import Env, Sight, View
from saywhy.errors import ChartError
from saywhy.values import append_path, delete_path, freeze, set_path, thaw

NODE = Node("work", "stage")
CHART = Chart.of("c", [NODE])


def view_of(value: Any) -> Any:
    """The view of the one variable `v`."""
    cursor = Cursor([Frame(1, CHART.digest, "c", "work", "s")])
    cursor.state.scopes["s"] = {"v": freeze(value)}
    scope = Scope(cursor, cursor.state, cursor.top, CHART, NODE, Charts([CHART]))
    return View(Sight(scope, "s", Env({}))).v


def scope_behind(view: Any) -> Scope:
    return view._sight.scope


def reads(view: Any) -> list[str]:
    return [".".join(str(part) for part in key[1:]) for key in scope_behind(view).reads]


def ops(view: Any) -> list[tuple[Any, ...]]:
    return [(op.verb, *op.key[2:], thaw(op.value)) for op in scope_behind(view).ops]


def test_a_field_is_noted_as_that_field() -> None:
    """Looking at one part reads that part; getting a view reads nothing."""
    v = view_of({"user": {"name": "Ada", "tags": ["x", "y"]}})
    user = v.user
    assert isinstance(user, DictView)
    assert reads(v) == []
    assert user.name == v["user"]["name"] == "Ada"
    assert user.tags[1] == user.tags[-1] == "y"
    assert reads(v) == ["v.user.name", "v.user.name", "v.user.tags.1", "v.user.tags.1"]


def test_going_through_all_of_it_is_one_read() -> None:
    """Loops, lengths, comparisons and copies note the whole, and no part of it again."""
    v = view_of({"list": [{"n": 1}, {"n": 2}]})
    assert [item.n for item in v.list] == [1, 2]
    assert {name: len(value) for name, value in v.items()} == {"list": 2}
    assert v.list == [{"n": 1}, {"n": 2}]
    assert plain(v) == v.copy() == {"list": [{"n": 1}, {"n": 2}]}
    assert set(reads(v)) == {"v.list", "v"}


def test_nested_writes_are_operations_on_their_path() -> None:
    """Setting, deleting and appending inside a value names the path, never the whole."""
    v = view_of({"a": {"n": 1, "gone": 0}, "list": [1, 2]})
    v.a.n = 2
    v["a"]["new"] = {"deep": []}
    v.a.new.deep.append("x")
    del v.a.gone
    v.list[0] = 9
    v.list[-1] = 8
    del v.list[0]
    assert ops(v) == [
        ("set", "a", "n", 2),
        ("set", "a", "new", {"deep": []}),
        ("append", "a", "new", "deep", "x"),
        ("delete", "a", "gone", None),
        ("set", "list", 0, 9),
        ("set", "list", 1, 8),
        ("delete", "list", 0, None),
    ]
    assert plain(v) == {"a": {"n": 2, "new": {"deep": ["x"]}}, "list": [8]}


def test_an_append_reads_nothing() -> None:
    """Putting something at the end does not depend on what is there."""
    v = view_of([1])
    v.append(2)
    v.extend([3, 4])
    v += [5]
    assert reads(v) == []
    assert ops(v) == [("append", item) for item in (2, 3, 4, 5)]


def test_attributes_that_are_methods_need_items() -> None:
    """A field called like a method is an item; writing it as attribute is refused."""
    v = view_of({"items": 3, "x": 1})
    assert v["items"] == 3
    assert callable(v.items)
    with pytest.raises(ChartError, match='the attribute "items" is taken') as caught:
        v.items = 4
    assert caught.value.hint == 'write view["items"] = …'


@pytest.mark.parametrize(
    ("look", "error", "text"),
    [
        (lambda v: v["none"], KeyError, "none"),
        (lambda v: v.none, AttributeError, 'v has no "none"'),
        (lambda v: v.list[5], IndexError, "index 5 is outside a list of 2"),
        (lambda v: v.list.__setitem__(2, 1), IndexError, "index 2 is outside a list of 2"),
        (lambda v: v.pop("none"), KeyError, "none"),
        (lambda v: v.__delitem__("none"), KeyError, "none"),
    ],
)
def test_what_is_not_there(look: Callable[[Any], Any], error: type[Exception], text: str) -> None:
    """Missing fields and positions raise as in dict and list, and leave no operation."""
    v = view_of({"list": [1, 2]})
    with pytest.raises(error, match=text):
        look(v)
    assert ops(v) == []


def test_popping_gives_a_plain_copy() -> None:
    """What is taken away can be kept, although its place is gone."""
    v = view_of({"list": [{"a": 1}, {"b": 2}], "d": {"x": [1]}})
    assert v.list.pop(0) == {"a": 1}
    assert v.pop("d") == {"x": [1]}
    assert v.pop("d", None) is None
    assert plain(v) == {"list": [{"b": 2}]}


LIST_CHANGES: list[Callable[[Any], Any]] = [
    lambda x: x.append({"n": 1}),
    lambda x: x.extend([1, 2]),
    lambda x: x.insert(0, "first"),
    lambda x: x.insert(1, "second"),
    lambda x: x.insert(99, "last"),
    lambda x: x.pop() if len(x) else None,
    lambda x: x.pop(0) if len(x) else None,
    lambda x: x.__setitem__(0, "set") if len(x) else None,
    lambda x: x.__setitem__(slice(0, 1), ["a", "b"]),
    lambda x: x.__delitem__(slice(1, None, 2)),
    lambda x: x.__delitem__(-1) if len(x) else None,
    lambda x: x.remove("first") if "first" in x else None,
    lambda x: x.reverse(),
    lambda x: x.sort(key=repr),
    lambda x: x.clear(),
]


@given(st.lists(st.sampled_from(LIST_CHANGES), max_size=12))
def test_a_list_view_does_what_a_list_does(changes: list[Callable[[Any], Any]]) -> None:
    """Any changes leave view, state and a replay of the operations like a plain list."""
    start: list[Any] = [3, {"n": 1}, "first", [1]]
    expected = list(start)
    v = view_of(start)
    for change in changes:
        change(expected)
        change(v)
    assert isinstance(v, ListView)
    assert v == expected
    assert list(v) == expected
    check_replay(v, start, expected)


DICT_CHANGES: list[Callable[[Any], Any]] = [
    lambda x: x.__setitem__("a", {"b": {}}),
    lambda x: x["a"].__setitem__("c", [1]) if isinstance(x.get("a"), dict | DictView) else None,
    lambda x: x.setdefault("list", []).append(1),
    lambda x: x.update({"k": 1, "l": [2]}),
    lambda x: x.pop("k", None),
    lambda x: x.__delitem__("a") if "a" in x else None,
    lambda x: x.clear(),
    lambda x: x.popitem() if len(x) else None,
]


@given(st.lists(st.sampled_from(DICT_CHANGES), max_size=12))
def test_a_dict_view_does_what_a_dict_does(changes: list[Callable[[Any], Any]]) -> None:
    """Any changes leave view, state and a replay of the operations like a plain dict."""
    start: dict[str, Any] = {"k": 0, "list": [0]}
    expected = {"k": 0, "list": [0]}
    v = view_of(start)
    for change in changes:
        if change is DICT_CHANGES[-1]:  # which item is taken is up to the mapping
            while len(v) > 1:
                del v[next(iter(v))]
            expected = plain(v)
        change(expected)
        change(v)
    assert v == expected
    check_replay(v, start, expected)


def check_replay(view: Any, start: Any, expected: Any) -> None:
    scope = scope_behind(view)
    replayed: Any = freeze(start)
    for op in scope.ops:
        path = op.key[2:]
        if op.verb == "set":
            replayed = set_path(replayed, path, op.value)
        elif op.verb == "append":
            replayed = append_path(replayed, path, op.value)
        else:
            replayed = delete_path(replayed, path)
    assert thaw(replayed) == expected
    apply_writes(scope)
    assert thaw(scope.state.get("s", "v")) == expected


def test_views_are_made_without_copying() -> None:
    """Looking into a large value does not grow with it."""
    v = view_of({"big": list(range(100_000)), "x": {"y": 1}})
    assert v.x.y == 1
    assert v.big[99_999] == 99_999
    assert reads(v) == ["v.x.y", "v.big.99999"]


def test_a_view_of_a_view_variable_is_the_same_place() -> None:
    """Two views of one place see each other's changes."""
    v = view_of({"a": {"n": 1}})
    one, other = v.a, v["a"]
    one.n = 5
    assert other.n == 5
    assert one == other
