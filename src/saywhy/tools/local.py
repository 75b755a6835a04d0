"""Tools that are functions of the host.

Functions of two kinds of call exist: with one object, or with the values one after the other.
Those that are not `async` run in a thread (see `threads`), except for functions marked as `quick`
and tools with `"thread": false`, for what is bound to the loop's thread; no time limit ends those.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import PurePath
from typing import Any, Final

import msgspec

from saywhy.errors import did_you_mean
from saywhy.marks import CONTEXT, is_quick
from saywhy.tools.arguments import plain
from saywhy.tools.invocation import (
    PLAIN_ERRORS,
    Invocation,
    Outcome,
    code_of,
    fault_of,
    is_running,
    refused,
)
from saywhy.tools.signature import is_async
from saywhy.tools.threads import GRACE_SECONDS, SHARED, Job, TooManyLost
from saywhy.tools.tool import Tool

_HERE: Final = PurePath(__file__).parent
_HAPPENED: Final = "it was still running when its time was up; its effect may have happened"
_NOT_STARTED: Final = "no thread was free in that time; the function was not called"


@dataclass(slots=True)
class _Plan:
    """What a function's signature says about calling it, worked out once."""

    is_async: bool
    least: int
    """Positional parameters without a default."""
    most: float
    context_at: float | None = None
    """The position of `context`; infinite when keyword-only, None when there is none."""
    is_quick: bool = False
    grace_seconds: float = GRACE_SECONDS


async def invoke(invocation: Invocation) -> Outcome:
    """Call the tool's function, again after an error as often as `retries` says."""
    tool = invocation.tool
    name = tool.implementation.function
    function = tool.function or invocation.functions.get(name)
    if function is None:
        return refused(
            f'Function "{name}" not found in approved functions registry',
            did_you_mean(name, tuple(invocation.functions))
            or f"hand the engine a function under the name {name}",
        )
    outcome = await _attempt(invocation, function)
    for _ in range(tool.implementation.retries):
        if outcome.fault is None:
            break
        outcome = await _attempt(invocation, function)
    return outcome


async def _attempt(invocation: Invocation, function: Callable[..., Any]) -> Outcome:
    number = invocation.record()
    # An attempt that failed may have changed what it was handed: the next one starts afresh.
    again = invocation.tool.implementation.retries > 0
    arguments = plain(invocation.arguments) if again else invocation.arguments
    plan = _plan_of(function)
    call = _bound(invocation, function, plan, arguments, number)
    if plan.is_async:
        outcome = await _awaited(invocation, call())
        if outcome.fault is None and not _is_awaitable(outcome.value):
            return Outcome(value=outcome.value, arguments=arguments)
    elif plan.is_quick or invocation.tool.implementation.raw.get("thread") is False:
        outcome = _on_the_loop(call)
    else:
        outcome = await _in_thread(invocation, plan, call)
    if outcome.fault is None and _is_awaitable(outcome.value):
        outcome = await _awaited(invocation, outcome.value)
    changed = None if outcome.may_have_happened else arguments
    return Outcome(
        value=outcome.value,
        fault=outcome.fault,
        fault_name=outcome.fault_name,
        fault_code=outcome.fault_code,
        hint=outcome.hint,
        at=outcome.at,
        may_have_happened=outcome.may_have_happened,
        arguments=changed,
    )


_PLAIN: Final = frozenset({dict, list, str, int, float, bool, type(None)})


def _is_awaitable(value: Any) -> bool:
    # Most answers are plain, and asking `inspect` costs as much as a quick call.
    return type(value) not in _PLAIN and inspect.isawaitable(value)


# ------------------------------------------------------------------ how to call


def _plan_of(function: Callable[..., Any]) -> _Plan:
    try:
        return _cached_plan(function)
    except TypeError:  # not hashable, so not remembered
        return _read_plan(function)


def _read_plan(function: Callable[..., Any]) -> _Plan:
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):  # written in C, and silent about its parameters
        return _Plan(is_async(function), 0, float("inf"))
    least, most, context_at = 0, 0.0, None
    for parameter in parameters.values():
        if parameter.kind is parameter.VAR_POSITIONAL:
            most = float("inf")
        elif parameter.kind is parameter.KEYWORD_ONLY:
            context_at = float("inf") if parameter.name == CONTEXT else context_at
        elif parameter.kind is not parameter.VAR_KEYWORD:
            if parameter.name == CONTEXT:
                context_at = most
            least += parameter.default is parameter.empty
            most += 1
    return _Plan(is_async(function), least, most, context_at, is_quick(function))


_cached_plan = lru_cache(maxsize=512)(_read_plan)


def _bound(
    invocation: Invocation,
    function: Callable[..., Any],
    plan: _Plan,
    arguments: dict[str, Any],
    attempt: int,
) -> Callable[[], Any]:
    """The call, ready to be made."""
    tool = invocation.tool
    if tool.style == "object":
        positional = [arguments] if plan.most else []
    else:
        positional = _in_order(tool, plan, arguments)
    # A parameter that the tool itself calls "context" is the author's, not ours.
    at = plan.context_at
    if at is None or at < len(positional) or (CONTEXT in tool.properties and at != float("inf")):
        return partial(function, *positional)
    context = msgspec.structs.replace(
        invocation.context, tool=tool.id, attempt=attempt, clock=invocation.clock
    )
    return partial(function, *positional, context=context)


def _in_order(tool: Tool, plan: _Plan, arguments: Mapping[str, Any]) -> list[Any]:
    """The values one after the other. A gap gets the declared default, else None.

    Values missing at the end are left to the function's own defaults.
    """
    order = tool.positional_order or tuple(arguments)
    last = max((i for i, name in enumerate(order) if name in arguments), default=-1)
    needed = plan.least - (plan.context_at is not None and plan.context_at < plan.least)
    count = max(last + 1, min(needed, len(order)))
    return [
        arguments[name] if name in arguments else plain(tool.properties[name].get("default"))
        for name in order[:count]
    ]


# ------------------------------------------------------------------ calling


def _on_the_loop(call: Callable[[], Any]) -> Outcome:
    try:
        return Outcome(value=call())
    except PLAIN_ERRORS as error:
        return _raised(error)


async def _in_thread(invocation: Invocation, plan: _Plan, call: Callable[[], Any]) -> Outcome:
    try:
        job = SHARED.start(call)
    except TooManyLost as error:
        return Outcome(fault=error.message, fault_name=error.name, hint=error.hint)
    except RuntimeError as error:  # the operating system refused another thread
        return Outcome(fault=str(error), fault_name="RuntimeError", hint="the program has too many")
    try:
        if not job.done_within(plan.grace_seconds if job.started else 0):
            await invocation.clock.wait_for(job.wait(), _seconds(invocation))
    except TimeoutError:
        began = SHARED.give_up(job)
        if not job.done_within(0):
            job.abandon()
            return _timed_out(invocation, began=began)
    except BaseException:
        SHARED.give_up(job)
        job.abandon()
        raise
    plan.grace_seconds = GRACE_SECONDS if job.seconds < GRACE_SECONDS else 0
    return _outcome_of(job)


def _outcome_of(job: Job) -> Outcome:
    if job.error is None:
        return Outcome(value=job.result)
    if isinstance(job.error, PLAIN_ERRORS):
        return _raised(job.error)
    raise job.error


async def _awaited(invocation: Invocation, awaitable: Any) -> Outcome:
    """The outcome of a coroutine within the time limit."""
    clock = invocation.clock
    began = clock.now()
    task = asyncio.current_task()
    try:
        outcome = await clock.wait_for(_caught(awaitable), _seconds(invocation))
    except TimeoutError:
        return _timed_out(invocation, began=True)
    except asyncio.CancelledError as error:
        if task is not None and task.cancelling():
            raise
        return _raised(error)
    if outcome.fault is None:
        return outcome
    if clock.now() - began >= invocation.tool.implementation.timeout_ms:
        # It was cancelled by our time limit and turned that into an error of its own.
        return _timed_out(invocation, began=True)
    return outcome


async def _caught(awaitable: Any) -> Outcome:
    """So that a `TimeoutError` of the function's own is told from ours."""
    task = asyncio.current_task()
    try:
        return Outcome(value=await awaitable)
    except (Exception, SystemExit) as error:
        return _raised(error)
    except GeneratorExit as error:
        if not is_running(task):
            raise
        return _raised(error)


def _seconds(invocation: Invocation) -> float:
    return invocation.tool.implementation.timeout_ms / 1000


def _timed_out(invocation: Invocation, *, began: bool) -> Outcome:
    implementation = invocation.tool.implementation
    acts = invocation.tool.effect != "reads"
    return Outcome(
        fault=f"Tool execution timeout after {implementation.timeout_ms:g}ms - "
        f"{implementation.function}",
        fault_name="TimeoutError",
        hint=_NOT_STARTED if not began else _HAPPENED if acts else "it only reads",
        may_have_happened=began and acts,
    )


def _raised(error: BaseException) -> Outcome:
    message, name = fault_of(error)
    return Outcome(fault=message, fault_name=name, fault_code=code_of(error), at=_spot(error))


def _spot(error: BaseException) -> str:
    """`pay.py:12 in charge`: where it was raised, without folders; empty inside this package."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return ""
    code = trace.tb_frame.f_code
    file = PurePath(code.co_filename)
    if file.parent == _HERE:
        return ""
    return f"{file.name}:{trace.tb_lineno} in {code.co_name}"
