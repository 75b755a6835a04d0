"""The calls that a turn makes for its flows: of tools, and of what knows how a call ended."""

from __future__ import annotations

import secrets
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import msgspec

from saywhy.chart.outcome import Answer, Need
from saywhy.flows.toolargs import MODELLED
from saywhy.runtime.known import known_to
from saywhy.tools.answer import Attempt, ToolAnswer
from saywhy.tools.audit import audit_record
from saywhy.tools.call import Approved, CallContext, call_tool, mapped_answer
from saywhy.tools.http.secrets import masked
from saywhy.tools.mapped import Surroundings
from saywhy.tools.reconcile import find_out
from saywhy.tools.tool import Tool
from saywhy.values import FrozenDict, thaw

if TYPE_CHECKING:
    from saywhy.runtime.turn import TurnRun


async def call_for(run: TurnRun, need: Need, *, resumed: bool) -> Answer:
    """Make the call a step asks for; `resumed` when it was asked before a crash."""
    machinery, world, frame = run.machinery, run.machinery.world, run.flow.top
    # Each attempt is a row of its own in the journal, or the failure of the one before would
    # answer it. All attempts share the key, so that the other side can tell it is one act.
    key = key_of(run)
    approved = frame.data.get("approved")
    context = context_of(run, need, key)
    made = await call_tool(
        world.tools,
        need.name,
        thaw(need.args) or {},
        context,
        functions=world.functions,
        limiter=machinery.limiter,
        clock=machinery.clock,
        strict=bool(frame.data.get(MODELLED)),  # whoever filled it in was shown the schema
        counted=bool(frame.data.get("counted")),
        resumed=resumed,
        approved=Approved(approved, frame.data["salt"]) if approved else None,
        around=partial(run.journal.around, run, need, run.session.state.seq, key),
        guards=machinery.guards,
        http=machinery.http,
        filled=frame.data.get("filled"),
        surroundings=surroundings_of(run),
        known=known_to(world, run.session),
    )
    if made.to_approve is not None:
        frame.data["salt"] = secrets.token_hex(8)
    is_open = made.to_approve is not None or made.may_have_happened
    if is_open:
        frame.data["key"] = key  # it outlives the turn
    tool = world.tools.find(need.name)
    hidden = tool is not None and run.recorder.redactor.hides(frame.id, *_named(tool))
    for warning in machinery.diagnose(tool, made, hidden):
        machinery.warn(run.masked(warning))
    answer = answer_of(made)
    held = run.recorder.redactor.policy.secrets
    if answer.error and held:  # servers repeat what they were sent, and users are told errors
        answer = msgspec.structs.replace(answer, error=masked(answer.error, held))
    if is_open:
        answer.facts["open"] = key  # whoever runs the turn once more must not make another one
    audit = audit_record(tool, context, need.args, made, machinery.clock.now()) if tool else None
    if audit is not None:
        answer.facts["audit"] = audit
    return answer


def _named(tool: Tool) -> tuple[str, ...]:
    """The names by which a host may hide it; one that says itself what it is about is no secret."""
    return () if tool.security.is_masked else (tool.id, tool.name)


NOT_DONE: Final = "(not done)"
_NOT_DONE: Final = ToolAnswer(fault_message="it was not done", fault_name=NOT_DONE)
"""What stands in the journal for a call that is known not to have acted: no answer a flow gets."""


async def reconcile_for(run: TurnRun, need: Need) -> Answer:
    """Ask the tool's own function what became of a call that was cut off."""
    machinery, world = run.machinery, run.machinery.world
    tool = world.tools.find(need.name)
    assert tool is not None, "the step looked the tool up before it asked"
    arguments = thaw(need.args) or {}
    finding = await find_out(
        tool,
        arguments,
        context_of(run, need, key_of(run)),
        functions=world.functions,
        clock=machinery.clock,
    )
    if finding.trouble:
        text = f"what became of a call of {tool.name} could not be found out: {finding.trouble}"
        machinery.warn(run.masked(text))
    made = ToolAnswer(value=finding.value, fault_message=finding.error or None)
    if finding.status == "done" and tool.implementation.type != "local":
        made = await mapped_answer(
            tool,
            arguments,
            made,
            functions=world.functions,
            now_ms=machinery.clock.now(),
            surroundings=surroundings_of(run),
        )
    if finding.status != "unknown":
        run.journal.found_out(_NOT_DONE if finding.status == "not_done" else made)
    status = "failed" if made.fault_message is not None else finding.status
    return Answer(made.value, made.fault_message, made.fault_name, facts={"reconciled": status})


def key_of(run: TurnRun) -> str:
    """The key of the call at hand, the same for all attempts of its step, and never given again."""
    session, data = run.session, run.flow.top.data
    known = data.get("key")
    if known:
        return str(known)
    first = int(data.get("call") or session.state.seq)
    key = f"{session.session_id}:{session.state.turn}:{first}"
    return f"{key}:{run.journal.nonce}" if run.journal.nonce else key


def context_of(run: TurnRun, need: Need, key: str) -> CallContext:
    """Who calls, for a function that asks."""
    data = run.flow.top.data
    return CallContext(
        session_id=run.session.session_id,
        user_id=run.session.user_id,
        authenticated=_is_authenticated(run, need.name),
        transaction_id=data.get("tx"),
        key=key,
        tool=need.name,
        attempt=int(data.get("attempt") or 0) + 1,
        clock=run.machinery.clock,
    )


def _is_authenticated(run: TurnRun, tool: str) -> bool:
    """What the host says of the session, or what it concludes from the cargo where it matters."""
    if run.session.authenticated:
        return True
    conclude, found = run.machinery.is_authenticated, run.machinery.world.tools.find(tool)
    if conclude is None or found is None or not found.security.requires_auth:
        return False
    cargo = {name: thaw(value) for name, value in run.session.state.scopes["cargo"].items()}
    try:
        return conclude(cargo) is True
    except Exception as error:  # whoever cannot tell has not said yes
        run.machinery.error(f"is_authenticated raised {type(error).__name__}: {error}")
        return False


def surroundings_of(run: TurnRun) -> Surroundings:
    """What the response mapping of a tool, and the condition of its approval, may use."""
    machinery = run.machinery
    apart = machinery.apart.run if machinery.apart else None
    return Surroundings(partial(_names, run), machinery.world.javascript, apart)


def _names(run: TurnRun) -> dict[str, Any]:
    session = run.session
    return {
        "cargo": FrozenDict(dict(session.state.scopes.get("cargo", {}))),
        "sessionId": session.session_id,
        "userId": session.user_id,
        "language": session.state.get("session", "language") or run.machinery.world.language,
    }


def interrupted_call(run: TurnRun, need: Need, name: str) -> ToolAnswer:
    """The answer to a call that a crash cut off and that must not be made again."""
    tool = run.machinery.world.tools.find(need.name)
    attempt = Attempt(
        tool.name if tool else need.name,
        tool.implementation.type if tool else "",
        run.flow.top.data.get("tx"),
        int(run.machinery.clock.now()),
    )
    return ToolAnswer(
        fault_message=f"{need.name} was interrupted, and nobody knows whether it took effect",
        fault_name=name,
        may_have_happened=True,
        attempts=(attempt,),  # the host may not discard this turn
    )


def answer_of(made: ToolAnswer) -> Answer:
    """A tool's answer as the flows read it."""
    facts: dict[str, Any] = {
        "attempts": [
            {
                "tool": one.tool,
                "implementation": one.implementation,
                "transactionId": one.transaction_id,
                "at": one.at,
            }
            for one in made.attempts
        ]
    }
    odd = (made.fault_message, made.http_status, made.arguments_after)
    more = made.warnings or made.cached or made.circuit or made.is_result
    if made.mapped is not None:
        facts["mapped"] = made.mapped
    if odd == (None, None, None) and not more:
        return Answer(made.value, facts=facts)  # it just went well, as most do
    told = {
        "refused": made.refused,
        "may_have_happened": made.may_have_happened,
        "ran": made.ran,
        "status": made.http_status,
        "hint": made.fault_hint,
        "arguments_after": made.arguments_after,
        "warnings": list(made.warnings) or None,
        "to_approve": made.to_approve,
        "cached": made.cached,
        "circuit": made.circuit,
        "isResult": made.is_result,
        "code": made.fault_code,
    }
    facts |= {name: fact for name, fact in told.items() if fact not in (None, False, "")}
    return Answer(made.value, made.fault_message, made.fault_name, facts)
