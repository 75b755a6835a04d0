"""Awaits the approved functions that are `async`; how a step calls them is `flows.functions`."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from functools import partial
from typing import Any

import msgspec

from saywhy.chart.failure import failure_text
from saywhy.chart.outcome import Answer, Need
from saywhy.clock import Clock
from saywhy.flows.functions import late_text
from saywhy.flows.world import World
from saywhy.marks import wants_context
from saywhy.tools.invocation import FUNCTION_ERRORS, CallContext, fault_of, is_running
from saywhy.tools.threads import Late
from saywhy.values import freeze, thaw


class _Outcome(msgspec.Struct, frozen=True):
    """How it ended: so that an error of the function's is told from one of ours."""

    value: Any = None
    error: BaseException | None = None


async def answer_function(
    world: World, clock: Clock, need: Need, context: CallContext | None = None
) -> Answer:
    """What the function gives within its time, or how it failed.

    `context` is for a function that asks; without one it learns the clock.
    """
    args = thaw(need.args)
    function = world.functions[need.name]
    call = partial(function, *args)
    if wants_context(function):
        call = partial(call, context=context or CallContext(clock=clock))
    outcome = await _within(world.options.function_timeout_ms, clock, need, call)
    if outcome.error is None:
        try:
            result = freeze(outcome.value, (need.name,))
            after = freeze(args, (need.name, "arguments"))
        except Exception as error:  # no data, or contains itself
            outcome = _Outcome(error=error)
        else:
            return Answer(result, facts={} if after == need.args else {"after": after})
    assert outcome.error is not None
    return Answer(error=failure_text(outcome.error), error_name=fault_of(outcome.error)[1])


async def _within(timeout_ms: float, clock: Clock, need: Need, call: Callable[[], Any]) -> _Outcome:
    late = _Outcome(error=Late(late_text(need.name, timeout_ms)))
    work = _called(call)
    if not timeout_ms:
        return await work
    began = clock.now()
    try:
        outcome = await clock.wait_for(work, timeout_ms / 1000)
    except TimeoutError:
        return late
    # It may have been cancelled by our limit and have turned that into an error of its own.
    is_late = outcome.error is not None and clock.now() - began >= timeout_ms
    return late if is_late else outcome


async def _called(call: Callable[[], Any]) -> _Outcome:
    task = asyncio.current_task()
    try:
        value = call()
        return _Outcome(await value if inspect.isawaitable(value) else value)
    except GeneratorExit as error:
        if not is_running(task):
            raise
        return _Outcome(error=error)
    except FUNCTION_ERRORS as error:
        is_cancelled = task is not None and bool(task.cancelling())
        if isinstance(error, asyncio.CancelledError) and is_cancelled:
            raise  # the turn is cancelled; else it is the function's own doing
        return _Outcome(error=error)
