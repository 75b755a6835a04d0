"""Promise: an expression reaches nothing outside, changes nothing that lasts, and ends in time."""

from __future__ import annotations

import subprocess
import sys
import time
from typing import Any

import pytest

from saywhy.expr.javascript import Evaluated, JavaScript, Limits, Raised
from saywhy.expr.names import JAVASCRIPT_GLOBALS
from saywhy.expr.sandbox import Sandbox, stack_share
from saywhy.values import UNDEFINED, Date, freeze, same

from .conftest import Runner, Variables

GONE = [
    *("eval", "Proxy", "Reflect", "globalThis", "Promise", "WebAssembly", "SharedArrayBuffer"),
    *("Atomics", "WeakRef", "FinalizationRegistry", "queueMicrotask", "setTimeout", "process"),
    *("require", "module", "window", "performance", "Iterator", "DOMException", "std", "os"),
    *("print", "console"),
]


@pytest.mark.parametrize("name", GONE)
def test_names_that_are_gone(run: Runner, name: str) -> None:
    """Neither the engine's own dangerous names nor those of a host exist."""
    assert run.raised(name).message == f"{name} is not defined"
    assert run.value(f"typeof {name}") == "undefined"


def test_the_names_there_are() -> None:
    """The list of JavaScript's own names is what the engine really has."""
    found = Sandbox(Limits()).context.eval("Object.getOwnPropertyNames(this).join(' ')")
    assert set(found.split()) == JAVASCRIPT_GLOBALS


@pytest.mark.parametrize(
    "source",
    [
        "Function('return 1')",
        "new Function('return 1')",
        "(() => 1).constructor('return 1')",
        "''.constructor.constructor('return 1')()",
        "(function* () {}).constructor('yield 1')",
        "(async () => 1).constructor('return 1')",
        "(async function* () {}).constructor('return 1')",
        "Object.getPrototypeOf(function () {}).constructor('1')",
        "[].map.constructor('1')()",
        "class extends Function {}.constructor('1')",
        "Object.getPrototypeOf(async function () {}).constructor`1`",
    ],
)
def test_no_code_from_text(run: Runner, source: str) -> None:
    """Constructors of functions exist by name only."""
    raised = run.raised(source)
    assert raised.kind == "EvalError"
    assert raised.message == "code cannot be made from text in expressions"


def test_functions_are_still_instances_of_function(run: Runner) -> None:
    """What is asked about functions is answered as ever."""
    assert run.value("(() => 1) instanceof Function") is True
    assert run.value("Function.name") == "Function"
    assert run.value("Function.prototype === Object.getPrototypeOf(x => x)") is True


@pytest.mark.parametrize(
    "source",
    [
        "Object.prototype.p = 1",
        "({}).__proto__.p = 1",
        "Array.prototype.map = 1",
        "Array.prototype.push.call(Object.prototype, 1)",
        "delete Array.prototype.map",
        "Math.max = 1",
        "Math.p = 1",
        "JSON.stringify = 1",
        "Object.freeze = 1",
        "Object.defineProperty(Array.prototype, '0', {value: 1})",
        "Object.setPrototypeOf(Object.prototype, {})",
        "Object.prototype.toString = 1",
        "Error.prototype.message = 1",
        "Error.prepareStackTrace = 1",
        "Error.stackTraceLimit = 1",
        "[][Symbol.iterator]().__proto__.next = 1",
        "new Map().__proto__.get = 1",
        "/a/.__proto__.exec = 1",
        "(function () {}).__proto__.call = 1",
        "(function* () {}).prototype.__proto__.next = 1",
        "Date.now = 1",
        "RegExp.prototype.test = 1",
        "Symbol.prototype.p = 1",
        "undefined = 1",
        "Math = 1",
        "Intl.p = 1",
        "Intl.NumberFormat.prototype.p = 1",
        "''.constructor.prototype.at = 1",
    ],
)
def test_nothing_shared_can_be_changed(run: Runner, source: str) -> None:
    """Everything that expressions share is frozen: trying to change it raises."""
    assert run.raised(source).kind in ("TypeError", "ReferenceError")


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("(() => { const o = {}; o.toString = 1; return o.toString })()", 1),
        ("(() => { const o = {}; o.constructor = 1; return Object.keys(o) })()", ["constructor"]),
        (
            "(() => { const e = new Error('a'); e.message = 'b'; e.name = 'N'; return `${e}` })()",
            "N: b",
        ),
        (
            "['constructor', 'a'].reduce((o, w) => "
            "{ o[w] = (o.hasOwnProperty(w) ? o[w] : 0) + 1; return o }, {})",
            {"constructor": 1, "a": 1},
        ),
        ("(() => { const o = {}; o.hasOwnProperty = null; return o.hasOwnProperty })()", None),
        ("(() => { class A { toString() { return 'A' } } return `${new A()}` })()", "A"),
    ],
)
def test_own_objects_may_cover_what_is_frozen(run: Runner, source: str, expected: Any) -> None:
    """Freezing what is shared does not forbid an object to have a key of the same name."""
    assert same(run.value(source), freeze(expected))


@pytest.mark.parametrize(
    "source",
    ["this", "(function () { return this })()", "[1].map(function () { return this })[0]"],
)
def test_this_leads_nowhere(run: Runner, source: str) -> None:
    """`this` is undefined wherever a function is called without an object."""
    assert run.value(source) is UNDEFINED


# --------------------------------------------------------- nothing survives


def test_an_evaluation_does_not_see_the_clock_of_another() -> None:
    """Time and chance given to one evaluation are gone in the next, however it asks."""
    engine = JavaScript()
    names = Variables({"when": Date(0)})
    assert engine.evaluate("Date.now()", names, now_ms=5.0).value == 5
    hidden = engine.evaluate("when['con' + 'structor'].now()", names)
    assert isinstance(hidden, Evaluated)
    assert hidden.value != 5


def test_regular_expressions_start_anew() -> None:
    """`lastIndex` of a pattern is not kept from one evaluation to the next."""
    engine = JavaScript()
    for _ in range(3):
        assert engine.evaluate("/a/g.test('a')", Variables({})).value is True


def test_memory_stays_flat() -> None:
    """Many evaluations, also of expressions never seen before, leave nothing behind."""
    engine = JavaScript()
    names = Variables({"n": 1, "items": [{"a": 1}] * 5})
    for number in range(3000):
        engine.evaluate(f"items.map(i => i.a + {number}).length + n", names)
    import resource

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for number in range(6000):
        engine.evaluate(f"items.map(i => i.a + {number}).length + n", names)
        engine.evaluate("items.map(i => ({...i, n})).length", names)
    grown_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown_kb < 20_000


# ------------------------------------------------------------------- limits

NEVER_ENDING = [
    "(() => { for (;;); })()",
    "(() => { while (true) { try { throw 1 } catch {} finally {} } })()",
    "[1].map(function f(x) { while (1); })",
    "/^(a+)+$/.test('a'.repeat(40) + '!')",
    "Array.from({length: 1e6}, () => 'a'.repeat(1e5).split('').reverse().join('')).length",
    "(() => { const s = 'a'.repeat(1e6); for (;;) s.toUpperCase() })()",
    "(() => { const a = Array(1e6); for (;;) a.map(x => x) })()",
    "(() => { const s = 'a'.repeat(1e6); for (;;) `${s}${s}` })()",
    "(() => { const s = 'ab'.repeat(4e5); for (;;) s.split('b') })()",
    "(() => { for (;;) 'a'.repeat(4e6) })()",
    "({get a() { for (;;); }})",
    "(() => { throw {get stack() { return {toJSON() { throw {toString() { for (;;); }} }} }} })()",
    "(() => { throw {get message() { for (;;); }} })()",
    "(() => { const e = new Error(); e.constructor = {get name() { for (;;); }}; throw e })()",
]


@pytest.mark.parametrize("source", NEVER_ENDING)
def test_time_limit(run: Runner, source: str) -> None:
    """What takes too long is stopped, whatever it does meanwhile and whatever it catches."""
    started = time.process_time()
    raised = run.raised(source)
    assert raised.kind in ("TimeLimit", "Object", "Error", "MemoryLimit")
    assert time.process_time() - started < 1.5
    assert run.value("1 + 1") == 2


def test_time_limit_message(run: Runner) -> None:
    """The error says which limit was hit."""
    raised = run.raised("(() => { for (;;); })()")
    assert (raised.kind, raised.message) == ("TimeLimit", "the expression takes longer than it may")


@pytest.mark.parametrize(
    "source",
    [
        "(() => { let s = 'x'; for (;;) s = (s + s).slice(0) })()",
        "(() => { const a = []; for (;;) a.push(new Array(1e5).fill(0)) })()",
        "Array.from({length: 1e9})",
        "[...Array(1e8).keys()].length",
    ],
)
def test_memory_limit(run: Runner, source: str) -> None:
    """What takes too much memory is stopped, and the next expression has all of it again."""
    raised = run.raised(source)
    assert (raised.kind, raised.message) == (
        "MemoryLimit",
        "the expression uses more memory than it may",
    )
    assert run.value("'x'.repeat(1e6).length") == 1_000_000


HUGE_LISTS = [
    "Array(4294967295).map(x => 1)",
    "Array(4294967295).forEach(x => 1)",
    "Array(4e9).concat([1])",
    "[].concat(Array(4e9))",
    "[].concat(...Array(1000).fill(Array(1e6)))",
    "Array(4e9).fill(0)",
    "Array(4e9).join('')",
    "String(Array(4e9))",
    "Array(4e9).flat()",
    "Array(4e9).reverse()",
    "Array(4e9).sort()",
    "Array(4e9).slice()",
    "Array(4e9).splice(1, 1)",
    "Array(4e9).reduce((a, b) => a, 0)",
    "(() => { const a = []; a.length = 4e9; a.unshift(1) })()",
    "Array.prototype.map.call({length: 2 ** 53 - 1}, x => 1)",
    "Array.prototype.slice.call({length: 2 ** 53 - 1})",
    "[].concat({length: 2 ** 53 - 1, [Symbol.isConcatSpreadable]: true})",
    "JSON.stringify(Array(4e9))",
    "JSON.stringify({a: [Array(4e9)]})",
    "String.raw({raw: {length: 2 ** 53 - 1}})",
    "new Uint8Array(2 ** 30)",
    "new ArrayBuffer(2 ** 33)",
]


@pytest.mark.parametrize("source", HUGE_LISTS)
def test_long_lists(run: Runner, source: str) -> None:
    """Loops that the engine would not interrupt are refused before they start."""
    raised = run.raised(source)
    assert raised.kind == "RangeError"
    assert "1000000" in raised.message


def test_a_length_that_changes_its_mind(run: Runner) -> None:
    """A list-like object cannot show one length to the check and another to the engine."""
    raised = run.raised(
        "Array.prototype.map.call("
        "{get length() { return (this.n = (this.n || 0) + 1) > 1 ? 4e9 : 1 }}, x => 1)"
    )
    assert raised.message == "a list-like object must have its length as a plain number"


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (
            "'a'.repeat(1e6).indexOf('a'.repeat(5e5) + 'b')",
            "searching a text this long for another this long takes too much time",
        ),
        (
            "'a'.repeat(1e6).split('a'.repeat(5e5) + 'b')",
            "searching a text this long for another this long takes too much time",
        ),
        (
            "'a'.repeat(2e6).toUpperCase()",
            "a text of 2000000 characters is too long for toUpperCase",
        ),
        (
            "'a'.repeat(2e6).replaceAll('a', 'b')",
            "a text of 2000000 characters is too long for replaceAll",
        ),
        ("'x'.repeat(1e9)", "a text of 1000000000 characters is too long for repeat"),
        ("'x'.padStart(5e8)", "a text of 500000000 characters is too long for padStart"),
        ("9n ** 99999n", "a BigInt of more than 4000 digits is too large"),
        (
            "(() => { let x = 3n; for (;;) x *= x })()",
            "a BigInt of more than 4000 digits is too large",
        ),
        ("1n << 99999n", "a BigInt of more than 4000 digits is too large"),
        ("(b => b ** b)(BigInt(99999))", "a BigInt of more than 4000 digits is too large"),
        ("BigInt('9'.repeat(5000))", "a BigInt of more than 4000 digits is too large"),
        ("BigInt.asUintN(1e6, -1n)", "a BigInt of more than 4000 digits is too large"),
        ("new RegExp('a|'.repeat(1e5))", "a pattern of 200000 characters is too long"),
        ("'x'.match('a|'.repeat(1e5))", "a pattern of 200000 characters is too long"),
        (
            "/(a+)\\1b/.test('a'.repeat(30000))",
            "a text of 30000 characters is too long for a pattern with back references",
        ),
        ("'\\u0315\\u0300'.repeat(1e5).normalize()", "the text is too long to be normalized"),
    ],
)
def test_other_operations_without_interruption(run: Runner, source: str, message: str) -> None:
    """Searches, large numbers and patterns are bounded by their size, and say so."""
    raised = run.raised(source)
    assert (raised.kind, raised.message) == ("RangeError", message)


@pytest.fixture(scope="module")
def patient() -> JavaScript:
    """An engine that gives each expression some seconds."""
    return JavaScript(Limits(seconds=5))


TWO_TEXTS = "((b, c) => {})('x'.repeat(5e5) + 'y', 'x'.repeat(5e5) + 'z')"
# Each takes far longer than twice the limit, which it may have where other threads are around.
MANY_TIMES = [
    "Array(1e5).fill(b).indexOf(c)",
    "Array(1e5).fill(b).includes(c)",
    "Array(1e5).fill(b).lastIndexOf(c)",
    "Array.prototype.indexOf.call({...Array(3e4).fill(b), length: 3e4}, c)",
    "Array(1e5).fill(b).fill(c, 5e4).sort().length",
    "Array(1e5).fill(b).fill(c, 5e4).toSorted().length",
    "Array.prototype.sort.call({...Array(3e4).fill(b), length: 3e4}).length",
    "new Set(Array(1e5).fill(b)).size",
    "new Set(Array(1e5).fill(b).values()).size",
    "new Map(Array(1e5).fill([b, 1])).size",
]


@pytest.mark.parametrize("source", MANY_TIMES)
def test_a_long_text_many_times(run: Runner, source: str) -> None:
    """A list that is small, because all of its long items are one, is worked on no longer."""
    started = time.monotonic()
    outcome = run(TWO_TEXTS.format(source))
    assert time.monotonic() - started < 1.0
    assert isinstance(outcome, Raised)
    assert outcome.kind == "TimeLimit"


@pytest.mark.parametrize(
    "source",
    [
        "l.indexOf(b)", "l.indexOf(c)", "l.indexOf(c, -2)", "l.indexOf(c, 2)", "l.indexOf(c, 9)",
        "l.indexOf(b + c)", "l.includes(c)", "l.includes(c, 2)", "l.includes(b + c)",
        "l.lastIndexOf(b)", "l.lastIndexOf(b, 1)", "l.lastIndexOf(b, -2)", "l.lastIndexOf(c, -9)",
        "l.lastIndexOf(b, undefined)", "Array.prototype.includes.call({0: b, length: 1}, b)",
        "l.toSorted().map(x => [...s].indexOf(x))", "[1, , undefined, ...l].sort().length",
        "[...new Set(l)].map(x => l.indexOf(x))", "[...new Set(l.values())].length",
        "[...new Map(l.map(x => [x, 1]))].length",
        "new Map([...l.map(x => [x, 1]), [c, 3]]).get(c)",
        "new Set([...l, null]).has(null)", "new Set(l) instanceof Set",
    ],
)  # fmt: skip
def test_a_long_text_some_times(patient: JavaScript, run: Runner, source: str) -> None:
    """Lists of long texts give what lists of short ones give."""
    template = (
        "((b, c) => (l => (s => {})([...new Set(l)]))([b, c, b, c, ...Array(99).fill(b)]))({})"
    )
    long = template.format(source, "'x'.repeat(4e5) + 'b', 'x'.repeat(4e5) + 'c'")
    short = template.format(source, "'b', 'c'")
    outcome = patient.evaluate(long, Variables({}))
    assert isinstance(outcome, Evaluated)
    assert outcome.value == run.value(short)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("{...'ab', c: 1}", {"0": "a", "1": "b", "c": 1}),
        ("{...null, ...undefined, ...[5], ...{a: 1}, ...7}", {"0": 5, "a": 1}),
        ("2n ** 64n === 18446744073709551616n", True),
        ("(x => { x **= 2n; x *= 3n; x <<= 1n; return Number(x) })(5n)", 150),
        ("Number((-2n) ** 3n)", -8),
        ("2 ** 3 ** 2 * 2", 1024),
        ("[1n * 2n, 3 * 4].map(Number)", [2, 12]),
        ("/(a)\\1/.exec('xaa').index", 1),
        ("'abab'.replace(/(ab)\\1/, '$1')", "ab"),
        ("[...'a1b2'.matchAll(/\\d/g)].map(String)", ["1", "2"]),
        ("'a.b'.match('.')[0]", "a"),
        ("RegExp('a', 'g').flags + new RegExp(/b/g, 'i').flags", "gi"),
        ("/a/.constructor === RegExp && RegExp(/a/) instanceof RegExp", True),
        (
            "'abc'.includes('b') && 'abc'.indexOf('') === 0 && 'abc'.lastIndexOf('c', 1) === -1",
            True,
        ),
        ("'a,b,,c'.split(',', 3)", ["a", "b", ""]),
        ("'abc'.split()", ["abc"]),
        ("'null'.includes(null) && 'undefined'.indexOf() === 0", True),
        ("'aXbX'.replaceAll('X', (m, at) => at)", "a1b3"),
        ("'a-b'.replace('-', '$&$&')", "a--b"),
        ("[[1, [2]], [[3]]].flat().length + [1, [2, [3]]].flat(Infinity).length", 6),
        ("[1].concat(2, [3, [4]]).length", 4),
        ("Array.prototype.concat.call(1, 2).length", 2),
        ("[3, 1, 2].sort().join() + [3, 1, 2].sort((a, b) => b - a).join()", "1,2,33,2,1"),
        ("[1, 2, 3].reduce((a, b) => a + b) + [].reduce((a, b) => a, 5)", 11),
        ("Array.prototype.map.call('ab', c => c + c).join()", "aa,bb"),
        ("Array.prototype.join.call({0: 'a', 1: 'b', length: 2}, '-')", "a-b"),
        ("(function () { return Array.prototype.slice.call(arguments, 1) })(1, 2, 3).length", 2),
        ("Object.assign({a: 1}, null, {b: 2}, 'xy')[1]", "y"),
        ("String.raw`a\\n${1}b`", "a\\n1b"),
        ("JSON.stringify({a: [1, {b: undefined}]}, null, 1)", '{\n "a": [\n  1,\n  {}\n ]\n}'),
        ("JSON.stringify({a: 1, b: 2}, ['a'])", '{"a":1}'),
        ("'é'.normalize('NFD').length + 'x'.repeat(5000).normalize().length", 5002),
        ("[].map.length + ''.split.length + Object.assign.length", 5),
        (
            "[].map.name + ''.includes.name + BigInt.name + RegExp.name + Date.name",
            "mapincludesBigIntRegExpDate",
        ),
        ("(x => x + 1).toString()", "x => x + 1"),
        (
            "String(function f(a) { for (;;) { return a } })",
            "function f(a) { for (;;) { return a } }",
        ),
        ("[].map.toString()", "function map() { [native code] }"),
        ("String(Math.max)", "function max() { [native code] }"),
        ("(x => (x.push(1, x, [x, 2], [3]), x.join()))([])", "1,,,2,3"),
        ("(x => (x.push(x), String(x) + Number(x)))([])", "0"),
        ("(x => (x.push(1, x), x.toLocaleString()))([])", "1,"),
        ("(x => { try { x.join() } catch { return [x, x].length + '' } })([{toString: 1}])", "2"),
    ],
)
def test_what_stands_in_for_the_engines_own_behaves_like_it(
    run: Runner, source: str, expected: Any
) -> None:
    """Bounded methods give what the engine's own would."""
    assert same(run.value(source), freeze(expected))


def test_loops_and_callbacks_of_all_forms_still_work(run: Runner) -> None:
    """The checks of the clock that are put into loops and functions change no result."""
    sources = {
        "(() => { let t = 0; for (let i = 0; i < 50; i++) t += i; return t })()": 1225,
        "(() => { let t = 0; for (const i of Array(50).keys()) t += i; return t })()": 1225,
        "(() => { let t = 0, i = 0; while (i < 50) t += i++; return t })()": 1225,
        "(() => { let t = 0, i = 0; do t += i++; while (i < 50); return t })()": 1225,
        "(() => { let t = 0; for (const k in {a: 1, b: 2}) t += k; return t })()": "0ab",
        "Array.from({length: 50}, (_, i) => ({i})).map(({i}) => i).reduce((a, b) => a + b)": 1225,
        "[1].map(x => y => z => x + y + z)[0](2)(3)": 6,
        "(function f(n) { return n < 2 ? n : f(n - 1) + f(n - 2) })(15)": 610,
        "[...(function* () { for (let i = 0; i < 20; i++) yield i })()].length": 20,
        "(() => { a: for (;;) { for (;;) break a } return 1 })()": 1,
        "(() => { class A { m() { return 1 } get p() { return 2 } static s = () => 3 } "
        "return new A().m() + new A().p + A.s() })()": 6,
        "({m() { return 4 }, get g() { return 5 }, f: function () { return 6 }}).m()": 4,
    }
    for source, expected in sources.items():
        assert run.value(source) == expected, source


def test_limits_are_those_given() -> None:
    """Another limit on time holds for the engine it was given to."""
    patient = JavaScript(Limits(seconds=30))
    hasty = JavaScript(Limits(seconds=0.02))
    source = "(() => { let t = 0; for (let i = 0; i < 3e6; i++) t += i; return t })()"
    assert isinstance(hasty.evaluate(source, Variables({})), Raised)
    assert isinstance(patient.evaluate(source, Variables({})), Evaluated)


def test_a_small_stack_is_respected() -> None:
    """A thread with a small stack gets an error for deep recursion, not the end of the process."""
    program = (
        "import threading\n"
        "from saywhy.expr.javascript import JavaScript\n"
        "class Nothing:\n"
        "    functions = ()\n"
        "    def has(self, name): return False\n"
        "    def get(self, path): raise AssertionError\n"
        "threading.stack_size(512 << 10)\n"
        "def run():\n"
        "    outcome = JavaScript().evaluate('(function f() { return f() })()', Nothing())\n"
        "    print(outcome.kind, outcome.message)\n"
        "thread = threading.Thread(target=run)\n"
        "thread.start()\n"
        "thread.join()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "RangeError Maximum call stack size exceeded\n"


def test_the_share_of_the_stack_is_bounded() -> None:
    """JavaScript gets a quarter of the stack, so that Python may stand deep in it."""
    assert 32 << 10 <= stack_share() <= 1 << 30
