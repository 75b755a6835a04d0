"""Promise: approved functions are reached by pausing, and everything around the pause agrees."""

from __future__ import annotations

from typing import Any

import pytest

from saywhy.expr.javascript import (
    Change,
    Evaluated,
    FunctionAnswer,
    JavaScript,
    Raised,
    Suspended,
)
from saywhy.values import UNDEFINED, freeze, same

from .conftest import Runner, Variables


def test_an_approved_function_suspends_the_evaluation() -> None:
    """The first round ends with the call; the next one, with the answer, with the value."""
    names = Variables({"n": 2}, {"add": print})
    engine = JavaScript()
    call = engine.evaluate("add(n, [1, {a: undefined}]) + 1", names)
    assert call == Suspended("add", [2, [1, {"a": UNDEFINED}]], 0)
    given = FunctionAnswer("add", [2], 5)
    assert engine.evaluate("add(n, [1, {a: undefined}]) + 1", names, [given]) == Evaluated(
        6, (("n",),), calls=(given,)
    )


def test_calls_are_answered_in_order(run: Runner) -> None:
    """Several calls take one round each, inner before outer, and all are in the outcome."""
    functions = {"up": str.upper, "add": lambda one, other: one + other}
    outcome = run("add(up('a'), up(name)) + up('z')", {"name": "b"}, functions)
    assert isinstance(outcome, Evaluated)
    assert outcome.value == "ABZ"
    assert [call.name for call in outcome.calls] == ["up", "up", "add", "up"]
    assert run.rounds == 5


def test_calls_in_a_branch_not_taken_are_not_made(run: Runner) -> None:
    """A function is called only where the expression gets to it."""
    outcome = run("false && boom()", {}, {"boom": lambda: 1 / 0})
    assert outcome == Evaluated(False)


def test_a_function_that_raises_can_be_caught(run: Runner) -> None:
    """Its error is a JavaScript error with the same message."""

    def boom() -> None:
        raise ValueError("no luck")

    caught = "(() => { try { return boom() } catch (e) { return e.message } })()"
    assert run.value(caught, functions={"boom": boom}) == "no luck"
    raised = run.raised("boom()", functions={"boom": boom})
    assert (raised.kind, raised.message) == ("Error", "no luck")
    assert [call.error for call in raised.calls] == ["no luck"]


@pytest.mark.parametrize(
    "source",
    [
        "(() => { try { return up('a') } catch { return 'caught' } })()",
        "(() => { try { return up('a') } catch (e) { for (;;); } })()",
        "(() => { try { up('a') } finally { return up('a') } })()",
        "(() => { for (;;) { try { return up('a') } catch (e) {} } })()",
        "[1].map(() => { try { return up('a') } catch { return 'caught' } })[0]",
        "(() => { try { return [1].map(() => up('a'))[0] } catch (e) { return 'caught' } })()",
    ],
)
def test_a_call_that_waits_cannot_be_caught(run: Runner, source: str) -> None:
    """`catch` and `finally` see errors, not the pause of a call that has no answer yet."""
    assert run.value(source, functions={"up": str.upper}) == "A"


def test_functions_win_over_variables_but_not_over_reserved_names(run: Runner) -> None:
    """An approved function hides a variable of its name, and nobody hides Math."""
    functions = {"name": lambda: "function", "Math": lambda: "mine", "parseInt": lambda _: "mine"}
    assert run.value("name()", {"name": "variable"}, functions=functions) == "function"
    assert run.value("Math.abs(-1)", {"Math": 5}, functions=functions) == 1
    assert run.value("parseInt('5')", functions=functions) == "mine"
    assert run.value("parseInt", {"parseInt": 5}) == 5


def test_a_function_may_be_handed_on(run: Runner) -> None:
    """An approved function is a value like any other: it can be a callback."""
    twice = {"twice": lambda number, *_: number * 2}
    assert same(run.value("xs.map(twice)", {"xs": [1, 2]}, functions=twice), freeze([2, 4]))
    assert run.value("typeof twice", functions=twice) == "function"


def test_a_function_shown_as_text(run: Runner) -> None:
    """Looks like a native one, by its own name, and shows nothing of how it is reached."""
    functions = {"fee": lambda number: number}
    for source in ("String(fee)", "fee.toString()", "`${fee}`", "fee + ''"):
        assert run.value(source, functions=functions) == "function fee() { [native code] }"
    assert run.value("[fee.name, typeof fee, fee(3)]", functions=functions) == freeze(
        ["fee", "function", 3]
    )
    raised = run.raised("new fee(3)", functions=functions)
    assert (raised.kind, raised.message) == ("TypeError", "not a constructor")


def test_what_a_function_changes_stays_changed(run: Runner) -> None:
    """An object that a function changed is changed in the expression and in the variable."""

    def mark(box: dict[str, Any]) -> bool:
        box["seen"] = True
        box["list"].append(2)
        del box["gone"]
        return True

    names = {"cargo": {"list": [1], "gone": 0, "inner": {"list": [], "gone": 1}}}
    outcome = run("mark(cargo) && cargo.seen", names, {"mark": mark})
    assert isinstance(outcome, Evaluated)
    assert outcome.value is True
    assert set(outcome.changes) == {
        Change(("cargo", "seen"), True),
        Change(("cargo", "list", 1), 2),
        Change(("cargo", "gone"), UNDEFINED, deleted=True),
    }
    inner = run("mark(cargo.inner)", names, {"mark": mark})
    assert isinstance(inner, Evaluated)
    assert Change(("cargo", "inner", "seen"), True) in inner.changes


def test_a_function_used_as_callback_may_change_the_items(run: Runner) -> None:
    """Changes that a callback of the host makes to items are found as well."""

    def mark(item: dict[str, Any], *_: Any) -> None:
        item["seen"] = True

    outcome = run("cargo.items.forEach(mark)", {"cargo": {"items": [{}, {}]}}, {"mark": mark})
    assert isinstance(outcome, Evaluated)
    assert len(outcome.changes) == 1 or {change.path for change in outcome.changes} == {
        ("cargo", "items", 0, "seen"),
        ("cargo", "items", 1, "seen"),
    }


def test_rounds_agree_about_time_and_chance(run: Runner) -> None:
    """All rounds of an evaluation see one moment and one sequence of random numbers."""
    source = "[Date.now(), Math.random(), f(Math.random()), Math.random(), new Date().getTime()]"
    functions = {"f": lambda number: number}
    first = run.value(source, functions=functions, now_ms=86_400_000.0, seed=7)
    assert first[0] == first[4] == 86_400_000
    assert len({first[1], first[2], first[3]}) == 3
    assert all(0 <= first[index] < 1 for index in (1, 2, 3))
    assert same(run.value(source, functions=functions, now_ms=86_400_000.0, seed=7), first)
    assert run.value("Math.random()", seed=8) != first[1]


def test_an_answer_to_another_call_is_noticed() -> None:
    """Answers in the wrong order are an error, not a wrong value."""
    names = Variables({}, {"one": print, "other": print})
    outcome = JavaScript().evaluate("one()", names, [FunctionAnswer("other", [], 1)])
    assert isinstance(outcome, Raised)
    assert outcome.message == "one was called where other was called before"


@pytest.mark.parametrize("source", ["ask('secret')", "(() => { for (;;) ask('secret') })()"])
def test_a_call_that_waits_is_not_seen_by_another_conversation(source: str) -> None:
    """While one conversation waits for a function, the next one's changes are its own."""
    engine = JavaScript()
    waits = engine.evaluate(source, Variables({}, {"ask": print}))
    assert isinstance(waits, Suspended)
    other = engine.evaluate("list.push(2)", Variables({"list": [1]}))
    assert isinstance(other, Evaluated)
    assert other.value == 2
    assert other.changes == (Change(("list", 1), 2),)


def test_an_argument_that_cannot_be_told_is_an_error(run: Runner) -> None:
    """An object inside itself is refused by name, not as a lack of memory."""
    outcome = run.raised("(o => { o.self = o; return ask(o) })({})", functions={"ask": len})
    assert outcome.kind == "RangeError"
    assert outcome.message == "the value is nested deeper than 200 levels, or contains itself"


@pytest.mark.parametrize(
    "source",
    [
        "(() => { throw {get message() { return f(secret) }, get constructor() { f(secret) }} })()",
        "(n => ({get a() { return n++ ? 1 : f(secret) }}))(0)",
        "(() => { throw {toJSON: 1, get a() { return f(secret) }} })()",
        "f(secret) + 1",
    ],
)
def test_a_call_that_waits_is_not_one_of_the_next_evaluation(source: str) -> None:
    """Whenever an expression calls a function, the next one knows neither call nor arguments."""
    engine = JavaScript()
    first = engine.evaluate(source, Variables({"secret": "4111"}, {"f": len}))
    assert isinstance(first, Suspended)
    assert first.args == ["4111"]
    for follower in ("null.x", "(() => { null.x })()", "g.x"):
        later = engine.evaluate(follower, Variables({}, {"f": len}))
        assert isinstance(later, Raised), later
