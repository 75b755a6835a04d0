"""Promise: a stage's view notes what is looked at, turns writes into operations, and goes stale."""

from __future__ import annotations

from typing import Any

import pytest

from saywhy.chart.cursor import Cursor, Frame
from saywhy.chart.model import Chart, Charts, Node
from saywhy.chart.scope import Scope, Suspend
from saywhy.chart.view import Env, Over, Sight, View, interrupt, key_of, sight_of
from saywhy.errors import CallerError, ChartError, RunError, StateValueError
from saywhy.values import UNDEFINED, freeze

NODE = Node("work", "stage")
CHART = Chart.of("c", [NODE])


def view_of(variables: dict[str, Any], args: dict[str, Any] | None = None, **keys: Any) -> View:
    cursor = Cursor([Frame(1, CHART.digest, "c", "work", "s")])
    cursor.state.scopes["s"] = {name: freeze(value) for name, value in variables.items()}
    cursor.state.scopes["args"] = {name: freeze(value) for name, value in (args or {}).items()}
    scope = Scope(cursor, cursor.state, cursor.top, CHART, NODE, Charts([CHART]))
    return View(Sight(scope, "s", Env({"model": 42}), **keys))


def reads(s: View) -> list[str]:
    return [".".join(str(part) for part in key[1:]) for key in sight_of(s).scope.reads]


def ops(s: View) -> list[tuple[Any, ...]]:
    return [(op.verb, *op.key[1:], op.value) for op in sight_of(s).scope.ops]


def test_attributes_and_items_are_the_same() -> None:
    """A variable is read, written and deleted either way."""
    s = view_of({"a": 1, "b": 2})
    assert (s.a, s["b"], "a" in s, "z" in s) == (1, 2, True, False)
    s.a = 3
    s["c"] = 4
    del s.b
    assert (s["a"], s.c, s.keys()) == (3, 4, ["a", "c"])
    del s["c"]
    assert ops(s) == [
        ("set", "a", 3),
        ("set", "c", 4),
        ("delete", "b", None),
        ("delete", "c", None),
    ]
    assert reads(s)[:4] == ["a", "b", "a", "z"]


def test_what_is_not_there_is_noted_and_raises() -> None:
    """A missing variable is an AttributeError or KeyError with a hint; looking is a read."""
    s = view_of({"amount": 1})
    with pytest.raises(AttributeError, match='the state has no "amuont" at stage work; did you'):
        _ = s.amuont
    with pytest.raises(KeyError, match="nothing"):
        _ = s["nothing"]
    with pytest.raises(AttributeError):
        del s.nothing
    with pytest.raises(KeyError):
        del s["nothing"]
    assert s.get("nothing", 7) == 7
    assert reads(s) == ["amuont", "nothing", "nothing", "nothing"]


def test_undefined_is_a_value() -> None:
    """A variable that holds undefined is there."""
    assert view_of({"u": UNDEFINED}).u is UNDEFINED


def test_an_assignment_of_what_is_changed_in_place_writes_once() -> None:
    """`s.list += [x]` is one append; `s.n += 1` one set."""
    s = view_of({"n": 1, "list": [1]})
    s.n += 1
    s.list += [2]
    assert ops(s) == [("set", "n", 2), ("append", "list", 2)]


def test_a_view_may_be_stored_elsewhere() -> None:
    """Assigning a view stores the value it shows, and reads it; nested in new data as well."""
    s = view_of({"a": {"x": [1]}})
    s.b = s.a
    s.c = {"inner": [s.a.x]}
    assert s.b == {"x": [1]}
    assert s.c == {"inner": [[1]]}
    assert reads(s)[:2] == ["a", "a.x"]


def test_reserved_names_are_no_variables() -> None:
    """What a view offers itself cannot be a variable's name."""
    s = view_of({})
    for name in ("args", "env", "once", "_private"):
        with pytest.raises(ChartError, match=f'"{name}" is reserved and cannot be a variable'):
            setattr(s, name, 1)


def test_a_strict_state_takes_only_its_names() -> None:
    """With named variables a misspelt one is refused, with what was meant."""
    s = view_of({}, allowed=frozenset({"amount"}))
    s.amount = 1
    with pytest.raises(ChartError, match='the state of this chart has no "amonut"') as caught:
        s.amonut = 1
    assert caught.value.hint == 'did you mean "amount"?'


def test_a_refused_value_names_its_place() -> None:
    """A live object is no state: the message names the key."""
    s = view_of({})
    with pytest.raises(StateValueError, match=r"s\.client is a object"):
        s.client = object()


def test_arguments_are_read_only_and_noted() -> None:
    """`s.args` by attribute and item; each look is a read of the argument."""
    s = view_of({}, {"text": "hi", "user": {"name": "Ada"}})
    assert s.args.text == "hi"
    assert s.args["user"]["name"] == "Ada"
    assert dict(s.args) == {"text": "hi", "user": {"name": "Ada"}}
    assert sight_of(s).scope.reads[:2] == [("args", "text"), ("args", "user")]
    with pytest.raises(AttributeError, match='the chart was not given "name"'):
        _ = s.args.name
    with pytest.raises(AttributeError):
        s.args.text = "x"
    named = view_of({}, {"keys": 1, "items": 2}).args
    assert (named.keys, named.items, named.get("none", 3), list(named)) == (
        1,
        2,
        3,
        ["keys", "items"],
    )


def test_the_environment_is_not_noted() -> None:
    """Live objects of the host leave no trace; what is not there is named."""
    s = view_of({})
    assert s.env.model == s.env["model"] == 42
    assert reads(s) == []
    with pytest.raises(AttributeError, match='the host put no "mdoel" into env'):
        _ = s.env.mdoel


def test_a_view_that_is_kept_says_so() -> None:
    """After its stage a view, and every view got from it, refuses to be used."""
    s = view_of({"a": {"x": 1}, "list": [1]})
    inner, items = s.a, s.list
    sight_of(s).scope = Over("work")  # type: ignore[assignment]
    for use in (
        lambda: s.a,
        lambda: setattr(s, "a", 1),
        lambda: inner.x,
        lambda: inner.__setitem__("x", 2),
        lambda: items.append(1),
        lambda: len(items),
        lambda: s.args.text,
    ):
        with pytest.raises(CallerError, match="used after its stage work was over") as caught:
            use()
        assert "`plain(view)` gives a copy to keep" in caught.value.hint
    assert repr(s) == "<state of a stage that is over>"


def test_interrupt_asks_and_then_gives_the_answers_in_order() -> None:
    """Each question stops the stage once; when it is run again its answer is there."""
    s = view_of({})
    with pytest.raises(Suspend) as caught:
        interrupt(s, {"question": "Who?"}, kind="approval")
    need = caught.value.need
    assert (need.kind, need.name, need.args) == ("approval", "work", {"question": "Who?"})
    s = view_of({}, answers=[{"value": "Ada"}, {"value": None, "error": "nobody there"}])
    assert interrupt(s, "Who?") == "Ada"
    with pytest.raises(RunError, match="nobody there"):
        interrupt(s, "And who else?")
    with pytest.raises(Suspend):
        interrupt(s, "And then?")


def test_once_computes_once() -> None:
    """A result is kept under its key, and computed no second time."""
    s = view_of({})
    calls: list[int] = []
    for _ in range(2):
        assert s.once("k", lambda: calls.append(1) or len(calls)) == 1
    assert sight_of(s).once == {"k": 1}


async def test_once_awaits_in_an_async_stage() -> None:
    """In an async stage both plain and async functions are awaited."""
    s = view_of({}, awaits=True)

    async def slow() -> int:
        return 5

    assert await s.once("slow", slow) == 5
    assert await s.once("slow", lambda: 6) == 5
    assert await s.once("plain", lambda: 7) == 7


def test_signals_go_to_the_listener_or_nowhere() -> None:
    """`emit` tells whoever listens; without a listener nothing happens."""
    heard: list[Any] = []
    view_of({}, emit=lambda kind, data: heard.append((kind, data))).emit("token", "Hel")
    view_of({}).emit("token", "lo")
    assert heard == [("token", "Hel")]


def test_dotted_paths() -> None:
    """A path steps into objects by name, into lists by number, and into arguments."""
    s = view_of({"items": [{"price": 3}], "codes": {"0": "zero"}})
    assert key_of(sight_of(s), "items.0.price") == ("s", "items", 0, "price")
    assert key_of(sight_of(s), "codes.0") == ("s", "codes", "0")
    assert key_of(sight_of(s), "args.text.x") == ("args", "text", "x")


def test_copying_everything_reads_everything() -> None:
    """`copy` gives plain data and notes each variable."""
    s = view_of({"a": 1, "b": [1, {"c": 2}]})
    assert s.copy() == {"a": 1, "b": [1, {"c": 2}]}
    assert type(s.copy()["b"]) is list
    assert reads(s)[:2] == ["a", "b"]
