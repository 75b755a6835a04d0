"""The one path of every tool call, whoever asks for it: a flow's step or a model.

Look-up, rate limit, nulls, schema, approval, journal, attempt, mapping, result, always in this
order, so that a refused call leaves no trace outside. What can go wrong is data in the answer, not
an exception: only a cancelled turn raises. Whether to call again is `retry`; what the journal
writes, and who is asked for approval, belongs to the driver.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any, Final

import msgspec

from saywhy.clock import Clock
from saywhy.errors import MappingError, StateValueError
from saywhy.tools import local, mock
from saywhy.tools.answer import Around, Attempt, ToolAnswer
from saywhy.tools.approval import digest_of, wants_approval
from saywhy.tools.arguments import complete, errors_in, plain, refusal
from saywhy.tools.guards import Guards, Refusal
from saywhy.tools.http import invoke as http_tool
from saywhy.tools.http.client import HttpClient
from saywhy.tools.invocation import CallContext, Invocation, Kind, Outcome
from saywhy.tools.known import NOTHING, Known, unknown_in
from saywhy.tools.limit import Limiter, refused_text
from saywhy.tools.mapped import ALONE, Surroundings, map_answer
from saywhy.tools.mcp import invoke as mcp_tool
from saywhy.tools.registry import Registry
from saywhy.tools.result import as_value
from saywhy.tools.tool import Tool
from saywhy.tools.tool_result import ToolResult
from saywhy.values import freeze, same

__all__ = ["Approved", "Attempt", "CallContext", "ToolAnswer", "call_tool", "mapped_answer"]

KINDS: Final[dict[str, Kind]] = {
    "local": local.invoke,
    "http": http_tool.invoke,
    "mcp": mcp_tool.invoke,
    "mock": mock.invoke,
}
"""Kind of implementation → how it is carried out. A new kind of tool is one row."""


class Approved(msgspec.Struct, frozen=True):
    """A person's word for one tool with one set of arguments; see `approval.digest_of`."""

    digest: str
    salt: str


async def call_tool(
    registry: Registry,
    name: str,
    args: Mapping[str, Any],
    context: CallContext,
    *,
    functions: Mapping[str, Callable[..., Any]],
    limiter: Limiter,
    clock: Clock,
    strict: bool = False,
    counted: bool = False,
    resumed: bool = False,
    approved: Approved | None = None,
    around: Around | None = None,
    guards: Guards | None = None,
    on_attempt: Callable[[Attempt], None] | None = None,
    http: HttpClient | None = None,
    filled: Mapping[str, str] | None = None,
    surroundings: Surroundings = ALONE,
    known: Known | None = NOTHING,
) -> ToolAnswer:
    """Call a tool and say what came of it.

    `strict` checks flat parameters as well, for arguments a model made. `counted`: the rate limit
    knows of this call. `resumed`: it was asked before, so it was counted, checked and approved.
    `on_attempt` hears of each attempt before it is made: what it noted is still there when the turn
    is cancelled meanwhile. HTTP tools go out through `http`; `filled` has the texts of the
    expressions in their definition. A response mapping may use what is in `surroundings`. What must
    have been given before has to be in `known`; None: the caller vouches for it.

    Long because whatever a call may need is an argument with a name of its own.
    """
    tool = registry.find(name)
    if tool is None:
        return await _missing(registry, name, around if resumed else None)
    guards = guards or Guards()
    if not resumed:
        is_open = tool.rate_limit is None and tool.breaker is None
        if not is_open or tool.security.requires_auth:
            refused = await _turned_down(tool, context, guards, limiter, clock, counted=counted)
            if refused is not None:
                return refused
    given = complete(tool, args)
    tree: dict[str, Any] = plain(given)
    if not resumed:
        refused = _unfit(tool, tree, known, strict=strict)
        if refused is None and tool.approval is not None:
            refused = await _unapproved(tool, tree, approved, clock, surroundings)
        if refused is not None:
            return refused
    attempts: list[Attempt] = []
    invocation = Invocation(
        tool=tool,
        arguments=tree,
        context=context,
        functions=functions,
        clock=clock,
        record=_recorder(tool, context, clock, attempts, on_attempt),
        http=http,
        filled=filled,
    )

    async def carry_out() -> ToolAnswer:
        outcome = await KINDS[tool.implementation.type](invocation)
        return _answer(tool, given, outcome, tuple(attempts))

    if tool.cache is None and tool.breaker is None:
        answer = await (carry_out() if around is None else around(carry_out))
    else:
        answer = await guards.make(invocation, carry_out, around, resumed=resumed)
    if type(answer) is ToolAnswer and not answer.is_data:
        return answer
    return await _finished(invocation, answer, surroundings)


async def _missing(registry: Registry, name: str, around: Around | None) -> ToolAnswer:
    """What becomes of a call of nothing. With `around` it was there when it was asked."""
    refused = _refused(f"Tool {name} not found in registry", registry.hint(name))
    return refused if around is None else await around(_given(refused))


async def _turned_down(
    tool: Tool,
    context: CallContext,
    guards: Guards,
    limiter: Limiter,
    clock: Clock,
    *,
    counted: bool,
) -> ToolAnswer | None:
    """Why a call is refused whatever its arguments are."""
    refusal = guards.refusal(tool, context, clock.now())
    if refusal is not None:
        return _turned_away(refusal)
    return None if counted or tool.rate_limit is None else await _over_limit(tool, context, limiter)


def _unfit(
    tool: Tool, tree: dict[str, Any], known: Known | None, *, strict: bool
) -> ToolAnswer | None:
    """Why a call is refused with these arguments."""
    errors = errors_in(tool, tree, strict=strict)
    if not errors and tool.known and known is not None:
        errors = unknown_in(tool.known, tree, known)
    if errors:
        return _refused(refusal(errors), f"see the parameters of tool {tool.id}")
    return None


async def _finished(
    invocation: Invocation, answer: ToolAnswer | Refusal, surroundings: Surroundings
) -> ToolAnswer:
    """What came of the call, as the caller gets it."""
    if isinstance(answer, Refusal):
        return _turned_away(answer)
    if not answer.is_data or answer.fault_message is not None:
        return answer
    return await mapped_answer(
        invocation.tool,
        invocation.arguments,
        answer,
        functions=invocation.functions,
        now_ms=invocation.clock.now(),
        surroundings=surroundings,
    )


def _given(answer: ToolAnswer) -> Callable[[], Awaitable[ToolAnswer]]:
    """A call that is not made."""

    async def call() -> ToolAnswer:
        return answer

    return call


async def _unapproved(
    tool: Tool,
    tree: dict[str, Any],
    approved: Approved | None,
    clock: Clock,
    surroundings: Surroundings,
) -> ToolAnswer | None:
    """What keeps the call from being made: a person has to be asked, or was asked for another.

    An approval holds for the arguments it was given for, and no others.
    """
    approval = tool.approval
    assert approval is not None, "asked for tools with an approval only"
    if approved is not None and digest_of(tool.id, tree, approved.salt) == approved.digest:
        return None
    ask = partial(
        wants_approval, approval, tree, surroundings.names(), surroundings.engine, clock.now()
    )
    apart = surroundings.apart if approval.when else None
    if not (ask() if apart is None else await apart(ask)):
        return None
    text = f"{tool.name} has to be approved first"
    return ToolAnswer(fault_message=text, refused=True, to_approve=freeze(tree))


def _recorder(
    tool: Tool,
    context: CallContext,
    clock: Clock,
    attempts: list[Attempt],
    on_attempt: Callable[[Attempt], None] | None,
) -> Callable[[], int]:
    """What notes an attempt before it is made, and gives its number."""

    def record() -> int:
        now = int(clock.now())
        attempt = Attempt(tool.name, tool.implementation.type, context.transaction_id, now)
        attempts.append(attempt)
        if on_attempt is not None:
            on_attempt(attempt)
        return len(attempts)

    return record


async def mapped_answer(
    tool: Tool,
    arguments: dict[str, Any],
    answer: ToolAnswer,
    *,
    functions: Mapping[str, Callable[..., Any]],
    now_ms: float,
    surroundings: Surroundings = ALONE,
) -> ToolAnswer:
    """The answer as the tool's response mapping has it."""
    try:
        value, warnings, told = await map_answer(
            tool,
            answer.value,
            arguments,
            functions=functions,
            now_ms=now_ms,
            surroundings=surroundings,
        )
    except MappingError as error:
        return _unmapped(tool, answer, error)
    return msgspec.structs.replace(
        answer, value=value, warnings=warnings, mapped=told, is_data=False
    )


async def _over_limit(tool: Tool, context: CallContext, limiter: Limiter) -> ToolAnswer | None:
    """The refusal for a user who called the tool too often; None lets the call pass."""
    limit = tool.rate_limit
    assert limit is not None, "asked for tools with a limit only"
    wait = await limiter.allow(context.user_id, tool.id, limit.requests, limit.window_ms)
    if wait is None:
        return None
    text = refused_text(tool.name, limit.requests, limit.window_ms)
    return _refused(text, f"allowed again in {wait / 1000:.0f} seconds")


def _unmapped(tool: Tool, answer: ToolAnswer, error: MappingError) -> ToolAnswer:
    """The call went well, but its answer is not what a strict mapping takes."""
    return msgspec.structs.replace(
        answer,
        value=None,
        fault_message=f"The answer of tool {tool.name} does not fit its mapping: {error.message}",
        fault_name=error.name,
        fault_hint="compare the responseMapping with what the server answers, or give a fallback",
        # It ran to its end: repeating it would act a second time.
        may_have_happened=tool.effect != "reads",
        ran=True,
    )


def _turned_away(refusal: Refusal) -> ToolAnswer:
    return ToolAnswer(
        fault_message=refusal.message,
        fault_name=refusal.name,
        fault_hint=refusal.hint,
        circuit=refusal.circuit,
        refused=True,
    )


def _refused(message: str, hint: str) -> ToolAnswer:
    return ToolAnswer(fault_message=message, fault_hint=hint, refused=True)


def _answer(
    tool: Tool, given: Mapping[str, Any], outcome: Outcome, attempts: tuple[Attempt, ...]
) -> ToolAnswer:
    changed = _changed(given, outcome.arguments)
    if outcome.fault is not None:
        return ToolAnswer(
            fault_message=outcome.fault,
            fault_name=outcome.fault_name,
            fault_code=outcome.fault_code,
            fault_hint=outcome.hint,
            fault_at=outcome.at,
            refused=outcome.refused,
            may_have_happened=outcome.may_have_happened,
            http_status=outcome.http_status,
            attempts=attempts,
            arguments_after=changed,
        )
    try:
        value = as_value(outcome.value)
    except StateValueError as error:
        return ToolAnswer(
            fault_message=f"Tool {tool.name} gave no usable answer: {error.message}",
            fault_name=error.name,
            fault_hint="answer with text, numbers, true or false, None, lists and dicts of these",
            # It ran to its end: repeating it would act a second time.
            may_have_happened=tool.effect != "reads",
            ran=True,
            attempts=attempts,
            arguments_after=changed,
        )
    return ToolAnswer(
        value=value,
        http_status=outcome.http_status,
        attempts=attempts,
        arguments_after=changed,
        is_data=outcome.is_data,
        is_result=isinstance(outcome.value, ToolResult),
    )


def _changed(given: Mapping[str, Any], after: Mapping[str, Any] | None) -> Any:
    """The arguments after the call, frozen, where they differ from those before."""
    if after is None or _untouched(given, after):
        return None
    if same(given, after) or same(plain(given), after):
        return None
    try:
        return as_value(after)
    except StateValueError:
        return None


def _untouched(given: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    """The quick answer for arguments that hold nothing which could be changed."""
    if len(given) != len(after):
        return False
    for name, value in given.items():  # half as long as with `all`
        if type(value) not in _UNCHANGEABLE or after.get(name) is not value:
            return False
    return True


_UNCHANGEABLE: Final = frozenset({str, int, float, bool})
