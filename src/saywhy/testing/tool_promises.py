"""The promises of a tool, one function each; the docstring is the promise. See `check_tool`."""

from __future__ import annotations

import copy
import inspect
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import count
from typing import Any, Final, TypeAlias

from saywhy.clock import SystemClock
from saywhy.tools.answer import ToolAnswer
from saywhy.tools.arguments import complete, errors_in, plain
from saywhy.tools.call import call_tool
from saywhy.tools.diagnostics import Returns
from saywhy.tools.http.client import HttpClient
from saywhy.tools.invocation import CallContext
from saywhy.tools.limit import MemoryLimiter
from saywhy.tools.registry import Registry
from saywhy.tools.security import OPEN
from saywhy.tools.tool import Tool
from saywhy.values import UNDEFINED, BigInt, NonFinite

LATE_SECONDS: Final = 2.0
"""How much longer than its limit a call may take on a busy machine."""

_NUMBERS: Final = count(1)
"""So that no two calls share a key by chance."""

_ALIENS: Final[Mapping[str, Any]] = {
    "string": {"not": "text"},
    "number": "no number",
    "integer": 1.5,
    "boolean": "neither",
    "array": "no list",
    "object": "no object",
}
"""Type of a parameter → a value that it must not take."""


@dataclass(frozen=True, slots=True)
class Bench:
    """A tool with what is needed to try it."""

    tool: Tool
    good: tuple[Mapping[str, Any], ...]
    bad: tuple[Mapping[str, Any], ...]
    failing: tuple[Mapping[str, Any], ...]
    slow: Mapping[str, Any] | None
    probe: Callable[[], Any] | None
    functions: Mapping[str, Callable[..., Any]]
    http: HttpClient | None

    async def call(self, arguments: Mapping[str, Any], key: str = "") -> ToolAnswer:
        """Call the tool as an engine does, under a key of its own unless one is given."""
        clock = SystemClock()
        return await call_tool(
            Registry([self.tool]),
            self.tool.id,
            copy.deepcopy(dict(arguments)),
            CallContext(
                session_id="check",
                user_id="check",
                key=key or f"check:{time.time_ns()}:{next(_NUMBERS)}",
                authenticated=True,
            ),
            functions=self.functions,
            limiter=MemoryLimiter(clock),
            clock=clock,
            strict=True,
            http=self.http,
            known=None,
        )

    async def succeed(self, arguments: Mapping[str, Any], key: str = "") -> ToolAnswer:
        """The answer to arguments that the tool must take."""
        answer = await self.call(arguments, key)
        if answer.fault_message is not None:
            raise AssertionError(f"with {arguments} it failed: {answer.fault_message}")
        return answer

    async def look(self) -> Any:
        """What the probe sees, as it is now; None where there is no probe."""
        seen = self.probe() if self.probe else None
        return copy.deepcopy(await seen if inspect.isawaitable(seen) else seen)


Check: TypeAlias = Callable[[Bench], Awaitable[None]]


def bare(tool: Tool) -> Tool:
    """The tool without what stands between callers and it, all of which is the engine's own."""
    return replace(tool, approval=None, rate_limit=None, security=OPEN, cache=None, breaker=None)


# ------------------------------------------------------------------ arguments and answers


async def takes_what_it_should(bench: Bench) -> None:
    """Good arguments are taken, and the answer is data that JSON can hold."""
    for arguments in bench.good:
        answer = await bench.succeed(arguments)
        for path, value in _leaves(plain(answer.value), "the answer"):
            if value is UNDEFINED or isinstance(value, NonFinite | BigInt):
                raise AssertionError(f"{path} is {value!r}, which JSON cannot hold")


async def refuses_what_it_should(bench: Bench) -> None:
    """Wrong arguments are refused by the schema, before anything is done."""
    for arguments in bench.bad:
        if not _errors(bench.tool, arguments):
            raise AssertionError(f"its schema takes {dict(arguments)}")
    for arguments, why in _spoilt(bench.tool, bench.good[0]):
        if not _errors(bench.tool, arguments):
            raise AssertionError(f"its schema takes {arguments}, {why}")


async def answers_as_it_says(bench: Bench) -> None:
    """Every answer has the shape that `returns` promises."""
    returns = Returns()
    for arguments in bench.good if bench.tool.returns is not None else ():
        answer = await bench.succeed(arguments)
        warning = returns.warning(bench.tool, answer.value)
        if warning is not None:
            raise AssertionError(f"with {dict(arguments)}: {warning}")


async def says_that_it_failed(bench: Bench) -> None:
    """An error is an error: it is raised, and no answer that looks like success."""
    for arguments in bench.failing:
        answer = await bench.call(arguments)
        if answer.fault_message is None:
            raise AssertionError(f"with {dict(arguments)} it answered {plain(answer.value)!r}")
        if answer.refused:
            raise AssertionError(
                f"with {dict(arguments)} it was not even called: {answer.fault_message}"
            )


# ------------------------------------------------------------------ effects and time


async def reads_only(bench: Bench) -> None:
    """What `reads` changes nothing: asked twice it answers the same."""
    if bench.tool.effect != "reads":
        return
    for arguments in bench.good:
        before = await bench.look()
        first, second = await bench.succeed(arguments), await bench.succeed(arguments)
        if first.value != second.value:
            raise AssertionError(
                f"with {dict(arguments)} it answered {plain(first.value)!r}, "
                f"then {plain(second.value)!r}"
            )
        after = await bench.look()
        if before != after:
            raise AssertionError(f"the probe saw {before!r} before, and {after!r} after")


async def acts_once_for_a_key(bench: Bench) -> None:
    """What is `repeatable` acts once for one key, however often it is called with it."""
    if bench.tool.effect != "repeatable":
        return
    for arguments in bench.good:
        key = f"check:{time.time_ns()}:{next(_NUMBERS)}"
        before = await bench.look()
        await bench.succeed(arguments, key)
        first = await bench.look()
        await bench.succeed(arguments, key)
        second = await bench.look()
        if before == first:
            raise AssertionError(f"the probe saw {before!r} before and after: it shows no effect")
        if first != second:
            raise AssertionError(
                f"the probe saw {first!r} after the first call, {second!r} after the second one "
                "with the same key"
            )


async def keeps_to_its_time(bench: Bench) -> None:
    """A call that takes too long ends at its time limit, and says whether it may have acted."""
    if bench.slow is None:
        return
    limit = bench.tool.implementation.timeout_ms / 1000
    began = time.monotonic()
    answer = await bench.call(bench.slow)
    took = time.monotonic() - began
    if answer.fault_message is None or "timeout" not in answer.fault_message.lower():
        came = answer.fault_message or f"the answer {plain(answer.value)!r}"
        raise AssertionError(f"a time-out after {limit:g} s was expected, and there came: {came}")
    most = (limit + LATE_SECONDS) * (1 + bench.tool.implementation.retries)
    if took > most:
        raise AssertionError(f"it ended after {took:.1f} s, its limit is {limit:g} s")
    if answer.may_have_happened is (bench.tool.effect == "reads"):
        said = "may have acted" if answer.may_have_happened else "did not act"
        raise AssertionError(f"its effect is {bench.tool.effect}, and it says that it {said}")


TOOL_CHECKS: Final[tuple[Check, ...]] = (
    refuses_what_it_should,
    takes_what_it_should,
    answers_as_it_says,
    says_that_it_failed,
    reads_only,
    acts_once_for_a_key,
    keeps_to_its_time,
)


# ------------------------------------------------------------------ parts


def _errors(tool: Tool, arguments: Mapping[str, Any]) -> list[str]:
    """What the schema says, without calling anything."""
    return errors_in(tool, plain(complete(tool, arguments)), strict=True)


def _spoilt(tool: Tool, good: Mapping[str, Any]) -> Iterator[tuple[dict[str, Any], str]]:
    """Good arguments with one thing wrong, as far as the schema says what that is."""
    for name in tool.required:
        yield {key: value for key, value in good.items() if key != name}, f"without {name}"
    for name, schema in tool.properties.items():
        kind = schema.get("type") if isinstance(schema, Mapping) else None
        if isinstance(kind, str) and kind in _ALIENS:
            yield {**good, name: _ALIENS[kind]}, f"where {name} is of another type"
    if tool.schema.get("additionalProperties") is False:
        yield {**good, "unheard_of": 1}, "which has a property too many"


def _leaves(tree: Any, path: str) -> Iterator[tuple[str, Any]]:
    if isinstance(tree, Mapping):
        for name, value in tree.items():
            yield from _leaves(value, f"{path}.{name}")
    elif isinstance(tree, list):
        for number, value in enumerate(tree):
            yield from _leaves(value, f"{path}[{number}]")
    else:
        yield path, tree
