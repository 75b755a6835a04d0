"""Approved functions: what an expression may call besides JavaScript's own.

Plain ones are carried out within the step: in a thread, so that their time can be limited, or on
the spot when they are marked as `quick`. Those that are `async` suspend the step; who awaits them
is the driver. Either way the arguments were compared with the annotations before.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from typing import Any

from saywhy.chart.failure import failure_text
from saywhy.chart.outcome import Answer, Need
from saywhy.chart.scope import Scope, Suspend
from saywhy.expr.javascript import FunctionAnswer
from saywhy.expr.transfer import foreign_in
from saywhy.flows.blame import one_line
from saywhy.flows.world import World
from saywhy.marks import is_quick, wants_context
from saywhy.tools.invocation import PLAIN_ERRORS, CallContext, fault_of
from saywhy.tools.positional import positional_of
from saywhy.tools.signature import is_async
from saywhy.tools.threads import Late, in_time
from saywhy.values import UNDEFINED, freeze


class Remembered(dict[str, Callable[..., Any]]):
    """Functions whose answers are known beforehand: none of them is called."""

    def answer(self, scope: Scope, name: str, args: list[Any]) -> FunctionAnswer:
        """What this call gave."""
        raise NotImplementedError


def answer_call(world: World, scope: Scope, name: str, args: list[Any]) -> FunctionAnswer:
    """Run an approved function, or take its answer from the step's notes."""
    note = scope.noted()
    if note is not UNDEFINED:
        return _from_note(name, args, note)
    answer = run_function(world, scope, name, args)
    scope.note(
        {
            "value": answer.value,
            "error": answer.error,
            "error_name": answer.error_name,
            "facts": {"after": answer.args_after},
        }
    )
    return answer


def _from_note(name: str, args: list[Any], note: Any) -> FunctionAnswer:
    frozen, _ = _told(args)
    if isinstance(note, Answer):
        after = note.facts.get("after")
        return FunctionAnswer(name, frozen, note.value, note.error, after, note.error_name)
    after = (note.get("facts") or {}).get("after")
    kind = note.get("error_name") or "Error"
    return FunctionAnswer(name, frozen, note.get("value"), note.get("error"), after, kind)


def run_function(world: World, scope: Scope, name: str, args: list[Any]) -> FunctionAnswer:
    """Call a plain approved function; an async one suspends the step.

    What the function changes in its arguments is given back in `args_after`.
    """
    if isinstance(world.functions, Remembered):
        return world.functions.answer(scope, name, args)
    function = world.functions[name]
    frozen, fault = _told(args)
    if fault:
        return FunctionAnswer(name, frozen, None, f"{name}: {fault}", None, "TypeError")
    expected = positional_of(function)
    if expected is not None:
        args = expected.fitted(args)
        fault = expected.fault_in(args)
        if fault:
            return FunctionAnswer(name, frozen, None, f"{name}: {fault}", None, "TypeError")
    given = freeze(args)
    if is_async(function):
        raise Suspend(Need("function", name, given, "reads"))
    try:
        call = _call_of(function, args, scope)
        value = _carried_out(
            call, name, world.options.function_timeout_ms, at_once=is_quick(function)
        )
        if inspect.isawaitable(value):
            if inspect.iscoroutine(value):
                value.close()
            raise Suspend(Need("function", name, given, "reads"))
        result, after = freeze(value, (name,)), freeze(args, (name, "arguments"))
    except PLAIN_ERRORS as error:
        told, kind = failure_text(error), fault_of(error)[1]
        scope.warn(one_line(f"approved function {name} raised {kind}: {told}"))
        return FunctionAnswer(name, frozen, None, told, None, kind)
    return FunctionAnswer(name, frozen, result, None, None if after == given else list(args))


def _told(args: list[Any]) -> tuple[Any, str]:
    """The arguments for the record, and what is wrong with one that is no data."""
    foreign = foreign_in(args)
    if foreign is None:
        return freeze(args), ""
    (number, *_), found = foreign
    kinds = [f"a {inner[1].kind}" if (inner := foreign_in(arg)) else arg for arg in args]
    what = f"argument {int(number) + 1} is or holds a {found.kind}; functions take data alone"
    return freeze(kinds), what


def _call_of(function: Callable[..., Any], args: list[Any], scope: Scope) -> Callable[[], Any]:
    """The call, ready to be made. Its time is the step's, so that it gives the same once more."""
    if not wants_context(function):
        return partial(function, *args)
    context = CallContext(
        session_id=str(scope.peek(("session", "sessionId")) or ""),
        user_id=str(scope.peek(("session", "userId")) or ""),
        moment=scope.now,
    )
    return partial(function, *args, context=context)


def _carried_out(call: Callable[[], Any], name: str, timeout_ms: float, *, at_once: bool) -> Any:
    """What the function gives, within its time."""
    if at_once or not timeout_ms:
        return call()
    try:
        return in_time(call, timeout_ms / 1000)
    except Late:
        raise Late(late_text(name, timeout_ms)) from None


def late_text(name: str, timeout_ms: float) -> str:
    """What is said of a function that did not come to an end."""
    return f"{name} took longer than {timeout_ms:g} ms"
