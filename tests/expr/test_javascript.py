"""Promise: an expression gives what strict-mode JavaScript gives, and says what it read and did."""

from __future__ import annotations

import math
from typing import Any

import pytest

from saywhy.expr.javascript import (
    Change,
    Evaluated,
    Foreign,
    JavaScript,
)
from saywhy.values import UNDEFINED, BigInt, Date, freeze, same

from .conftest import Runner, Variables

USER = {"name": "Ann", "age": 41, "tags": ["a", "b"], "address": {"city": "Bern"}}


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("count + 1", 2),
        ("user.name.toUpperCase()", "ANN"),
        ("user.tags.map(t => t + '!')", ["a!", "b!"]),
        ("{a: 1, ...user.address}", {"a": 1, "city": "Bern"}),
        ("(1, 2)", 2),
        ("user?.nope?.deeper", UNDEFINED),
        ("user.nope ?? 'none'", "none"),
        ("typeof nope", "undefined"),
        ("nothing", None),
        ("missing", UNDEFINED),
        ("user.tags.length + user.name.length", 5),
        ("`${user.name} (${user.age})`", "Ann (41)"),
        ("'x' in user", False),
        ("user.name in {Ann: 1}", True),
        ("user[key]", "Ann"),
        ("(({name, ...rest}) => Object.keys(rest).length)(user)", 3),
        ("user.name // the name", "Ann"),
        ("[1,2,3].at(-1)", 3),
        ("this", UNDEFINED),
        ("BigInt(new Date(5))", BigInt(5)),
        ("BigInt({valueOf() { return '7' }})", BigInt(7)),
        ("BigInt({[Symbol.toPrimitive](hint) { return hint === 'number' ? 3 : 4 }})", BigInt(3)),
        ("(x => {label: x})(1)", UNDEFINED),
        ("(x => {a: 1, x})(1)", UNDEFINED),
        ("new Set([1, 1]).size", 1),
        ("user.hasOwnProperty('name')", True),
        ("user.constructor === Object", True),
        ("user.tags.constructor.name", "Array"),
        ("user.toString()", "[object Object]"),
    ],
)
def test_values(run: Runner, source: str, expected: Any) -> None:
    """Values come out with their JavaScript type."""
    names = {"count": 1, "user": USER, "nothing": None, "missing": UNDEFINED, "key": "name"}
    assert same(run.value(source, names), freeze(expected))


@pytest.mark.parametrize(
    ("source", "kind", "message"),
    [
        ("nope", "ReferenceError", "nope is not defined"),
        ("nope.x", "ReferenceError", "nope is not defined"),
        ("user.nope.x", "TypeError", "cannot read property 'x' of undefined"),
        ("nothing.x", "TypeError", "cannot read property 'x' of null"),
        ("missing.x", "TypeError", "cannot read property 'x' of undefined"),
        ("user.name()", "TypeError", "not a function"),
        ("user.nope()", "TypeError", "not a function"),
        ("nope = 1", "ReferenceError", "nope is not defined"),
        ("(() => { throw new RangeError('far') })()", "RangeError", "far"),
        ("(() => { throw 5 })()", "Number", "5"),
        ("(() => { throw {a: 1} })()", "Object", '{"a":1}'),
        ("(() => { throw null })()", "null", "null"),
        ("(f => f(f))(f => f(f))", "RangeError", "Maximum call stack size exceeded"),
        ("Symbol() + 1", "TypeError", "cannot convert symbol to number"),
    ],
)
def test_errors(run: Runner, source: str, kind: str, message: str) -> None:
    """What JavaScript throws is told by the name of its constructor and its message."""
    raised = run.raised(source, {"user": USER, "nothing": None, "missing": UNDEFINED})
    assert (raised.kind, raised.message, raised.phase) == (kind, message, "run")


@pytest.mark.parametrize(
    "source",
    [
        *("'abc'.includes(S)", "'abc'.lastIndexOf(S)", "'abc'.match(S)", "'abc'.search(S)"),
        *("'abc'.replaceAll(S, 'x')", "'abc'.split(S)", "'abc'.localeCompare(S)"),
        *("''.padEnd.call(S, 30)", "''.repeat.call(S, 2)", "''.normalize.call(S)"),
        *("''.toLocaleUpperCase.call(S)", "/a/.test(S)", "new RegExp(S)", "[S, 'a'].sort()"),
        *("String.raw`${S}`", "String.raw({raw: [S]})", "Date.parse(S)", "`${S}`", "'' + S"),
        "new Intl.Collator().compare(S, 'a')",
    ],
)
def test_a_symbol_is_no_text(run: Runner, source: str) -> None:
    """Also where a method has bounds of ours; `String` alone tells its name."""
    assert run.raised(f"(S => {source})(Symbol.iterator)").kind == "TypeError"
    assert run.value("String(Symbol('s'))") == "Symbol(s)"


def test_syntax_errors_are_told_before_anything_runs(run: Runner) -> None:
    """A text that is no expression raises in phase `parse`, with a place and a hint."""
    raised = run.raised("a; b")
    assert (raised.kind, raised.phase, raised.span) == ("SyntaxError", "parse", (1, 2))
    assert raised.hint == "join two expressions with a comma; the last one is the result"


@pytest.mark.parametrize("source", ["a ?? b || c", "({a: 1, a() {} }", "x => { 'use strict'; 08 }"])
def test_the_engine_has_the_last_word_about_syntax(run: Runner, source: str) -> None:
    """What the parser lets pass and JavaScript does not is a syntax error all the same."""
    raised = run.raised(source, {"a": 1, "b": 2, "c": 3})
    assert (raised.kind, raised.phase) == ("SyntaxError", "parse")


@pytest.mark.parametrize(
    ("source", "pointed"),
    [
        ("1 + nope", "nope"),
        ("'é😀' + nope", "nope"),
        ("user.nope.x", "user.nope"),
        ("user.name.nope.x", "user.name"),
        ("1 +\n  user.address.city.nope.x", "user.address.city"),
        ("user.name.x()", "x"),
        ("user.tags.map(t => t.y.z)", "t"),
        ("(() => { throw new Error('a') })()", "Error"),
    ],
)
def test_errors_have_a_place(run: Runner, source: str, pointed: str) -> None:
    """The span of an error points into the author's text, whatever was compiled instead."""
    span = run.raised(source, {"user": USER}).span
    assert span is not None
    assert source[slice(*span)] == pointed


# ------------------------------------------------------------------ reads


@pytest.mark.parametrize(
    ("source", "reads", "exact"),
    [
        ("user.name + count", [("user", "name"), ("count",)], True),
        ("user[key]", [("user",), ("key",)], False),
        ("typeof nope", [], True),
        ("shout(count)", [("count",)], True),
        ("user.nope", [("user", "nope")], True),
        ("Math.max(count, 1)", [("count",)], True),
    ],
)
def test_reads(run: Runner, source: str, reads: list[Any], exact: bool) -> None:
    """The outcome names the paths of variables that were read; other names are not among them."""
    names = {"user": USER, "count": 1, "key": "name"}
    outcome = run(source, names, {"shout": lambda value: value})
    assert isinstance(outcome, Evaluated)
    assert (list(outcome.reads), outcome.exact) == (reads, exact)


def test_errors_name_what_was_read(run: Runner) -> None:
    """What led to an error is known as well."""
    assert run.raised("user.age.x.y", {"user": USER}).reads == (("user", "age", "x", "y"),)


def test_only_what_is_read_is_asked_for() -> None:
    """A path is looked up, never the variable it lies in."""
    names = Variables({"user": USER, "other": {"big": ["x"] * 1000}})
    assert JavaScript().evaluate("user.address.city + '!'", names) == Evaluated(
        "Bern!", (("user", "address", "city"),)
    )
    assert names.asked == [("user", "address", "city")]


def test_a_missing_leaf_does_not_hand_over_its_parent() -> None:
    """Where only the last key is missing the value is undefined; the parent is not copied."""
    names = Variables({"cargo": {"big": ["x"] * 1000}})
    engine = JavaScript()
    assert engine.evaluate("cargo.flag ? 1 : 2", names).value == 2
    assert engine.evaluate("cargo.flag?.a.b.c", names).value is UNDEFINED
    assert engine.evaluate("cargo?.flag", names).value is UNDEFINED
    assert engine.evaluate("cargo.big.length", names).value == 1000


# ---------------------------------------------------------------- changes


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("cargo.flag = true", [Change(("cargo", "flag"), True)]),
        ("cargo.n += 5", [Change(("cargo", "n"), 6)]),
        ("cargo.n = 1", []),
        ("cargo.a.b = {c: 1}", [Change(("cargo", "a", "b"), freeze({"c": 1}))]),
        ("delete cargo.n", [Change(("cargo", "n"), UNDEFINED, deleted=True)]),
        ("cargo.list.push('z')", [Change(("cargo", "list", 2), "z")]),
        ("(cargo.list.pop(), cargo.n++)", 2),
        ("list.sort()", [Change(("list",), freeze([1, 2, 3]))]),
        ("list.length = 0", [Change(("list",), freeze([]))]),
        ("(l => l.push(9))(list)", [Change(("list", 3), 9)]),
        ("cargo.x = undefined", [Change(("cargo", "x"), UNDEFINED)]),
        ("cargo.when = new Date(0)", [Change(("cargo", "when"), Date(0))]),
        ("when.setTime(5)", [Change(("when",), Date(5))]),
        ("cargo['toString'] = 1", [Change(("cargo", "toString"), 1)]),
        ("count = 5", []),
        ("cargo = {x: 1}", []),
        ("(cargo = {x: 1}, cargo.x = 2)", []),
        ("Object.assign(cargo, {n: 2})", [Change(("cargo", "n"), 2)]),
        ("[...list].sort()", []),
    ],
)
def test_changes(run: Runner, source: str, expected: Any) -> None:
    """What changed inside a variable is told, as far inside as it can be placed."""
    names = {
        "cargo": {"n": 1, "a": {}, "list": ["x", "y"], "other": 1},
        "list": [3, 1, 2],
        "count": 1,
        "when": Date(0),
    }
    outcome = run(source, names)
    assert isinstance(outcome, Evaluated)
    if isinstance(expected, int):
        assert len(outcome.changes) == expected
    else:
        assert list(outcome.changes) == expected


def test_variables_themselves_never_change(run: Runner) -> None:
    """An expression works on copies: the frozen value it came from stays as it is."""
    names = Variables({"list": [3, 1, 2]})
    JavaScript().evaluate("list.sort()", names)
    assert same(names.get(("list",)), freeze([3, 1, 2]))
    assert JavaScript().evaluate("list", names).value == freeze([3, 1, 2])


def test_a_large_variable_changed_in_one_place_is_not_handed_over() -> None:
    """Assigning one key of an object needs nothing else of it."""
    names = Variables({"cargo": {"n": 1, "big": 2**60}})
    outcome = JavaScript().evaluate("cargo.n = cargo.n + 1", names)
    assert outcome == Evaluated(2, (("cargo", "n"),), changes=(Change(("cargo", "n"), 2),))


def test_what_cannot_be_kept_is_refused(run: Runner) -> None:
    """A variable holds data; putting a function into one is an error that names the place."""
    raised = run.raised("cargo.f = () => 1", {"cargo": {}})
    assert raised.kind == "TypeError"
    assert raised.message == '"cargo.f" cannot hold a function: a conversation keeps only data'


# ------------------------------------------------------------------- text


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("'a'", "a"),
        ("5", "5"),
        ("n", "5"),
        ("n / 2", "2.5"),
        ("0.1 + 0.2", "0.30000000000000004"),
        ("-0", "0"),
        ("1 / 0", "Infinity"),
        ("0 / 0", "NaN"),
        ("1e21", "1e+21"),
        ("true", "true"),
        ("null", "null"),
        ("undefined", "undefined"),
        ("user.nope", "undefined"),
        ("user.name", "Ann"),
        ("user.tags", '["a","b"]'),
        ("{a: [1, null], b: undefined}", '{"a":[1,null]}'),
        ("[new Date(0)]", '["1970-01-01T00:00:00.000Z"]'),
        ("12n", "12"),
        ("new Map([[1, 2]])", "{}"),
        ("x => x + 1", "x => x + 1"),
        ("Symbol('s')", "Symbol(s)"),
        ("/a/g", "{}"),
        ("shout('a')", "A"),
        ("{a: shout('a')}", '{"a":"A"}'),
        (
            "(user.name = 'B', user)",
            '{"name":"B","age":41,"tags":["a","b"],"address":{"city":"Bern"}}',
        ),
    ],
)
def test_text(run: Runner, source: str, expected: str) -> None:
    """With `text` the value is what a message shows of it."""
    outcome = run(source, {"user": USER, "n": 5}, {"shout": str.upper}, text=True)
    assert isinstance(outcome, Evaluated), outcome
    assert outcome.value == expected


# ---------------------------------------------------- values in and out


@pytest.mark.parametrize(
    ("source", "kind", "data", "text"),
    [
        ("() => 1", "function", None, "() => 1"),
        ("Symbol('s')", "symbol", None, "Symbol(s)"),
        ("/a/gi", "regexp", None, "/a/gi"),
        ("new Map([['a', [1]]])", "map", [["a", [1]]], "[object Map]"),
        ("new Set([1, 'a'])", "set", [1, "a"], "[object Set]"),
        ("new TypeError('no')", "error", None, "no"),
        ("new Uint8Array(2)", "bytes", None, ""),
        ("(async () => 1)()", "promise", None, "[object Promise]"),
    ],
)
def test_what_no_conversation_can_hold(
    run: Runner, source: str, kind: str, data: Any, text: str
) -> None:
    """Such a result can be looked at, and says what it is; also where it lies inside another."""
    outcome = run(source)
    assert isinstance(outcome, Evaluated)
    assert outcome.value == Foreign(kind, data, text)
    assert outcome.foreign == kind
    inside = run(f"[1, {{a: {source}}}]")
    assert isinstance(inside, Evaluated)
    assert inside.foreign == kind
    assert inside.value[1]["a"] == Foreign(kind, data, text)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("new String('x')", "x"),
        ("new Number(5)", 5),
        ("new Boolean(false)", False),
        ("new (class { constructor() { this.a = 1 } })()", {"a": 1}),
        ("Object.create(null)", {}),
        ("[1,,3]", [1, UNDEFINED, 3]),
        ("{get a() { return 1 }}", {"a": 1}),
        ("{[Symbol()]: 1, a: 2}", {"a": 2}),
        ("{toJSON() { return 5 }}", None),
    ],
)
def test_odd_objects(run: Runner, source: str, expected: Any) -> None:
    """Boxed values come out as what they hold, instances as their fields."""
    value = run.value(source)
    if expected is None:
        assert value["toJSON"].kind == "function"
    else:
        assert same(value, freeze(expected))


def test_what_contains_itself_is_no_value(run: Runner) -> None:
    """A cycle, or nesting without end, is an error."""
    raised = run.raised("(() => { const a = []; a.push(a); return a })()")
    assert raised.kind == "RangeError"
    assert raised.message == "the value is nested deeper than 200 levels, or contains itself"


def test_large_whole_numbers_are_refused_by_name(run: Runner) -> None:
    """A whole number that JavaScript would round raises where it is read, and only there."""
    names = {"big": 2**53 + 1, "order": {"id": -(2**60), "n": 1, "deep": [{"x": 10**30}]}}
    raised = run.raised("big + 1", names)
    assert raised.kind == "RangeError"
    assert raised.message == '"big" is a whole number too large for JavaScript to read exactly'
    assert raised.hint == "keep it as text"
    assert run.raised("order.id", names).message.startswith('"order.id" is a whole number too')
    assert "too large" in run.raised("order[k]", {**names, "k": "id"}).message
    assert "too large" in run.raised("JSON.stringify(order)", names).message
    assert "too large" in run.raised("{...order}", names).message
    assert "too large" in run.raised("order.deep.map(d => d.x)", names).message
    assert run.value("order.n + 1", names) == 2
    assert run.value("Object.keys(order).length", names) == 3


def test_large_whole_numbers_pass_through_untouched(run: Runner) -> None:
    """An expression that hands one on, or changes something beside it, does not touch it."""
    names = {"order": {"id": 2**60, "deep": [{"x": 10**30}], "n": 1}}
    assert same(run.value("order", names), freeze(names["order"]))
    assert same(run.value("[order][0]", names), freeze(names["order"]))
    outcome = run("(o => { o.n = 2; return o.n })(order)", names)
    assert isinstance(outcome, Evaluated)
    assert list(outcome.changes) == [Change(("order", "n"), 2)]
    assert run.value("9007199254740992") == 2**53
    assert isinstance(run.value("2 ** 53 + 2"), float)


def test_numbers_keep_their_kind(run: Runner) -> None:
    """Whole numbers come out as int as far as they are exact; -0, NaN and Infinity survive."""
    assert run.value("2.5 * 2") == 5
    assert type(run.value("2.5 * 2")) is int
    assert type(run.value("2 ** 40")) is int
    assert str(run.value("-0")) == "-0.0"
    assert math.isnan(run.value("NaN"))
    assert run.value("-1/0") == -math.inf
    assert run.value("x + 1", {"x": 2**31 - 1}) == 2**31
    assert run.value("x", {"x": 2**40 + 5}) == 2**40 + 5
    assert run.value("[x][0] === 1099511627781", {"x": 2**40 + 5}) is True
    assert run.value("BigInt(x)", {"x": 7}) == BigInt(7)


def test_odd_characters_in_the_text_itself(run: Runner) -> None:
    """Half a surrogate pair in a text of the expression is kept; a NUL outside is a mistake."""
    assert run.value("'a\ud800' + \"b\udc00\"") == "a\ud800b\udc00"
    assert run.value("'a\u2028b'") == "a\u2028b"
    assert run.raised("1 \0").kind == "SyntaxError"


def test_async_functions_leave_nothing_behind(run: Runner) -> None:
    """What an async function would do later is never done, in this evaluation or another."""
    run("(async () => { await 1; cargo.x = 1 })()", {"cargo": {}})
    assert run.value("[1, 2].length") == 2
