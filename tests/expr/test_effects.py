"""Promise: an expression changes nothing inside a variable that its reading did not foresee."""

from __future__ import annotations

from typing import Any

import pytest

from saywhy.expr.javascript import Evaluated
from saywhy.expr.names import read_expression

from .conftest import Runner

WRITES: list[tuple[str, list[tuple[Any, ...]]]] = [
    ("cargo.flag = true", [("cargo", "flag")]),
    ("cargo.a.b += 1", [("cargo", "a", "b")]),
    ("cargo['k'] ??= 1", [("cargo", "k")]),
    ("items[0].q++", [("items", 0, "q")]),
    ("delete o.c", [("o", "c")]),
    ("delete (o.c)", [("o", "c")]),
    ("o[k] = 1", [("o",)]),
    ("o[k].x = 1", [("o",)]),
    ("[a.b, c.d] = [1, 2]", [("a", "b"), ("c", "d")]),
    ("({x: a.b, ...c.d} = o)", [("a", "b"), ("c", "d")]),
    ("(() => { for (a.b of [1]); })()", [("a", "b")]),
    ("xs.push(4)", [("xs",)]),
    ("o.list.sort()", [("o", "list")]),
    ("xs['push'](1)", [("xs",)]),
    ("xs[m](1)", [("xs",)]),
    ("(a || b).push(1)", [("a",), ("b",)]),
    ("(ok ? a.l : b.l).pop()", [("a", "l"), ("b", "l")]),
    ("xs.sort().reverse()", [("xs",)]),
    ("when.setHours(3)", [("when",)]),
    ("Object.assign(o, p)", [("o",)]),
    ("Object.defineProperty(o, 'x', {value: 1})", [("o",)]),
    ("Array.prototype.push.call(xs, 1)", [("xs",)]),
    ("o.list.find(x => x.q).n.push(1)", [("o", "list")]),
    ("xs.filter(x => x)[0].q = 1", [("xs",)]),
    ("(u => { u.x = 1 })(user)", [("user",)]),
    ("(() => { const u = user; u.x = 1 })()", [("user",)]),
    ("items.forEach(i => i.q = 1)", [("items",)]),
    ("({a: user}).a.x = 1", [("user",)]),
    ("[user][0].x = 1", [("user",)]),
    ("check(user, 1)", [("user",)]),
    ("check(user.address)", [("user", "address")]),
    ("check({user})", [("user",)]),
    ("check(...xs)", [("xs",)]),
    ("items.map(check)", [("items",)]),
    ("Array.from(items, check)", [("items",)]),
    ("[1].forEach(xs.push, xs)", [("xs",)]),
    ("[1].forEach([].push, xs)", [("xs",)]),
    ("Array.from([1], ''.constructor['push'], xs)", [("xs",)]),
    ("Function.prototype.call.call([].push, xs, 1)", [("xs",)]),
    ("(x = user).n = 1", [("user",)]),
    ("Object.assign(...[user, o])", [("o",), ("user",)]),
    ("o.constructor.assign(o, p)", [("o",)]),
    ("(o.constructor.assign)(o, p)", [("o",)]),
    ("(() => { const {assign: f} = Object; f(o) })()", [("o",)]),
    ("[1].fill(o)[0].c = 5", [("o",)]),
    ("Object(o).c = 4", [("o",)]),
    ("new Object(o).c = 4", [("o",)]),
    ("Array(o)[0].c = 4", [("o",)]),
    ("new (function () { return o })().c = 5", [("o",)]),
    ("({get f() { return o }}).f.c = 3", [("o",)]),
    ("[1].map(() => o)[0].c = 5", [("o",)]),
    ("JSON.parse('1', () => o).c = 4", [("o",)]),
]

THROUGH_ANOTHER = [
    "a = o, a.c = 4",
    "(a ??= o, a.c = 4)",
    "(() => { [a] = [o]; a.c = 4 })()",
    "(() => { for (a of [o]) a.c = 4 })()",
    "(p.u = o, p.u.c = 4)",
    "([p.u = o] = [], p.u.c = 4)",
    "(p[k] = o, p.name.c = 4)",
    "(xs.push(o), xs.at(-1)).c = 4",
    "(xs.splice(0, 0, o), xs[0].c = 4)",
    "xs.fill(o)[0].c = 4",
    "Object.assign(p, {z: o}).z.c = 4",
    "(p.u = q, q.v = o, p.u.v.c = 4)",
]

NOTHING = [
    "user.name",
    "[...xs].sort()",
    "xs.slice().reverse()",
    "xs.map(x => x * 2).sort()",
    "xs.filter(Boolean).pop()",
    "Object.keys(o).sort()",
    "Object.assign({}, o)",
    "'a,b'.split(',').pop()",
    "({a: 1}).a = 2",
    "Math.max.apply(null, xs)",
    "Object.prototype.hasOwnProperty.call(o, 'a')",
    "JSON.stringify(o)",
    "Number(n) + parseInt(s)",
    "cargo.sort === 'up'",
    "xs.toSorted()",
    "s.replace(/a/g, 'b')",
    "new Set(xs).add(1)",
    "Object.assign({}, o, p)",
    "((a, b) => a + b)(o.c, p.u)",
    "xs.reduce((sum, x) => sum + x, start)",
]


@pytest.mark.parametrize(("source", "expected"), WRITES)
def test_writes(source: str, expected: list[tuple[Any, ...]]) -> None:
    """The paths that may change: exact where they are written down, the variable where not."""
    assert list(read_expression(source).writes) == expected


@pytest.mark.parametrize("source", THROUGH_ANOTHER)
def test_what_was_put_into_a_variable_is_changed_through_it(source: str, run: Runner) -> None:
    """A value that is part of two variables stays changed in both."""
    values = {"o": {"c": 1}, "p": {}, "q": {}, "xs": [1], "k": "name", "a": None}
    found = run(source, values)
    assert isinstance(found, Evaluated)
    assert ("o", "c") in [change.path for change in found.changes]


@pytest.mark.parametrize("source", NOTHING)
def test_no_writes(source: str) -> None:
    """What changes only what it has just made changes no variable."""
    assert read_expression(source).writes == ()


def test_what_a_function_gives_back_is_its_own() -> None:
    """Changing the result of a host's function changes only what was handed to it, if at all."""
    assert read_expression("shout(o).list.push(1)").writes == (("o",),)
    assert read_expression("shout().list.push(1)").writes == ()


def test_any_variable_may_be_behind_a_local_name() -> None:
    """A change through a parameter counts for every variable of the expression."""
    reading = read_expression("(p => { p.x = user.n })(flag ? user : other)")
    assert set(reading.writes) == {("user",), ("flag",), ("other",)}
