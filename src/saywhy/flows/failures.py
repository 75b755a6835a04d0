"""What happens when a step fails: another try, another step, or the end of the flow.

Tools answer a failure as data (`after_fault`), other steps raise (`after_error`); both are decided
by the same rules. spec: flow-engine 3.10, 3.11
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from saywhy.chart.failure import StepFailed
from saywhy.chart.model import Node
from saywhy.chart.outcome import Answer, Fail, Goto, Need, Outcome, Return
from saywhy.chart.scope import Scope
from saywhy.errors import ModelError
from saywhy.flows import outside
from saywhy.flows.agents import kept
from saywhy.flows.forms import record as forms
from saywhy.flows.speech import language_of, queue_text, say_phrase
from saywhy.flows.world import World
from saywhy.tools import retry
from saywhy.tools.tool import Tool
from saywhy.values import freeze, seal

CALLS: Final = frozenset({"CALL-TOOL", "carried:call"})
"""Kinds of steps that call a tool."""

_BUSY: Final = 503
_HAS_ACTED: Final = "the agent has had tools called, and must not begin again"


def after_error(world: World, node: Node, scope: Scope, error: Exception) -> Outcome:
    """A step raised. Only what the author declared for it helps; else the flow fails."""
    declared = ("onFail", "maxRetries", "retryOnConditions")
    if not any(name in node.spec for name in declared):
        return Fail(error)
    message = str(error) or type(error).__name__
    acted = node.kind == "AGENT" and kept.has_acted(scope, str(scope.kept("agent")))
    status = _status_of(error)
    outcome = _by_rules(world, node, scope, message, status, may_have_happened=acted)
    return outcome or _on_fail(node, scope, message) or Fail(error)


def _status_of(error: Exception) -> int | None:
    """The HTTP status behind an error; a model that may answer later counts as busy."""
    cause: Exception = error
    while isinstance(cause, StepFailed):
        cause = cause.error
    if not isinstance(cause, ModelError):
        return None
    return cause.status_code or (_BUSY if cause.retryable else None)


def after_fault(world: World, node: Node, scope: Scope, answer: Answer) -> Outcome:
    """A tool answered with a failure."""
    message = answer.error or ""
    in_doubt = bool(answer.facts.get("may_have_happened"))
    if in_doubt and not answer.facts.get("ran"):
        scope.keep("doubt", True)
        if scope.asked is not None:
            scope.keep("args", scope.asked.args)
    outcome = _by_rules(
        world, node, scope, message, answer.facts.get("status"), may_have_happened=in_doubt
    )
    if answer.facts.get("hint"):
        scope.facts["failure"]["hint"] = answer.facts["hint"]
    return outcome or _in_doubt(world, node, scope, message) or failed(world, node, scope, message)


def failed(world: World, node: Node, scope: Scope, message: str) -> Outcome:
    """A tool is known to have failed, and no more tries are left: `onFail`, or the flow's end."""
    forms.note_failed(scope)
    outcome = _on_fail(node, scope, message)
    if outcome is not None:
        return outcome
    settle(scope)
    text = say_phrase(
        world,
        scope,
        "tool_failed",
        language_of(world, scope),
        toolName=tool_name(world, node),
        errorMessage=retry.error_text(message),
    )
    queue_text(world, scope, text)
    return Return(how="failed", reason=message)


# ------------------------------------------------------------------ nobody knows


def _in_doubt(world: World, node: Node, scope: Scope, message: str) -> Outcome | None:
    """One attempt of the step may have acted: find out, or say openly that it is not known."""
    tool = tool_of(world, node)
    if tool is None or tool.effect == "reads" or not scope.kept("doubt"):
        return None
    if tool.reconcile is None:
        return unknown(world, node, scope, message)
    scope.keep("fault", message)
    return Need("reconcile", tool.id, seal(scope.kept("args")), "reads")


def unknown(world: World, node: Node, scope: Scope, message: str) -> Outcome:
    """Nobody knows whether the call acted: `onUnknown`, else `onFail`, else a person must say.

    spec: durability 1
    """
    tool = tool_of(world, node)
    assert tool is not None, "only a tool that was called leaves a doubt"
    target = node.spec.get("onUnknown")
    if isinstance(target, str):
        forms.note_failed(scope)
        told = {"unknown": True, "key": scope.kept("key"), "tool": tool.name}
        return _rescue(node, scope, target, freeze(told))
    is_rescued = "onFail" in node.spec and not node.spec.get("rests")
    if is_rescued or tool.effect != "once":
        return failed(world, node, scope, message)
    return outside.rest_unknown(world, scope, tool, message)


def tool_of(world: World, node: Node) -> Tool | None:
    """The tool that a CALL-TOOL step names."""
    return world.tools.find(str(node.spec.get("tool") or ""))


def tool_name(world: World, node: Node) -> Any:
    """What people call that tool."""
    tool = tool_of(world, node)
    return tool.name if tool else node.spec.get("tool")


# ------------------------------------------------------------------ rules


def _by_rules(
    world: World,
    node: Node,
    scope: Scope,
    message: str,
    status: int | None,
    *,
    may_have_happened: bool,
) -> Outcome | None:
    """Another try, or what a rule of the author's says instead; None when neither is left."""
    attempt = scope.kept("attempt", 0)
    tool = tool_of(world, node) if "tool" in node.spec else None
    is_tool = node.kind == "CALL-TOOL"
    decision = retry.decide(
        message,
        status,
        max_retries=_number(node.spec.get("maxRetries")),
        conditions=node.spec.get("retryOnConditions") or (),
        has_on_fail="onFail" in node.spec or not is_tool,
        attempt=attempt,
        default_max_retries=world.options.default_max_retries,
        effect=tool.effect if tool else "once",
        may_have_happened=may_have_happened,
        strategy=_strategy(node.spec.get("retryStrategy")),
        retry_delay_ms=_number(node.spec.get("retryDelay")) or 0,
    )
    if decision.action == "retry" and node.kind == "AGENT" and may_have_happened:
        decision = retry.Decision("give_up", rule=_HAS_ACTED)
    scope.facts["failure"] = {"message": message, "action": decision.action, "rule": decision.rule}
    if decision.action == "retry":
        scope.keep("attempt", attempt + 1)
        return Need("timer", node.id, {"ms": decision.delay_ms}, "repeatable")
    target = _instead(node, scope, decision)
    if target is not None:
        forms.note_failed(scope)
        settle(scope)
    return target


def _instead(node: Node, scope: Scope, decision: retry.Decision) -> Goto | None:
    """Where a rule of the author's sends the flow instead of failing."""
    if decision.action == "skip":
        return Goto(node.next)
    if decision.action == "fallback":
        fallbacks: Mapping[str, str] = node.spec.get("fallbacks") or {}
        target = fallbacks.get(str(decision.condition))
        return Goto(target) if target else None
    if decision.action == "ask_user" and scope.kept("lastAsk"):
        return Goto(scope.kept("lastAsk"))
    return None


def _on_fail(node: Node, scope: Scope, message: str) -> Outcome | None:
    """Go to the `onFail` step, with the error text in the step's variable."""
    target = node.spec.get("onFail")
    if not isinstance(target, str):
        return None
    return _rescue(node, scope, target, retry.error_text(message))


def _rescue(node: Node, scope: Scope, target: str, told: Any) -> Goto:
    settle(scope)
    variable = node.spec.get("variable")
    if variable and node.kind in CALLS:
        scope.set((scope.frame.scope, str(variable)), told)
    scope.facts["failing"] = True
    return Goto(target)


UNSETTLED: Final[Mapping[str, Any]] = {
    "key": "",
    "args": None,
    "doubt": False,
    "fault": "",
    "repeats": 0,
    "outside": "",
    "decided": None,
    "approved": "",
    "salt": "",
    "counted": False,
}
"""What a call that did not just go through keeps on its frame, and what stands there afterwards."""


COUNTED: Final = ("attempt", "rounds", "call")
"""What a frame keeps only once a step has been tried again, asked again, or has called a tool."""


def settle(scope: Scope) -> None:
    """The step is over: the next time it is entered it counts from nothing."""
    if scope.frame.data.keys().isdisjoint(COUNTED) and scope.data.keys().isdisjoint(COUNTED):
        return
    if scope.kept("attempt"):
        scope.keep("attempt", 0)
    if scope.kept("rounds"):
        scope.keep("rounds", 0)
    if scope.kept("call"):
        scope.keep("call", 0)
        if scope.kept("modelled"):
            scope.keep("modelled", None)
        if scope.kept("key"):
            for name, nothing in UNSETTLED.items():
                if scope.kept(name):
                    scope.keep(name, nothing)


def _strategy(name: Any) -> retry.Strategy:
    return name if name in retry.STRATEGIES else "immediate"


def _number(value: Any) -> int | None:
    return int(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
