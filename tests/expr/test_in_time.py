"""Promise: what neither loops nor calls ends in time as well, with the value it has anyhow."""

from __future__ import annotations

import time
from typing import Any

import pytest

from .conftest import Runner

LONG_TEXT = "'1'.repeat(4e6)"
MANY_KEYS = "Object.fromEntries(Array.from({length: 3e4}, (_, i) => ['k' + i, i]))"
LONG_CHAIN = "Array(5e4).fill().reduce(o => Object.create(o), {})"
WITHOUT_LOOPS = [
    ("(s => [" + "+s," * 3000 + "])", LONG_TEXT),
    ("(s => " + "+s<" * 3000 + "1)", LONG_TEXT),
    ("(s => {" + "+s;" * 3000 + "})", LONG_TEXT),
    ("(s => {" + "if(s>1);" * 1100 + "})", LONG_TEXT),
    ("(s => `" + "${s>1}" * 1500 + "`)", LONG_TEXT),
    ("(s => (" + "isNaN(s)," * 1000 + "1))", LONG_TEXT),
    ("(o => (" + "{...o}," * 1300 + "1))", MANY_KEYS),
    ("(o => (" + "({...o})," * 1100 + "1))", MANY_KEYS),
    ("(o => (" + "({...k}=o)," * 800 + "1))", MANY_KEYS),
    ("(o => (" + "o.x," * 2400 + "1))", LONG_CHAIN),
    ("(a => (" + "a+''," * 1900 + "1))", "new Float64Array(1e4).fill(1 / 3)"),
]


@pytest.mark.parametrize(("function", "argument"), WITHOUT_LOOPS)
def test_thousands_of_operations_without_a_loop(run: Runner, function: str, argument: str) -> None:
    """An expression looks at the clock also where it neither loops nor calls."""
    started = time.process_time()
    raised = run.raised(f"(k => {function})()({argument})")
    assert raised.kind == "TimeLimit"
    assert time.process_time() - started < 1.5


HEAVY = [
    f"Array(1e5).fill({LONG_TEXT}).filter(isNaN)",
    f"Array(1e5).fill({LONG_TEXT}).forEach(Number)",
    f"Array(1e5).fill({LONG_TEXT}).forEach(Number.parseFloat)",
    f"Array(1e5).fill({LONG_TEXT}).forEach(escape)",
    f"Array(1e5).fill({LONG_TEXT}).forEach(JSON.parse)",
    f"Array(1e5).fill({LONG_TEXT}).forEach(Set.prototype.add, new Set())",
    f"Array(1e5).fill({LONG_TEXT}).forEach(Map.prototype.get, new Map())",
    f"Array(1e5).fill({MANY_KEYS}).forEach(Object.keys)",
    f"Array(1e5).fill({MANY_KEYS}).forEach(Object.freeze)",
    f"(o => Array(1e5).fill(o).filter(Object.prototype.isPrototypeOf, o))({LONG_CHAIN})",
    "Array(1e5).fill(1).forEach([].indexOf, Array(1e6).fill(2))",
    "Array(1e5).fill(1).forEach([].indexOf, new Float64Array(1e6))",
]


@pytest.mark.parametrize("source", HEAVY)
def test_a_slow_function_as_a_callback(run: Runner, source: str) -> None:
    """The engine's own functions count what they take, whoever calls them."""
    started = time.process_time()
    assert run.raised(source).kind == "TimeLimit"
    assert time.process_time() - started < 1.5


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("(() => { let a = 1\n" + "a.x;" * 30 + "a.y\na.z\nreturn a })()", 1),
        ("[" + "user?.zip?.[0]?.(1 * 2)," * 20 + "delete user.zip, typeof zzz]", None),
        ("((a, b) => [" + "a*b*(a+b)*2n," * 20 + "].map(Number).at(-1))(3n, 2n)", 60),
        ("(() => { try { null.x } catch { return [" + "2*3," * 20 + "][19] } })()", 6),
        ("String(a => [" + "a.x," * 20 + "])", "a => [" + "a.x," * 20 + "]"),
        ("[new Number(5) + 1, Number(), Number('7'), Number(2n), typeof Number(null)]", None),
        ("new (class extends Number { twice() { return this * 2 } })(4).twice()", 8),
        (
            "Number.parseInt === parseInt && (5).constructor === Number && 5 instanceof Number",
            False,
        ),
        ("[new Map([[1, 2]]).get(1), new Set().add('x'.repeat(2000)).size].join()", "2,1"),
    ],
)
def test_looks_at_the_clock_change_nothing(run: Runner, source: str, expected: Any) -> None:
    """A long expression has the value that it has without them."""
    value = run.value(source, {"user": {"zip": None}})
    assert expected is None or value == expected
