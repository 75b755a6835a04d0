"""Expressions and templates as a running step uses them."""

from __future__ import annotations

from typing import Any

import pytest

from saywhy.chart.outcome import Answer
from saywhy.chart.scope import Suspend
from saywhy.expr.javascript import Evaluated, Raised
from saywhy.flows.evaluate import (
    MAX_CALLS,
    FlowNames,
    condition,
    evaluate,
    is_truthy,
    native_value,
    say_text,
    set_cargo,
)
from saywhy.flows.runtime_names import RUNTIME_NAMES
from saywhy.flows.world import Options, World
from saywhy.values import UNDEFINED, BigInt, Date, FrozenDict, FrozenList, NonFinite, same
from tests.flows.conftest import (
    NOW,
    ask,
    engine_of,
    flow,
    put,
    say,
    scope_at,
    talk,
    world_of,
)

MAIN = flow({"type": "SAY", "value": "x"}, variables={"declared": {"type": "string"}})


def world(**keys: Any) -> World:
    return world_of(MAIN, **keys)


def test_what_the_runtime_names_stand_for() -> None:
    """Every name that `check` knows as given has a value, or is undefined without an input."""
    here = world(globals={"g": 1}, language="es")
    scope = scope_at(here, a=2)
    scope.keep("input", ["hello", 7])
    names = FlowNames(here, scope)
    assert all(names.has(name) for name in RUNTIME_NAMES)
    values = {name: names.get((name,)) for name in sorted(RUNTIME_NAMES)}
    assert values["userInput"] == values["lastUserInput"] == "hello"
    assert values["sessionId"] == values["session_id"] == "c1"
    assert values["userId"] == values["user_id"] == "user-1"
    assert (values["flowName"], values["language"]) == ("Main", "es")
    assert (values["current_time"], values["flow_start_time"]) == (int(NOW), 5.0)
    assert same(values["currentContext"], {"g": 1, "a": 2})
    assert same(values["cargo"], {})
    assert same(values["$args"], {})


def test_where_the_value_of_a_name_lives() -> None:
    """The key of a read: variable, cargo, global, session, or the message it came with."""
    here = world(globals={"g": {"h": 1}})
    scope = scope_at(here, a={"b": 1})
    names = FlowNames(here, scope)
    assert names.key(("a", "b")) == ("v1", "a", "b")
    assert names.key(("declared",)) == ("v1", "declared")
    assert names.key(("cargo", "x")) == ("cargo", "x")
    assert names.key(("g", "h")) == ("globals", "g", "h")
    assert names.key(("user_id",)) == ("session", "userId")
    assert names.key(("flowName",)) is None
    assert names.key(("nobody",)) is None
    assert names.key(("userInput",)) is None
    scope.keep("input", ["hello", 7])
    assert names.key(("userInput",)) == ("input", "7")


def test_a_variable_hides_a_global_and_a_function_hides_both() -> None:
    """Flow before global; a function is called whatever stands under its name."""
    here = world(globals={"a": "global", "f": "global"}, functions={"f": lambda: "called"})
    scope = scope_at(here, a="own", f="own")
    assert say_text(here, scope, "{{a}} {{f()}}") == "own called"


def test_what_was_read_is_noted_with_its_path() -> None:
    """The evidence of a step names the parts it used, once each."""
    here = world(globals={"g": 1})
    scope = scope_at(here, user={"name": "Ann", "age": 5})
    evaluate(here, scope, "user.name + g + cargo.x")
    assert set(scope.reads) == {("v1", "user", "name"), ("globals", "g"), ("cargo", "x")}
    assert scope.exact
    evaluate(here, scope, "user[g === 1 ? 'age' : 'name']")
    assert not scope.exact


def test_changes_are_operations() -> None:
    """What an expression changed inside a value is written where it lives."""
    here = world(globals={"g": {"n": 1}})
    scope = scope_at(here, a={"b": {"c": 1}, "l": [1]})
    evaluate(here, scope, "a.b.c = 2, a.l.push(5), cargo.x = 1, g.n = 9, delete a.b.d")
    keys = [op.key for op in scope.ops]
    assert ("cargo", "x") in keys
    assert ("v1", "a", "b", "c") in keys
    assert same(scope.peek(("v1", "a")), {"b": {"c": 2}, "l": [1, 5]})
    assert same(scope.peek(("v1", "g")), {"n": 9})
    assert same(here.globals, {"g": {"n": 1}})


def test_cargo_becomes_what_it_is_set_to() -> None:
    """Only what differs is written: true is not 1."""
    here = world()
    scope = scope_at(here)
    scope.state.scopes["cargo"] = {"same": 1, "one": 1, "gone": 2}
    set_cargo(scope, FrozenDict({"same": 1, "one": True, "new": [3]}))
    assert [(op.verb, op.key) for op in scope.ops] == [
        ("delete", ("cargo", "gone")),
        ("set", ("cargo", "one")),
        ("set", ("cargo", "new")),
    ]


def test_a_plain_function_runs_at_once_and_is_noted() -> None:
    """Its arguments, its answer and its failure stand in the step's record."""

    def half(number: float) -> float:
        return number / 2

    def bad() -> None:
        raise LookupError("not there")

    here = world(functions={"half": half, "bad": bad})
    scope = scope_at(here, a=6)
    found = evaluate(here, scope, "half(a)")
    assert isinstance(found, Evaluated)
    assert found.value == 3
    raised = evaluate(here, scope, "bad()")
    assert isinstance(raised, Raised)
    assert raised.message == "not there"
    assert [(call.name, call.value, call.error) for call in scope.calls] == [
        ("half", 3, ""),
        ("bad", None, "not there"),
    ]
    assert scope.warnings == ("approved function bad raised LookupError: not there",)


def test_an_answer_that_no_conversation_can_hold_is_an_error() -> None:
    """The function is named, and the flow goes on."""
    here = world(functions={"odd": object})
    found = evaluate(here, scope_at(here), "odd()")
    assert isinstance(found, Raised)
    assert found.message == "odd is a object, which a conversation cannot hold"


def test_an_async_function_suspends_the_step() -> None:
    """Run again with the answer among the step's notes, the expression goes on behind it."""

    async def later(value: int) -> int:
        return value

    here = world(functions={"later": later, "one": lambda: 1})
    scope = scope_at(here, a=6)
    with pytest.raises(Suspend) as suspended:
        evaluate(here, scope, "one() + later(a) + later(a + 1)")
    need = suspended.value.need
    assert (need.kind, need.name, list(need.args)) == ("function", "later", [6])
    scope.frame.notes.append(Answer(60))
    scope.taken = 0
    with pytest.raises(Suspend) as suspended:
        evaluate(here, scope, "one() + later(a) + later(a + 1)")
    assert list(suspended.value.need.args) == [7]
    scope.frame.notes.append(Answer(700))
    scope.taken = 0
    found = evaluate(here, scope, "one() + later(a) + later(a + 1)")
    assert isinstance(found, Evaluated)
    assert found.value == 761


def test_a_function_that_gives_an_awaitable_suspends_as_well() -> None:
    """A lambda around an async function is no other thing."""

    async def later(value: int) -> int:
        return value

    here = world(functions={"f": lambda value: later(value + 1)})
    with pytest.raises(Suspend):
        evaluate(here, scope_at(here), "f(1)")


def test_calls_in_one_expression_are_counted() -> None:
    """An endless row of calls ends."""
    calls: list[int] = []
    here = world(functions={"f": lambda: calls.append(1) or True})
    found = evaluate(here, scope_at(here), "(() => { let n = 0; while (f()) n++; return n })()")
    assert isinstance(found, Raised)
    assert found.message == f"more than {MAX_CALLS} function calls in one expression"
    assert len(calls) == MAX_CALLS


def test_calls_and_the_time_between_them_are_bounded() -> None:
    """What is slow and begins anew with each call ends after a second, not after minutes."""
    calls: list[int] = []
    here = world(functions={"f": lambda: calls.append(1)})
    slow = "(() => { for (let n = 0; n < 150; n++) { for (let i = 0; i < 3e5; i++); f() } })()"
    found = evaluate(here, scope_at(here), slow)
    assert isinstance(found, Raised)
    assert found.kind == "TimeLimit"
    assert len(found.calls) == len(calls) < 150


TEXTS = [
    ("no holes", "no holes", "no holes", "no holes"),
    ("{{a}}", "5", "5", "5"),
    ("{{a}} and {{b}}", "5 and ok", "5 and ok", "5 and ok"),
    ("{{ghost}}", "", "[error: {{ghost}}]", ""),
    ("x {{ghost}} {{a}}", "x {{ghost}} 5", "x {{ghost}} 5", "x  5"),
    ("{{a", "{{a", "{{a", "{{a"),
    ("{{ {k: {m: a}}.k.m }}", "5", "5", "5"),
    ("{{}}", "", "[error: {{}}]", ""),
]


@pytest.mark.parametrize(("text", "hidden", "reference", "empty"), TEXTS)
def test_texts(text: str, hidden: str, reference: str, empty: str) -> None:
    """What a text shows, and what a failed expression shows in each style."""
    for style, wanted in (("hidden", hidden), ("reference", reference), ("empty", empty)):
        here = world(options=Options(error_text=style))  # type: ignore[arg-type]
        assert say_text(here, scope_at(here, a=5, b="ok"), text) == wanted


VALUES: list[tuple[str, Any, Any, Any]] = [
    ("a + 1", 6, 6, 6),
    ("{{a + 1}}", 6, 6, 6),
    ("{{a}}{{a}}", "55", "55", "55"),
    ("", "", "", ""),
    ("  ", "", "", ""),
    ("ghost", "[error: ghost]", "[error: ghost]", ""),
    ("{{ghost}}", "[error: {{ghost}}]", "[error: {{ghost}}]", ""),
]


@pytest.mark.parametrize(("text", "hidden", "reference", "empty"), VALUES)
def test_values(text: str, hidden: Any, reference: Any, empty: Any) -> None:
    """What a SET stores, and what it stores of a failed expression in each style."""
    for style, wanted in (("hidden", hidden), ("reference", reference), ("empty", empty)):
        here = world(options=Options(error_text=style))  # type: ignore[arg-type]
        assert native_value(here, scope_at(here, a=5), text) == wanted


@pytest.mark.parametrize(
    ("style", "said"),
    [
        ("hidden", "it is\n\nand  too: [error: mine]\n\n?"),
        ("empty", "it is\n\nand  too: [error: mine]\n\n?"),
        (
            "reference",
            "it is\n\n[error: ghost.x]\n\nand [error: ghost.x] too: [error: mine]\n\n"
            "[error: {{ghost}}]?",
        ),
    ],
)
async def test_what_a_failed_set_stored_is_not_shown_later(style: str, said: str) -> None:
    """Nor what is made of it; words of the user's in that form are."""
    words = flow(
        put("a", "ghost.x"),
        put("b", "{{ghost}}"),
        put("mine", "'[error: mine]'"),
        say("it is"),
        say("{{a}}"),
        say("and {{a}} too: {{mine}}"),
        ask("q", "{{b}}?"),
        {"type": "RETURN", "value": "'<' + a + '>'"},
    )
    session = await talk(engine_of(words, error_text=style), "Main")
    assert session.response == said
    session = await talk(engine_of(words, error_text=style), "x", session=session)
    assert session.response == ("<[error: ghost.x]>" if style == "reference" else "<>")


def test_a_failed_return_shows_nothing() -> None:
    """Unless the host wants the markers of old."""
    here = world()
    assert native_value(here, scope_at(here), "ghost", hide_errors=True) == ""
    old = world(options=Options(error_text="reference"))
    assert native_value(old, scope_at(old), "ghost", hide_errors=True) == "[error: ghost]"


@pytest.mark.parametrize(
    ("text", "kind"),
    [("new Map()", "map"), ("x => x", "function"), ("{{[/a/]}}", "regexp"), ("Symbol()", "symbol")],
)
def test_what_no_variable_can_hold_is_a_failed_expression(text: str, kind: str) -> None:
    """The flow goes on, and the log tells the step and what was in the way."""
    here = world()
    scope = scope_at(here)
    assert native_value(here, scope, text) == f"[error: {text}]"
    (warning,) = scope.warnings
    assert warning.endswith(f"TypeError: a conversation keeps only data, and no {kind}")


def test_a_failed_expression_is_warned_of_with_its_place() -> None:
    """The host's log says which expression, in which flow, at which step, and why."""
    here = world()
    scope = scope_at(here)
    say_text(here, scope, "{{ghost.name}}")
    assert scope.warnings == (
        "{{ghost.name}} in Main at /0/steps/0: ReferenceError: ghost is not defined",
    )


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("a > 4", True),
        ("{{a}} == 5", True),
        ("{{a}} == 6", False),
        ("{{a > 4}} && {{b}} === 'ok'", True),
        ("'{{a}}' === '{{a}}'", True),
        ("declared", False),
        ("!declared", True),
    ],
)
def test_conditions(text: str, holds: bool) -> None:
    """Braces in a condition are brackets around an expression, never text to compare."""
    here = world()
    assert condition(here, scope_at(here, a=5, b="ok"), text) == (holds, "")


def test_a_failed_condition_is_false_and_says_why() -> None:
    """A condition on a name that nobody knows does not hold."""
    here = world()
    holds, why = condition(here, scope_at(here), "ghost.name")
    assert (holds, why) == (False, "ReferenceError: ghost is not defined")


@pytest.mark.parametrize(
    ("value", "holds"),
    [
        (None, False),
        (UNDEFINED, False),
        (0, False),
        ("", False),
        (False, False),
        (-0.0, False),
        (NonFinite(float("nan")), False),
        (BigInt(0), False),
        (NonFinite(float("inf")), True),
        (BigInt(1), True),
        ("0", True),
        (FrozenList([]), True),
        (FrozenDict({}), True),
        (Date(0), True),
    ],
)
def test_truth_is_javascripts(value: Any, holds: bool) -> None:
    """Empty lists and objects hold, zero, empty text and NaN do not."""
    assert is_truthy(value) is holds
