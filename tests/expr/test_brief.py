"""Promise: the time limit is left out only where it could never strike."""

from __future__ import annotations

import json
import random
import time
from typing import Any

import pytest

from saywhy.expr.brief import MAX_NAMES, MAX_SOURCE, MAX_TEXT
from saywhy.expr.names import read_expression
from saywhy.expr.outcome import FunctionAnswer
from saywhy.expr.sandbox import Limits
from saywhy.expr.worker import Worker
from saywhy.values import UNDEFINED, BigInt

from .conftest import Runner, Variables


def is_timed(
    source: str,
    values: dict[str, Any],
    functions: tuple[str, ...] = (),
    answers: tuple[FunctionAnswer, ...] = (),
) -> bool:
    """Whether the limit was on while `source` was evaluated."""
    worker = Worker(Limits())
    names = Variables(values, dict.fromkeys(functions, len))
    worker.evaluate("1 + 1", names, (), 0.0, 0, False)
    worker.evaluate(source, names, answers, 0.0, 0, False)
    return worker._sandbox.is_timed  # pyright: ignore[reportPrivateUsage] - nothing else tells it


@pytest.mark.parametrize(
    "source",
    [
        "count + 1",
        "user.roles.includes('admin') && score > 700",
        "cargo.flag ? 1 : 2",
        "user.name !== 'open'",
        "`Hi ${user.name}, you have ${count}`",
        "['a', 'b'].includes(user.name) || !user?.roles?.[0]",
        "xs.map(x => x * 2).filter((x, i) => x > i).reduce((a, b) => a + b, 0).toFixed(2)",
        "xs.some(x => x.n === count) ? Math.max(count, 2) : xs.find(x => !x)",
        "Math.max(count, 2).toFixed(2) + Number('3') + String(score)",
        "'name' in user && typeof zzz === 'undefined'",
        "user.name.trim().toLowerCase().startsWith('a') ?? null",
    ],
)
def test_conditions_and_texts_do_without(source: str) -> None:
    """What flows mostly ask has no need of the limit."""
    values = {
        "count": 1,
        "xs": [1, 2],
        "score": 710,
        "cargo": {},
        "user": {"name": "Ann", "roles": ["admin"]},
    }
    assert not is_timed(source, values)


@pytest.mark.parametrize(
    "source",
    [
        "(() => { for (;;); })()",
        "(function f() { return f() })()",
        "xs.map(x => { return x })",
        "xs.map(async x => x)",
        "xs.map(({x}) => x)",
        "xs.map((x, ...rest) => x)",
        "xs.map((x = xs.pop()) => x)",
        "xs.map(function (x) { return x })",
        "xs.map(x => y => x)",
        "xs.map(x => xs.map(y => x))",
        "xs.map(x => text.includes(x))",
        "xs.map(x => x).includes(text)",
        "xs.reduce((a, b) => [a, a], 1) + ''",
        "xs.flatMap(x => x)",
        "xs.forEach(x => x)",
        "(x => x)(count)",
        "xs.some(String)",
        "xs.reduce(Math.max)",
        "xs.join(text)",
        "xs.sort()",
        "xs.flat(9)",
        "xs.concat(xs)",
        "[...xs, ...xs]",
        "Math.max(...xs)",
        "text.repeat(1e6)",
        "text.padEnd(1e6)",
        "text.replaceAll('a', text)",
        "text.split('')",
        "text.match('(a+)+$')",
        "text.search('(a+)+$')",
        "/(a+)+$/.test(text)",
        "text.normalize()",
        "text.localeCompare('b')",
        "text.includes.call(text, 'a')",
        "text['includes']('a')",
        "text[method]('a')",
        "text.incl\\u0075des('a')",
        "String.raw`${text}`",
        "xs.at`0`",
        "Number`1`",
        "9n ** 99n",
        "BigInt(text)",
        "count ** 2n",
        "{ toString: text } + ''",
        "({ get a() { for (;;); } }).a",
        "({ toString() { for (;;); } }) + ''",
        "({ valueOf: () => { for (;;); } }) * 2",
        "({ [text]: 1 }).a",
        "({ __proto__: xs }).length",
        "new Array(1e6)",
        "new Date()",
        "Date.now()",
        "xs instanceof Array",
        "class { static { for (;;); } }",
        "text = text + text",
        "count += 1",
        "count++",
        "xs.length = 0",
        "delete xs.a",
        "(count, text)",
        "this",
        "JSON.stringify(xs)",
        "Object.keys(xs)",
        "Array.from(xs)",
        "eval(text)",
        "later(() => 1)",
        "BigInt(count)",
        "Intl.NumberFormat().format(count)",
        "count.toLocaleString()",
        "Math.random()",
        "[" + "1, " * (MAX_SOURCE // 3 + 1) + "]",
        "count" + " * count" * MAX_NAMES,
    ],
)
def test_everything_else_has_the_limit(source: str) -> None:
    """Loops, functions, callbacks, patterns, what makes texts larger, and what is not known."""
    values = {"count": 1, "text": "aaa", "xs": [1, 2], "method": "includes"}
    assert is_timed(source, values, ("later",))


@pytest.mark.parametrize(
    ("source", "values"),
    [
        ("text.indexOf('a')", {"text": "b" * (MAX_TEXT + 1)}),
        ("text.indexOf('a')", {"text": "ö" * (MAX_TEXT + 1)}),
        ("xs.indexOf('a')", {"xs": ["b" * MAX_TEXT]}),
        ("xs.includes('a')", {"xs": list(range(MAX_TEXT))}),
        ("big == 1", {"big": {"list": ["b"] * MAX_TEXT}}),
    ],
)
def test_what_is_handed_much_has_the_limit(source: str, values: dict[str, Any]) -> None:
    """A search takes as long as both texts multiplied, so no limit is left out for long ones."""
    assert read_expression(source).details.is_brief
    assert is_timed(source, values)


@pytest.mark.parametrize(
    ("answers", "wanted"),
    [
        ((), False),
        (("tea",), False),
        (([1, 2], None), False),
        (("b" * MAX_TEXT,), True),
        ((BigInt(9),), True),
        ((UNDEFINED,), True),
    ],
)
def test_approved_functions_with_short_answers_do_without(
    answers: tuple[Any, ...], wanted: bool
) -> None:
    """They only hand out what was answered, and arguments that are short."""
    told = tuple(FunctionAnswer("later", [1], answer) for answer in answers)
    assert is_timed("later(count) == later(count)", {"count": 1}, ("later",), told) is wanted
    assert is_timed("later(text)", {"text": "b" * (MAX_TEXT + 1)}, ("later",))


def test_a_bigint_that_is_handed_in_has_the_limit() -> None:
    """Numbers of any length take any time."""
    assert read_expression("big ** count").details.is_brief
    assert is_timed("big ** count", {"big": BigInt(9), "count": 2})


def test_the_limit_comes_back(run: Runner) -> None:
    """What may take long is stopped after what could not, as often as they change."""
    for _ in range(3):
        assert run.value("count + 1", {"count": 1}) == 2
        assert run.raised("(() => { for (;;); })()").kind == "TimeLimit"
        assert run.value("text.includes('b')", {"text": "abc"}) is True
        assert run.value("xs.map(x => x + 1)[0]", {"xs": [1]}) == 2


def test_memory_and_stack_are_limited_without_it(run: Runner) -> None:
    """Only the time is not looked at."""
    assert run.value("1 + 1") == 2
    deep: object = "x"
    for _ in range(150):
        deep = [deep]
    assert run.value("xs + ''", {"xs": deep}) == "x"
    assert run.raised("null.x").message == "cannot read property 'x' of null"


def worst() -> list[str]:
    """The longest that the list of what is allowed has room for."""
    half = MAX_NAMES // 2
    lists, texts = "[" + "xs," * (MAX_NAMES - 1) + "]", "[" + "s," * (MAX_NAMES - 1) + "]"
    return [
        f"{lists} + ''",
        f"{lists} == xs",
        f"{texts}.includes(t)",
        f"({texts} + '').includes(t)",
        f"({texts} + '').toUpperCase().lastIndexOf(t)",
        "`" + "${s}" * half + "`.includes(`" + "${s}" * (half - 1) + "${t}`)",
        "(s + s + s + s + s).lastIndexOf(s + s + s + s + t)",
        "[" * 200 + "xs" + "]" * 200 + " + ''",
        "xs.reduce((a, b) => a + a, 'x') > 1",
        "xs.map((a, i, as) => as + as + as + as + as + as + as + as) + ''",
        "xs.filter(a => xs == s && xs == s && xs == s && xs == s).map(a => `${xs}${xs}${xs}`)",
    ]


@pytest.mark.parametrize("source", worst())
def test_the_worst_of_it_is_short(source: str) -> None:
    """The longest operations on the longest texts end long before the limit would."""
    nested = "[" * (MAX_TEXT // 2 - 1) + "]" * (MAX_TEXT // 2 - 1)
    values = {"s": "a" * MAX_TEXT, "t": "a" * (MAX_TEXT - 1) + "b"}
    worker = Worker(Limits())
    for lists in (json.loads(nested), [1] * (MAX_TEXT // 2 - 1)):
        names = Variables({**values, "xs": lists})
        worker.evaluate(source, names, (), 0.0, 0, False)
        assert not worker._sandbox.is_timed  # pyright: ignore[reportPrivateUsage]
        assert is_soon(worker, source, names)


def is_soon(worker: Worker, source: str, names: Variables) -> bool:
    """Whether it is over before the limit would strike, at least once in three times.

    In a process with many tests behind it the collector of garbage may take longer than that.
    """
    for _ in range(3):
        started = time.thread_time()
        worker.evaluate(source, names, (), 0.0, 0, False)
        if time.thread_time() - started < Limits().seconds:
            return True
    return False


PIECES = [
    "s",
    "t",
    "xs",
    "a",
    "b",
    "n",
    "xs[0]",
    "s.length",
    "'x'",
    "1e9",
    "null",
    "undefined",
    "zz",
    "Math",
]
UNARY = ["!", "-", "+", "~", "typeof ", "void "]
BINARY = ["+", "-", "*", "/", "%", "**", "==", "===", "<", ">=", "&&", "||", "??", "<<", "in"]
BACK = [
    "{}.map(a => {})",
    "{}.reduce((a, b) => {}, 1)",
    "{}.filter((a, i) => {})",
    "{}.some(a => {})",
]
CALLS = ["{}.includes({})", "{}.slice({})", "{}.toFixed({})", "{}.indexOf({})", "String({}, {})"]
MORE = ["`${{{}}}${{{}}}`", "[{}, {}]", "({} ? {} : 1)", "({})?.[{}]", "{}.toUpperCase({})"]


def some(dice: random.Random, depth: int) -> str:
    """An expression of what is allowed."""
    if depth == 0:
        return dice.choice(PIECES)
    one, other = some(dice, depth - 1), some(dice, dice.randrange(depth))
    form = dice.randrange(5)
    if form == 4:
        return f"({dice.choice(BACK).format(one, other)})"
    if form == 0:
        return f"({dice.choice(UNARY)}({one}))"
    if form == 1:
        return f"(({one}) {dice.choice(BINARY)} ({other}))"
    return f"({dice.choice(CALLS + MORE).format(one, other)})"


def test_nothing_of_what_is_allowed_takes_long() -> None:
    """Whatever is put together of it, in any order, is over in a moment or is refused."""
    dice = random.Random(5)
    names = Variables({"s": "a" * MAX_TEXT, "t": "ab" * 100, "xs": [["a" * 9] * 9] * 2, "n": 7})
    worker = Worker(Limits())
    untimed = 0
    for _ in range(1500):
        source = some(dice, dice.randrange(1, 4))
        assert is_soon(worker, source, names), source
        untimed += not worker._sandbox.is_timed  # pyright: ignore[reportPrivateUsage]
    assert untimed > 500
