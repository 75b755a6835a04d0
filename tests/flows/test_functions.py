"""Approved functions as expressions call them, plain ones and `async` ones alike."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from datetime import date
from typing import Any, Literal

import pytest

import saywhy
from saywhy.chart.outcome import Answer
from saywhy.chart.scope import Suspend
from saywhy.expr.javascript import Evaluated, Raised
from saywhy.flows.evaluate import evaluate
from saywhy.flows.functions import run_function
from saywhy.flows.world import Options
from saywhy.runtime.session import Session
from saywhy.testing import FakeClock
from saywhy.trace.masking.redact import Policy
from saywhy.values import UNDEFINED, same
from tests.flows.conftest import (
    NOW,
    Lines,
    ask,
    engine_of,
    flow,
    local_tool,
    put,
    say,
    scope_at,
    talk,
    use,
    world_of,
)

MAIN = flow(say("x"))


def awaited(function: Callable[..., Any]) -> Callable[..., Any]:
    """The same function, `async`."""

    async def later(*args: Any) -> Any:
        await asyncio.sleep(0)
        return function(*args)

    return later


def up(text: Any) -> str:
    return str(text).upper()


def fits(variables: dict[str, Any], frame: dict[str, Any]) -> dict[str, Any]:
    return {"isValid": variables["a"] != "no", "errors": ["not that"]}


def fail(args: dict[str, Any]) -> None:
    raise ValueError("tool broke")


def refuse() -> None:
    raise LookupError("not there")


KINDS: list[Any] = [
    pytest.param(lambda function: function, id="plain"),
    pytest.param(saywhy.quick, id="quick"),
    pytest.param(awaited, id="async"),
]


@pytest.mark.parametrize("kind", KINDS)
async def test_they_are_called_wherever_expressions_stand(kind: Callable[..., Any]) -> None:
    """SAY, SAY-GET, SET, CASE, `asSpoken`, `customValidator` and texts of `onFail`."""
    branches = {"condition: up(a) === 'OK'": say("case {{up(a)}}"), "default": say("no case")}
    engine = engine_of(
        flow(
            say("say {{up('x')}} {{up('y')}}"),
            ask("a", "{{up('ask')}}", inputValidation={"customValidator": "fits"}),
            put("x", "cargo.voice = true"),
            ask("keys", digits={"max": 2}, asSpoken="up(a) === 'NO'"),
            ask("words", digits={"max": 2}, asSpoken="up(a) === 'OK'"),
            put("b", "up(a) + keys + up(words)"),
            {"type": "CASE", "branches": branches},
            use("t", onFail=say("failed {{up(b)}}")),
        ),
        tools=[local_tool("t")],
        functions={"up": kind(up), "fits": kind(fits), "t": fail},
    )
    session = await talk(engine, "Main")
    assert session.response == "say X Y\n\nASK"
    session = await talk(engine, "no", session=session)
    assert "not that" in (session.response or "")
    session = await talk(engine, "ok", "1 and 2", "1 and 2", session=session)
    assert session.response == "case OK\n\nfailed OK121 AND 2"


@pytest.mark.parametrize("kind", KINDS)
async def test_what_they_raise_can_be_caught(kind: Callable[..., Any]) -> None:
    """It is a JavaScript error with the name and the text, and stands in the record."""
    caught = "(() => { try { refuse() } catch (e) { return [e instanceof Error, e.name, "
    engine = engine_of(
        flow(put("a", f"{caught} String(e)] }} }})()"), say("{{a}}")),
        functions={"refuse": kind(refuse)},
    )
    session = await talk(engine, "Main")
    assert session.response == '[true,"LookupError","LookupError: not there"]'
    calls = [call for commit in session.trace for call in commit.calls]
    assert [(call.name, call.error) for call in calls] == [("refuse", "not there")]
    assert (
        "function refuse() raised: not there"
        in saywhy.why(session.trace, saywhy.Variable("a")).text()
    )


@pytest.mark.parametrize("name", ["TypeError", "RangeError", "SyntaxError", "ReferenceError"])
def test_errors_with_a_name_of_javascripts_are_of_that_kind(name: str) -> None:
    """A Python `TypeError` is a JavaScript `TypeError`: `instanceof` sees it."""

    def bad() -> None:
        raise type(name, (Exception,), {})("so it is")

    world = world_of(MAIN, functions={"bad": bad})
    source = f"(() => {{ try {{ bad() }} catch (e) {{ return e instanceof {name} }} }})()"
    found = evaluate(world, scope_at(world), source)
    assert isinstance(found, Evaluated)
    assert found.value is True
    raised = evaluate(world, scope_at(world), "bad()")
    assert isinstance(raised, Raised)
    assert (raised.kind, raised.message) == (name, "so it is")


@pytest.mark.parametrize("kind", KINDS)
async def test_each_call_is_in_the_record(kind: Callable[..., Any]) -> None:
    """With arguments and result, for `why`; what is sensitive is masked there."""
    policy = Policy(names=("card",))
    engine = engine_of(
        flow(put("card", "'4111222233334444'"), put("shown", "up({card, n: 1})"), say("{{shown}}")),
        functions={"up": kind(lambda box: {"card": box["card"][-4:], "n": box["n"] + 1})},
        redact=policy,
    )
    session = await talk(engine, "Main")
    assert (session.response or "").endswith('"n":2}')
    [call] = [call for commit in session.trace for call in commit.calls]
    assert (call.name, call.args[0]["n"], call.value["n"]) == ("up", 1, 2)
    assert "4111222233334444" not in repr(list(session.trace))
    assert 'function up({"card"' in saywhy.why(session.trace, saywhy.Variable("shown")).text()


# ------------------------------------------------------------------ annotations


def pay(amount: float, to: str = "nobody", *notes: str) -> str:
    return f"{amount} to {to} {'/'.join(notes)}".strip()


def choose(way: Literal["post", "mail"], when: date | None = None) -> str:
    return f"{way} {when}"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("pay(5)", "5 to nobody"),
        ("pay(2.5, 'Ann', 'a', 'b')", "2.5 to Ann a/b"),
        ("pay(5, undefined)", "5 to nobody"),
        ("pay(5, undefined, 'n')", "5 to nobody n"),
        ("choose('post')", "post None"),
        ("choose('mail', '2024-02-29')", "mail 2024-02-29"),
        ("choose('mail', null)", "mail None"),
        ("free(1, {a: [undefined]})", "free"),
    ],
)
def test_arguments_that_fit(source: str, expected: str) -> None:
    """What is undefined counts as not given; without annotations nothing is looked at."""
    functions = {"pay": pay, "choose": choose, "free": lambda *args: "free"}
    world = world_of(MAIN, functions=functions)
    found = evaluate(world, scope_at(world), source)
    assert isinstance(found, Evaluated), found
    assert found.value == expected


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("pay('5')", "pay: amount must be a number, not text"),
        ("pay()", "pay: amount is missing"),
        ("pay(undefined)", "pay: amount is missing"),
        ("pay(0/0)", "pay: amount must be a number, not null"),
        ("pay(1, 2)", "pay: to must be text, not a number"),
        ("pay(1, 'a', 'b', {})", "pay: notes[1] must be text, not an object"),
        ("pay([1], false)", "pay: amount must be a number, not a list; "
         "to must be text, not true or false"),
        ("choose('fax')", 'choose: way must be one of "post", "mail"'),
        ("choose('post', '1', 3)", "choose: it takes 2 arguments, not 3"),
        ("['a'].map(pay)", "pay: amount must be a number, not text; to must be text, not a number; "
         "notes[0] must be text, not a list"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("kind", ["plain", "async"])
def test_arguments_that_do_not_fit(source: str, message: str, kind: str) -> None:
    """A TypeError names function, argument and what is expected; the function is not called."""

    async def pay_later(amount: float, to: str = "nobody", *notes: str) -> None:
        raise AssertionError("called")

    async def choose_later(way: Literal["post", "mail"], when: date | None = None) -> None:
        raise AssertionError("called")

    plain = {"pay": pay, "choose": choose}
    later = {"pay": pay_later, "choose": choose_later}
    world = world_of(MAIN, functions=plain if kind == "plain" else later)
    raised = evaluate(world, scope_at(world), source)
    assert isinstance(raised, Raised), raised
    assert (raised.kind, raised.message) == ("TypeError", message)
    assert [call.error for call in raised.calls] == [message]
    caught = f"(() => {{ try {{ {source} }} catch (e) {{ return e instanceof TypeError }} }})()"
    assert evaluate(world, scope_at(world), caught).value is True  # type: ignore[union-attr]


def test_annotations_that_say_nothing_about_json_are_not_looked_at() -> None:
    """Classes of the host's own, or names that are not there at run time."""

    def one(thing: Lines, text: str) -> int:
        return 1

    def other(thing: "Nowhere") -> int:  # type: ignore[name-defined]  # noqa: F821, UP037
        return 2

    world = world_of(MAIN, functions={"one": one, "other": other})
    assert evaluate(world, scope_at(world), "one(5, 'a') + other(5)").value == 3  # type: ignore[union-attr]
    raised = evaluate(world, scope_at(world), "one(5, 5)")
    assert isinstance(raised, Raised)
    assert raised.message == "one: text must be text, not a number"


def test_annotations_are_read_once() -> None:
    """A call that fits costs what looking at its arguments does, not the making of a schema."""
    world = world_of(MAIN, functions={"pay": saywhy.quick(pay)})
    scope = scope_at(world)
    run_function(world, scope, "pay", [1])
    began = time.perf_counter()
    for _ in range(200):
        run_function(world, scope, "pay", [1])
    assert (time.perf_counter() - began) / 200 < 0.001


# ------------------------------------------------------------------ time


async def hang() -> None:
    await asyncio.sleep(3600)


async def test_an_async_function_that_takes_too_long() -> None:
    """It is cancelled, and the expression gets a `TimeoutError`."""
    source = "(() => { try { hang() } catch (e) { return e.name + ', ' + e.message } })()"
    log = Lines()
    engine = engine_of(flow(say(f"{{{{{source}}}}}")), functions={"hang": hang}, logger=log)
    session = await talk(engine, "Main")
    assert session.response == "TimeoutError, hang took longer than 5000 ms"
    assert log.lines == [
        "W approved function hang raised TimeoutError: hang took longer than 5000 ms"
    ]


async def test_a_function_s_own_timeout_is_not_ours() -> None:
    """What it raises itself is told as it is."""

    async def own() -> None:
        raise TimeoutError("the bank is slow")

    engine = engine_of(flow(put("a", "own()"), say("x")), functions={"own": own})
    session = await talk(engine, "Main")
    assert [call.error for commit in session.trace for call in commit.calls] == ["the bank is slow"]


def test_a_plain_function_that_takes_too_long() -> None:
    """The step goes on without it."""
    release = threading.Event()
    world = world_of(
        MAIN, functions={"wait": lambda: release.wait(5)}, options=Options(function_timeout_ms=30)
    )
    began = time.perf_counter()
    raised = evaluate(world, scope_at(world), "wait()")
    release.set()
    assert time.perf_counter() - began < 3
    assert isinstance(raised, Raised)
    assert raised.message == "wait took longer than 30 ms"


def test_where_plain_functions_run() -> None:
    """In a thread; on the spot when they are quick, or when there is no limit."""

    def ident() -> int:
        return threading.get_ident()

    here = ident()
    functions = {"there": threading.get_ident, "quick": saywhy.quick(ident)}
    limited = world_of(MAIN, functions=functions)
    free = world_of(MAIN, functions=functions, options=Options(function_timeout_ms=0))
    assert run_function(limited, scope_at(limited), "there", []).value != here
    assert run_function(limited, scope_at(limited), "quick", []).value == here
    assert run_function(free, scope_at(free), "there", []).value == here


# ------------------------------------------------------------------ results


@pytest.mark.parametrize("kind", KINDS)
async def test_an_argument_that_is_no_data_is_refused(kind: Callable[..., Any]) -> None:
    """A Map or a function is an error of the call, which an expression can catch."""
    text = "{{(() => { try { up(SOURCE) } catch (e) { return `${e.name} ${e.message}` } })()}}"
    sources = {
        "new Map([[1, 2]])": "argument 1 is or holds a map",
        "'a', [{f: x => x}]": "argument 2 is or holds a function",
        "Symbol('s')": "argument 1 is or holds a symbol",
    }
    steps = [say(text.replace("SOURCE", source)) for source in sources]
    engine = engine_of(flow(*steps), functions={"up": kind(up)})
    session = await talk(engine, "Main")
    told = [f"TypeError up: {what}; functions take data alone" for what in sources.values()]
    assert session.response == "\n\n".join(told)


@pytest.mark.parametrize("kind", KINDS)
async def test_a_result_that_is_no_data_is_refused(kind: Callable[..., Any]) -> None:
    """With an error that names the function and the type."""

    def odd() -> object:
        return object()

    source = "(() => { try { odd() } catch (e) { return e.name + ': ' + e.message } })()"
    engine = engine_of(flow(say(f"{{{{{source}}}}}")), functions={"odd": kind(odd)})
    session = await talk(engine, "Main")
    assert session.response == (
        "StateValueError: odd is a object, which a conversation cannot hold"
    )


def test_notes_of_older_sessions_are_understood() -> None:
    """An answer noted before errors had names is an `Error`."""
    world = world_of(MAIN, functions={"f": up})
    scope = scope_at(world)
    scope.frame.notes.append({"value": None, "error": "old", "facts": {"after": None}})
    raised = evaluate(world, scope, "f(1)")
    assert isinstance(raised, Raised)
    assert (raised.kind, raised.message) == ("Error", "old")


def test_an_async_function_gets_what_was_checked() -> None:
    """The default stands in for what is undefined there as well."""

    async def later(one: int = 1, two: str = "two") -> None:
        """Awaited by the driver."""

    world = world_of(MAIN, functions={"later": later})
    with pytest.raises(Suspend) as suspended:
        evaluate(world, scope_at(world), "later(undefined, 'b')")
    assert same(suspended.value.need.args, [1, "b"])
    scope = scope_at(world)
    scope.frame.notes.append(Answer(5))
    found = evaluate(world, scope, "later(undefined, 'b')")
    assert isinstance(found, Evaluated)
    assert same(found.calls[0].args, [UNDEFINED, "b"])


async def test_the_limit_can_be_set() -> None:
    """`Engine(function_timeout=…)`, in milliseconds."""

    clock = FakeClock(NOW)

    async def wait() -> str:
        await clock.sleep(7)
        return "done"

    for timeout, said in ((5000, ""), (8000, "done"), (0, "done")):
        engine = engine_of(
            flow(say("{{wait()}}"), say("end")),
            functions={"wait": wait},
            function_timeout=timeout,
            clock=clock,
        )
        session: Session = await talk(engine, "Main")
        assert session.response == (f"{said}\n\nend" if said else "end")


@pytest.mark.parametrize("kind", [*KINDS[:2], pytest.param(None, id="async")])
async def test_one_that_declares_a_context_learns_who_calls_and_when(kind: Any) -> None:
    """`context`, by keyword only, is the session and the time of the engine's clock."""

    def told(text: str, *, context: Any = None) -> list[Any]:
        return [text, context.session_id, context.user_id, context.now()]

    async def later(text: str, *, context: Any = None) -> list[Any]:
        return told(text, context=context)

    engine = engine_of(
        flow(say("{{told('x')}}")), functions={"told": kind(told) if kind else later}
    )
    session = engine.init_session("ann", "s-1")
    session = await engine.update_activity("Main", session)
    assert session.response == f'["x","s-1","ann",{NOW:.0f}]'


def test_a_context_is_no_argument_of_the_expression() -> None:
    """An expression cannot pass it, and what it passes too much is refused as ever."""

    def told(text: str, *, context: Any = None) -> float:
        return context.now()

    world = world_of(MAIN, functions={"told": told})
    found = evaluate(world, scope_at(world), "told('x', 5)")
    assert isinstance(found, Raised)
    assert found.message == "told: it takes 1 argument, not 2"
    assert evaluate(world, scope_at(world), "told('x')").value == NOW  # pyright: ignore
