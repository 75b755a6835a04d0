"""Promise: what an expression reads, writes and calls is known from its text."""

from __future__ import annotations

from typing import Any

import pytest

from saywhy.expr.names import JAVASCRIPT_GLOBALS, RESERVED_GLOBALS, read_expression

READS: list[tuple[str, list[tuple[Any, ...]]]] = [
    ("count + 1", [("count",)]),
    ("user.name", [("user", "name")]),
    ("user.address.city.trim()", [("user", "address", "city")]),
    ("user?.address?.city", [("user", "address", "city")]),
    ("items[0].price", [("items", 0, "price")]),
    ("items['first'][`second`]", [("items", "first", "second")]),
    ("items[-1]", [("items",)]),
    ("items[1.5]", [("items",)]),
    ("items.length", [("items", "length")]),
    ("user.tags.includes('a') && n > 3", [("user", "tags"), ("n",)]),
    ("user.name + user.name", [("user", "name")]),
    ("`Hi ${user.name}, ${n}`", [("user", "name"), ("n",)]),
    ("{a, b: c, [d]: e}", [("a",), ("c",), ("d",), ("e",)]),
    ("[...xs, y]", [("xs",), ("y",)]),
    ("typeof maybe === 'undefined'", [("maybe",)]),
    ("f(x)", [("x",)]),
    ("o.method(x)", [("o",), ("x",)]),
    ("new Date(iso)", [("iso",)]),
    ("f`a${b}c`", [("b",)]),
    ("x ? y : z", [("x",), ("y",), ("z",)]),
    ("naïve + $cash + _x", [("naïve",), ("$cash",), ("_x",)]),
    ("\\u0061bc", [("abc",)]),
    ("cargo.n += 1", [("cargo", "n")]),
    ("cargo.n = 1", []),
    ("undefined ?? NaN", []),
    ("/user/.test('user')", []),
    ("'user.name'", []),
    ("user.name // user.age", [("user", "name")]),
]

LOCAL_NAMES = [
    "(a => a + 1)(1)",
    "((a, {b, c: [d]}, ...e) => a + b + d + e.length)(1, {b: 1, c: [2]}, 3)",
    "(({a = 1}) => a)({})",
    "(() => { const a = 1; let {b} = {b: 2}, [c] = [3]; return a + b + c })()",
    "(() => { for (const a of [1]) { a } for (let i = 0; i < 1; i++) { i } })()",
    "(() => { for (var k in {}) {} return k })()",
    "(() => { try { throw 1 } catch (e) { return e } })()",
    "(() => { try { throw {m: 1} } catch ({m}) { return m } })()",
    "(function f(n) { return n ? f(n - 1) : arguments.length })(3)",
    "(() => { function g() { return h() } function h() { return 1 } return g() })()",
    "(() => { class A { static b(c) { return c } } return A.b(1) })()",
    "(() => { if (true) { var v = 1 } return v })()",
    "(() => { label: for (;;) break label })()",
    "(async a => await a)(1)",
    "(function* (a) { yield a })(1)",
    "({method(p) { return p }, get x() { return 1 }}).method(1)",
]


@pytest.mark.parametrize(("source", "expected"), READS)
def test_reads(source: str, expected: list[tuple[Any, ...]]) -> None:
    """The paths that are read, each once, in the order of the text."""
    assert list(read_expression(source).reads) == expected


@pytest.mark.parametrize("source", LOCAL_NAMES)
def test_names_of_the_expression_itself_are_not_free(source: str) -> None:
    """Parameters, local variables and labels are nobody's variables."""
    reading = read_expression(source)
    assert reading.error is None
    assert not reading.roots - JAVASCRIPT_GLOBALS
    assert reading.reads == ()


@pytest.mark.parametrize(
    ("source", "free"),
    [
        ("(a => a + b)(c)", {"b", "c"}),
        ("((a, b = a + d) => b)(1)", {"d"}),
        ("(({[k]: v = w}) => v)(o)", {"k", "w", "o"}),
        ("(() => { { let inner = 1 } return inner })()", {"inner"}),
        ("(() => { try {} catch (e) {} return e })()", {"e"}),
        ("xs.map(x => y => x + y + z)", {"xs", "z"}),
        ("(x => x)(x)", {"x"}),
        ("(() => { for (const i of is) i; return i })()", {"is", "i"}),
    ],
)
def test_what_is_outside_of_a_scope_is_free(source: str, free: set[str]) -> None:
    """A name counts as free where no scope around it declares it."""
    assert read_expression(source).roots == free


def test_called_names() -> None:
    """Free names that are called are told apart from those whose value is read."""
    reading = read_expression("shout(name) + o.m(parseInt(n)) + tag`x`")
    assert reading.calls == ("shout", "parseInt", "tag")
    assert reading.reads == (("name",), ("o",), ("n",))
    assert reading.roots == {"shout", "name", "o", "parseInt", "n", "tag"}


@pytest.mark.parametrize(
    ("source", "exact"),
    [("user.name", True), ("user[k]", False), ("user.a[b].c", False), ("(u => u[k])(user)", True)],
)
def test_dynamic_access_makes_reads_an_upper_bound(source: str, exact: bool) -> None:
    """A computed key leaves open which part of a variable is read."""
    assert read_expression(source).exact is exact


@pytest.mark.parametrize(
    ("source", "assigned"),
    [("x = 5", ("x",)), ("x++, y += 1", ("x", "y")), ("[a, b] = [b, a]", ("a", "b"))],
)
def test_assigned_names(source: str, assigned: tuple[str, ...]) -> None:
    """Bare names that are assigned are reported, for a warning."""
    reading = read_expression(source)
    assert reading.assigns == assigned
    assert reading.writes == ()


def test_assigning_a_local_name_is_no_assignment() -> None:
    """A variable of the expression itself may be assigned without a word."""
    assert read_expression("(() => { let t = 0; t += 1; return t })()").assigns == ()


def test_the_same_text_gives_the_same_reading() -> None:
    """Readings are remembered."""
    assert read_expression("remembered + 1") is read_expression("remembered + 1")


@pytest.mark.parametrize(
    "source",
    [
        "(async () => 1)()",
        "({ async * m() { yield 1 } }).m()",
        "(class { static /**//**//**//**/ async m() { await 1 } }).m()",
        "({ /**/ async /**//**//**//**/ m() { for await (const x of []); } }).m()",
    ],
)
def test_async_functions_are_seen(source: str) -> None:
    """A function is known to be async wherever the word stands, with comments around it."""
    reading = read_expression(source)
    assert reading.error is None
    assert reading.details.is_async


def test_reserved_names_are_globals() -> None:
    """What nobody may shadow is part of what JavaScript brings along."""
    assert RESERVED_GLOBALS < JAVASCRIPT_GLOBALS
    assert {"parseInt", "encodeURIComponent", "undefined", "Map"} < JAVASCRIPT_GLOBALS
    assert not {"eval", "Proxy", "Reflect", "globalThis", "Promise"} & JAVASCRIPT_GLOBALS


def test_a_deeply_nested_expression_is_read() -> None:
    """Nesting is limited by the length of the text alone, not by the depth of our own calls."""
    assert read_expression("(" * 4000 + "deep" + ")" * 4000).reads == (("deep",),)
    assert len(read_expression("+".join(["n"] * 4000)).reads) == 1
    assert read_expression("f(" * 1500 + "x" + ")" * 1500).calls == ("f",)
