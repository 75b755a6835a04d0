"""Promise: numbers, dates, lists and the order of texts in other languages are those of Node.

Expected values were printed by Node 20 (ICU 78, CLDR 48) with `TZ=UTC`; where ours differ, the
list of differences says why.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from saywhy.expr.isolated import Isolated
from saywhy.expr.javascript import Evaluated, JavaScript, Raised
from saywhy.expr.locales.answer import MAX_QUESTION, answer_to, answers_to
from saywhy.values import dumps

from .conftest import Runner, Variables

FOLDER: Final = Path(__file__).parent.parent / "cases" / "locales"
TOPICS: Final = ("numbers", "dates", "phrases", "order")


def read(name: str) -> Any:
    return json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))


CASES: Final = {(topic, tag): rows for topic in TOPICS for tag, rows in read(topic).items()}
DIFFERENCES: Final = {row["source"]: row for row in read("differences")}


def plain(value: Any) -> Any:
    return json.loads(dumps(value))


@pytest.mark.parametrize(("topic", "tag"), CASES, ids=str)
def test_as_node_writes_it(run: Runner, topic: str, tag: str) -> None:
    """Every text is Node's, but for the differences that are listed."""
    for row in CASES[topic, tag]:
        source = row["source"]
        expected = DIFFERENCES.get(source, row)["gives"]
        assert plain(run.value(source)) == expected, source


def test_differences_are_differences() -> None:
    """Each belongs to a case, is none that has gone, and says its reason."""
    given = {row["source"]: row["gives"] for rows in CASES.values() for row in rows}
    for source, row in DIFFERENCES.items():
        assert row["gives"] != given[source], source
        assert len(row["reason"]) > 20, source


@pytest.mark.parametrize(
    ("source", "kind", "message"),
    [
        (
            "(1).toLocaleString('es_ES')",
            "RangeError",
            'Incorrect locale information provided: "es_ES"; write it with "-", as in "pt-BR"',
        ),
        ("(1).toLocaleString('')", "RangeError", 'Incorrect locale information provided: ""'),
        (
            "(1).toLocaleString(['de', 5])",
            "TypeError",
            "Incorrect locale information provided: a language is a text",
        ),
        (
            "'a'.toLocaleUpperCase('x_')",
            "RangeError",
            'Incorrect locale information provided: "x_"; write it with "-", as in "pt-BR"',
        ),
        (
            "(1).toLocaleString(null)",
            "TypeError",
            "Cannot convert undefined or null to object",
        ),
        (
            "(1).toLocaleString('de', {style: 'money'})",
            "RangeError",
            "Value money out of range for Intl.NumberFormat options property style",
        ),
        (
            "(1).toLocaleString('de', {style: 'currency'})",
            "TypeError",
            "Currency code is required with currency style.",
        ),
        (
            "(1).toLocaleString('de', {style: 'currency', currency: 'EURO'})",
            "RangeError",
            "Invalid currency code : EURO",
        ),
        (
            "new Intl.NumberFormat('de', {style: 'unit', unit: 'parsec'})",
            "RangeError",
            "Invalid unit argument for Intl.NumberFormat() 'parsec'",
        ),
        (
            "(1).toLocaleString('de', {maximumFractionDigits: 101})",
            "RangeError",
            "maximumFractionDigits value is out of range.",
        ),
        (
            "(1).toLocaleString('de', {roundingIncrement: 5})",
            "RangeError",
            "the option roundingIncrement is not available in expressions",
        ),
        (
            "new Date(0).toLocaleString('en-US', {timeZone: 'Mars/Base'})",
            "RangeError",
            "Invalid time zone specified: Mars/Base",
        ),
        (
            "new Date(0).toLocaleString('de', {timeZone: '../../etc/passwd'})",
            "RangeError",
            "Invalid time zone specified: ../../etc/passwd",
        ),
        (
            "new Date(0).toLocaleString('th', {calendar: 'buddhist'})",
            "RangeError",
            "the calendar buddhist is not available in expressions; gregory is",
        ),
        (
            "new Date(0).toLocaleDateString('de', {timeStyle: 'short'})",
            "TypeError",
            "Invalid option : timeStyle",
        ),
        (
            "new Date(0).toLocaleString('de', {dateStyle: 'short', month: 'long'})",
            "TypeError",
            "Can't set option month when dateStyle is used",
        ),
        (
            "new Date(-1e14).toLocaleString('de')",
            "RangeError",
            "in this language, dates go from the year 1 to the year 9999",
        ),
        (
            "Intl.PluralRules('de')",
            "TypeError",
            "Constructor Intl.PluralRules requires 'new'",
        ),
        (
            "new Intl.ListFormat('de').format([1])",
            "TypeError",
            "Iterable yielded 1 which is not a string",
        ),
        (
            "new Intl.RelativeTimeFormat('de').format(1, 'eon')",
            "RangeError",
            "Invalid unit argument for Intl.RelativeTimeFormat() 'eon'",
        ),
        (
            "Array.from({length: 1300}, (_, i) => i.toLocaleString('de')).length",
            "RangeError",
            "more than 1000 texts in other languages in one expression",
        ),
    ],
)
def test_what_cannot_be_says_so(run: Runner, source: str, kind: str, message: str) -> None:
    """Errors are of the kinds that Node raises, and can be caught."""
    raised = run.raised(source)
    assert (raised.kind, raised.message) == (kind, message)


WAYS: Final = [
    # As a method whose name the text does not show, inside of `catch`, and after it.
    ("(0.5)['toLoc' + 'aleString']('fr')", "0,5"),
    (
        "(() => { const f = 'toLoc' + 'aleString'; try { return (0.5)[f]('fr') } catch { } })()",
        "0,5",
    ),
    ("(() => { try { return (0.5).toLocaleString('fr') } finally { } })()", "0,5"),
    ("(() => { try { (1).toLocaleString('x_') } catch (e) { return e.name } })()", "RangeError"),
    ("[[0.5, 1.5], [2.5]].toLocaleString('de')", "0,5,1,5,2,5"),
    ("`${new Intl.NumberFormat('de').format(n)} €`", "1.234,5 €"),
    # With answers made up, neither of these would end; nor would the list be used as it is.
    (
        "(() => { let s = ''; while (!s.endsWith('€')) s += n.toLocaleString('de') + '€';"
        " return s })()",
        "1.234,5€",
    ),
    ("(() => { let s = n.toLocaleString('de'); while (s.length < 7) { } return s })()", "1.234,5"),
    (
        "(() => { const s = n.toLocaleString('de'); if (s === '0') xs.push(1);"
        " return xs.length })()",
        1,
    ),
    ("xs.concat(xs).map(x => x.toLocaleString('ar-EG')).join()", "١٬٠٠٠,١٬٠٠٠"),
]


@pytest.fixture(scope="module")
def isolated() -> Iterator[Isolated]:
    engine = Isolated(size=1)
    yield engine
    engine.close()


@pytest.mark.parametrize(("source", "expected"), WAYS)
def test_wherever_it_is_asked_from(isolated: Isolated, source: str, expected: Any) -> None:
    """The value is the same in this process and in one of its own, the second time as well."""
    names = Variables({"n": 1234.5, "xs": [1000]})
    for engine in (JavaScript(), isolated, isolated):
        outcome = engine.evaluate(source, names)
        assert isinstance(outcome, Evaluated), outcome
        assert (outcome.value, outcome.changes) == (expected, ())


def test_beside_approved_functions(run: Runner) -> None:
    """Functions are called with the right texts, once each, and are all that is in the outcome."""
    source = "xs.map(x => note(x.toLocaleString('de'))).join('; ')"
    outcome = run(source, {"xs": [0.5, 1.5]}, {"note": "<{}>".format})
    assert isinstance(outcome, Evaluated)
    assert outcome.value == "<0,5>; <1,5>"
    assert [(call.name, call.args) for call in outcome.calls] == [
        ("note", ["0,5"]),
        ("note", ["1,5"]),
    ]
    assert run.rounds == 3


def test_what_is_changed_is_changed_once(run: Runner) -> None:
    """Rounds that were given up leave nothing behind."""
    outcome = run("xs.push((0.5).toLocaleString('de')) && xs.length", {"xs": []})
    assert isinstance(outcome, Evaluated)
    assert outcome.value == 1
    assert [change.value for change in outcome.changes] == ["0,5"]


def test_loops_without_end_still_end(run: Runner) -> None:
    """A loop over texts in another language hits the limit like any other."""
    raised = run.raised("(() => { for (;;) (1).toLocaleString('de') })()")
    assert raised.kind == "TimeLimit"


def test_questions_are_not_trusted() -> None:
    """Whatever a process that was taken over asks, the answer is an error and short."""
    for question in (
        "x" * (MAX_QUESTION + 1),
        "{",
        "[]",
        '["eval", [], {}, "1"]',
        '["NumberFormat", ["de"], {"minimumIntegerDigits": 1000000000}, "1"]',
        '["NumberFormat", ["de"], {}, "1e999999999"]',
        '["NumberFormat", [5], {}, "1"]',
        '["DateTimeFormat", ["de"], {"month": "x"}, 0]',
        '["DateTimeFormat", ["de"], {}, 1e300]',
    ):
        error, message = json.loads(answer_to(question))
        assert error == "RangeError", question
        assert 0 < len(message) < 200
    assert answers_to("no list") == []
    assert answers_to("[5]") == []


def test_the_clock_is_the_expression_s() -> None:
    """`format()` without a date is the moment of the evaluation."""
    outcome = JavaScript().evaluate(
        "new Intl.DateTimeFormat('de', {dateStyle: 'long'}).format()", Variables({}), now_ms=0.0
    )
    assert isinstance(outcome, Evaluated)
    assert outcome.value == "1. Januar 1970"


def test_raised_reads_are_known(run: Runner) -> None:
    """An error after rounds of questions names what was read."""
    raised = run.raised("n.toLocaleString('de') + missing", {"n": 1})
    assert isinstance(raised, Raised)
    assert ("n",) in raised.reads
