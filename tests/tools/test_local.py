"""Promise: a function of the host is called as it is written, in time, and says what it did."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest

from saywhy.clock import SystemClock
from saywhy.marks import quick
from saywhy.testing.clock import START_MS, FakeClock
from saywhy.tools.call import CallContext, call_tool
from saywhy.tools.limit import MemoryLimiter
from saywhy.tools.registry import Registry
from saywhy.tools.tool import tool_from_function
from saywhy.values import UNDEFINED, BigInt, Date, freeze, same

FLAT = {"a": {"type": "string"}, "b": {"type": "string", "default": "B"}, "c": {}}


@pytest.fixture
def gate() -> Iterator[threading.Event]:
    """Functions wait at it; opened at the end, so that no thread outlives its test."""
    event = threading.Event()
    yield event
    event.set()


# ------------------------------------------------------------------ how arguments arrive


def echo(*values: Any) -> list[Any]:
    return list(values)


def test_object_style_gets_one_dict(call: Any, define: Any) -> None:
    """A schema of type object makes one argument, a plain dict."""
    seen: list[Any] = []
    answer = call(seen.append, {"a": freeze({"b": [1]})}, tool=define({"type": "object"}))
    assert answer.fault is None
    assert seen == [{"a": {"b": [1]}}]
    assert type(seen[0]["a"]["b"]) is list


def test_flat_style_gets_values_in_order(call: Any, define: Any) -> None:
    """Required parameters first, then the rest as the definition lists them."""
    tool = define(FLAT, required=["c"])
    answer = call(echo, {"a": "one", "b": "two", "c": "three"}, tool=tool)
    assert same(answer.value, ["three", "one", "two"])


@pytest.mark.parametrize(
    ("function", "args", "value"),
    [
        (echo, {}, []),
        (echo, {"a": 1}, [1]),
        (echo, {"c": 3}, [None, "B", 3]),
        (lambda a, b, c="own": [a, b, c], {"a": 1}, [1, "B", "own"]),
        (lambda a, b="own": [a, b], {"a": 1}, [1, "own"]),
        (lambda a, b, c: [a, b, c], {}, [None, "B", None]),
    ],
)
def test_gaps_in_flat_style(
    call: Any, define: Any, function: Any, args: dict[str, Any], value: list[Any]
) -> None:
    """A gap gets the declared default or None; at the end the function's own defaults hold."""
    assert same(call(function, args, tool=define(FLAT)).value, value)


def test_a_function_without_parameters_gets_none(call: Any) -> None:
    """One that needs nothing is called with nothing."""
    assert call(lambda: "pong", {"q": 1}).value == "pong"


def test_values_arrive_as_pythons_own(call: Any) -> None:
    """No frozen wrappers, no undefined; dates stay what they are."""
    seen: list[Any] = []
    call(seen.append, {"n": BigInt(2**70), "o": freeze({"u": UNDEFINED, "d": Date(0)})})
    assert seen == [{"n": 2**70, "o": {"d": Date(0)}}]


def test_context_tells_who_calls(call: Any, define: Any) -> None:
    """A function with a `context` parameter learns session, user, tool, key and attempt."""

    def who(args: dict[str, Any], context: CallContext) -> list[Any]:
        assert context.clock is not None
        return [
            context.session_id,
            context.user_id,
            context.transaction_id,
            context.key,
            context.tool,
            context.attempt,
            context.clock.now(),
        ]

    value = call(who, {}, tool=define(id="work-1")).value
    assert same(value, ["s-1", "u-1", "t-1", "s-1:4:2", "work-1", 1, START_MS])


@pytest.mark.parametrize(
    ("parameters", "function", "value"),
    [
        (FLAT, lambda a, context=None: [a, context is not None], ["x", True]),
        (FLAT, lambda a, b="b", *, context: [a, b, context.user_id], ["x", "b", "u-1"]),
        (FLAT, lambda context: [context], ["x"]),
        (None, lambda context: [context], [{"a": "x"}]),
        (None, lambda args, **rest: [args["a"], rest], ["x", {}]),
        (
            {"a": {}, "context": {}},
            lambda a, context="mine": [a, context],
            ["x", "mine"],
        ),
    ],
)
def test_context_takes_nobodys_place(
    call: Any, define: Any, parameters: Any, function: Any, value: list[Any]
) -> None:
    """A parameter that the tool fills itself is left to it, whatever it is called."""
    assert same(call(function, {"a": "x"}, tool=define(parameters)).value, value)


def test_functions_with_named_parameters(call: Any) -> None:
    """A Python function as a tool gets its arguments by name, converted."""

    def add(a: int, b: int = 2, *, context: CallContext) -> str:
        return f"{a + b} {context.user_id}"

    tool, function = tool_from_function(add, name="Work")
    answer = call(None, {"a": 40}, tool=tool)
    assert answer.fault is not None  # not registered yet
    answer = _call_registered(tool, function, {"a": 40})
    assert answer.value == "42 u-1"


def _call_registered(tool: Any, function: Any, args: dict[str, Any]) -> Any:
    clock = FakeClock()
    return asyncio.run(
        call_tool(
            Registry([tool]),
            "Work",
            args,
            CallContext(user_id="u-1"),
            functions={"Work": function},
            limiter=MemoryLimiter(clock),
            clock=clock,
        )
    )


def test_functions_written_in_c_and_partial_ones(call: Any, define: Any) -> None:
    """Anything callable will do, also what cannot be remembered in a cache."""

    class Odd(list[int]):
        def __call__(self, a: str) -> str:
            return a + "!"

    flat = define({"a": {}})
    assert call(str.upper, {"a": "x"}, tool=flat).value == "X"
    assert (
        call(partial(echo, 1), {"a": 2}, tool=flat).to_json()
        == call(lambda a: [1, a], {"a": 2}, tool=flat).to_json()
    )
    assert call(Odd(), {"a": "x"}, tool=flat).value == "x!"
    assert call(int, {"a": "12"}, tool=flat).value == 12


# ------------------------------------------------------------------ sync, async, threads


def test_plain_functions_do_not_run_on_the_loop(call: Any) -> None:
    """They cannot hold up other conversations; `"thread": false` keeps them on the loop."""
    here = threading.get_ident()
    assert call(lambda: threading.get_ident() != here).value is True


def test_a_function_bound_to_the_loops_thread(call: Any, define: Any) -> None:
    """With `"thread": false` it runs where the loop runs."""
    here = threading.get_ident()
    tool = define(implementation={"thread": False})
    assert call(lambda: threading.get_ident() == here, tool=tool).value is True

    def broken() -> None:
        raise ValueError("no")

    assert call(broken, tool=tool).fault_message == "no"


def test_a_quick_function_needs_no_thread(call: Any) -> None:
    """What is marked as returning at once runs on the loop."""
    here = threading.get_ident()
    assert call(quick(lambda: threading.get_ident() == here)).value is True


def test_async_functions_are_awaited(call: Any) -> None:
    """So is what a plain function returns to be awaited."""

    async def later(args: dict[str, Any]) -> Any:
        await asyncio.sleep(0)
        return args["a"]

    assert call(later, {"a": 1}).value == 1
    assert call(lambda args: later({"a": args["a"] + 1}), {"a": 1}).value == 2


def test_other_conversations_go_on_meanwhile(gate: threading.Event, define: Any) -> None:
    """A slow function holds up nobody but its own conversation."""

    async def main() -> list[Any]:
        clock = SystemClock()
        registry = Registry([define({"type": "object"})])
        functions = {"work": lambda args: gate.wait(5) if args["a"] == "slow" else gate.set()}

        async def one(name: str) -> Any:
            answer = await call_tool(
                registry,
                "Work",
                {"a": name},
                CallContext(),
                functions=functions,
                limiter=MemoryLimiter(clock),
                clock=clock,
            )
            return answer.value

        return await asyncio.gather(one("slow"), one("quick"))

    assert asyncio.run(main()) == [True, None]


# ------------------------------------------------------------------ errors and repeats


def test_an_unknown_function_is_refused(call: Any, define: Any) -> None:
    """Nothing was called, so nothing is listed; a slip of the keys is recognised."""
    answer = call(lambda: 1, tool=define(implementation={"function": "wrok"}))
    assert answer.fault_message == 'Function "wrok" not found in approved functions registry'
    assert answer.fault_hint == 'did you mean "work"?'
    assert answer.refused is True
    assert answer.attempts == ()
    assert call(None).fault_hint == "hand the engine a function under the name work"


@pytest.mark.parametrize("is_async", [False, True])
def test_an_error_is_an_answer(call: Any, is_async: bool) -> None:
    """Message, name and the line that raised are kept; nobody wonders whether it happened."""

    def stalled() -> None:
        raise ConnectionError("engine stalled")

    async def stalled_later() -> None:
        stalled()

    answer = call(stalled_later if is_async else stalled)
    assert (answer.fault_message, answer.fault_name) == ("engine stalled", "ConnectionError")
    assert answer.fault_at.startswith("test_local.py:")
    assert answer.fault_at.endswith(" in stalled")
    assert answer.may_have_happened is False
    assert answer.refused is False


def test_a_call_that_does_not_fit_the_function(call: Any, define: Any) -> None:
    """Python's own words say what is wrong, and no line of ours is blamed."""
    answer = call(lambda a: a, {"a": 1, "b": 2}, tool=define({"a": {}, "b": {}}))
    assert answer.fault_name == "TypeError"
    assert "takes 1 positional argument but 2 were given" in answer.fault_message
    assert answer.fault_at == ""


def _raise(error: BaseException) -> None:
    raise error


@pytest.mark.parametrize("error", [SystemExit("bye"), asyncio.CancelledError("gone")])
def test_a_function_cannot_end_the_program(call: Any, error: BaseException) -> None:
    """Leaving, or pretending to be cancelled, is an error like others."""
    answer = call(lambda: _raise(error))
    assert answer.fault_message == str(error)


def test_an_async_function_that_cancels_itself_failed(call: Any) -> None:
    """Only the turn's own cancelling goes further up."""

    async def gone() -> None:
        raise asyncio.CancelledError("gone")

    answer = call(gone)
    assert (answer.fault_message, answer.fault_name) == ("gone", "CancelledError")


def test_a_stop_iteration_is_an_error(call: Any) -> None:
    """The error that coroutines cannot pass on arrives all the same."""
    assert call(lambda: next(iter(()))).fault_name == "StopIteration"


def test_retries_repeat_at_once_and_are_all_listed(call: Any, define: Any) -> None:
    """Whatever the error was; each attempt knows its number and shares the key."""
    seen: list[tuple[int, str]] = []

    def third_time(args: dict[str, Any], context: CallContext) -> str:
        seen.append((context.attempt, context.key))
        if context.attempt < 3:
            raise ValueError("not yet")
        return "done"

    clock = FakeClock()
    answer = call(third_time, tool=define(implementation={"retries": 5}), clock=clock)
    assert answer.value == "done"
    assert seen == [(1, "s-1:4:2"), (2, "s-1:4:2"), (3, "s-1:4:2")]
    assert len(answer.attempts) == 3
    assert clock.now() == START_MS


def test_retries_come_to_an_end(call: Any, define: Any) -> None:
    """The last error is the answer."""
    numbers = iter(range(9))

    def broken() -> None:
        raise ValueError(f"no {next(numbers)}")

    answer = call(broken, tool=define(implementation={"retries": 2}))
    assert answer.fault_message == "no 2"
    assert len(answer.attempts) == 3


# ------------------------------------------------------------------ objects by reference


def test_a_change_to_what_was_handed_over_is_told(call: Any) -> None:
    """A function may write into an object it was given; the caller sees it in the answer."""
    given = freeze({"seen": "no", "list": [1]})

    def mark(args: dict[str, Any]) -> bool:
        args["box"]["seen"] = "yes"
        args["box"]["list"].append(2)
        return True

    answer = call(mark, {"box": given, "n": 1})
    assert answer.value is True
    assert same(answer.arguments_after, {"box": {"seen": "yes", "list": [1, 2]}, "n": 1})
    assert same(given, {"seen": "no", "list": [1]})


def test_in_flat_style_too(call: Any, define: Any) -> None:
    """The change is found under the parameter's name."""

    def mark(a: Any, box: dict[str, Any]) -> None:
        box["seen"] = a

    tool = define({"a": {}, "box": {"type": "object"}})
    answer = call(mark, {"a": "x", "box": freeze({})}, tool=tool)
    assert same(answer.arguments_after, {"a": "x", "box": {"seen": "x"}})


def test_no_change_no_word(call: Any) -> None:
    """Objects that were only read are not handed back, whatever they hold."""
    box = freeze({"a": [1], "u": UNDEFINED, "n": BigInt(3), "d": Date(0)})
    assert call(len, {"box": box, "t": "x"}).arguments_after is None
    assert call(lambda args: 1, {"n": float("nan"), "m": None}).arguments_after is None


def test_a_change_before_an_error_counts(call: Any) -> None:
    """What a function wrote before it failed is handed back."""

    def half(args: dict[str, Any]) -> None:
        args["box"]["tries"] = 1
        raise ValueError("no")

    answer = call(half, {"box": freeze({})})
    assert answer.fault_message == "no"
    assert same(answer.arguments_after, {"box": {"tries": 1}})


def test_each_attempt_starts_afresh(call: Any, define: Any) -> None:
    """A failed attempt leaves nothing behind in the objects of the next."""

    def grow(args: dict[str, Any], context: CallContext) -> int:
        args["box"].append(1)
        if context.attempt < 3:
            raise ValueError("not yet")
        return len(args["box"])

    answer = call(grow, {"box": freeze([])}, tool=define(implementation={"retries": 2}))
    assert answer.value == 1
    assert same(answer.arguments_after, {"box": [1]})


def test_a_function_that_runs_on_hands_nothing_back(
    call: Any, define: Any, gate: threading.Event
) -> None:
    """While it may still write, its objects are nobody's business."""

    def late(args: dict[str, Any]) -> None:
        args["box"]["seen"] = 1
        gate.wait(5)

    tool = define(implementation={"timeout": 50})
    answer = call(late, {"box": freeze({})}, tool=tool, clock=SystemClock())
    assert answer.may_have_happened is True
    assert answer.arguments_after is None


def test_what_no_conversation_can_hold_is_not_handed_back(call: Any) -> None:
    """An object of a class put into a given object is left out, and the answer stands."""

    def odd(args: dict[str, Any]) -> str:
        args["box"]["thing"] = object()
        return "ok"

    answer = call(odd, {"box": freeze({})})
    assert (answer.value, answer.arguments_after) == ("ok", None)
