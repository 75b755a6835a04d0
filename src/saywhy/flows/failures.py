"""What happens when a step fails: another try, another step, or the end of the flow.

Tools answer a failure as data (`after_fault`), other steps raise (`after_error`); both are decided
by the same rules. spec: flow-engine 3.10, 3.11
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from saywhy.chart.model import Node
from saywhy.chart.outcome import Answer, Fail, Goto, Need, Outcome, Return
from saywhy.chart.scope import Scope
from saywhy.flows.speech import language_of, queue_text
from saywhy.flows.world import World
from saywhy.tools import retry


def after_error(world: World, node: Node, scope: Scope, error: Exception) -> Outcome:
    """A step raised. Only what the author declared for it helps; else the flow fails."""
    declared = ("onFail", "maxRetries", "retryOnConditions")
    if not any(name in node.spec for name in declared):
        return Fail(error)
    message = str(error) or type(error).__name__
    outcome = _decide(world, node, scope, message, None, may_have_happened=False)
    return outcome if outcome is not None else Fail(error)


def after_fault(world: World, node: Node, scope: Scope, answer: Answer) -> Outcome:
    """A tool answered with a failure."""
    message = answer.error or ""
    outcome = _decide(
        world,
        node,
        scope,
        message,
        answer.facts.get("status"),
        may_have_happened=bool(answer.facts.get("may_have_happened")),
    )
    if answer.facts.get("hint"):
        scope.facts["failure"]["hint"] = answer.facts["hint"]
    if outcome is not None:
        return outcome
    settle(scope)
    tool = world.tools.find(str(node.spec.get("tool") or ""))
    text = world.phrases.say(
        "tool_failed",
        language_of(world, scope),
        toolName=tool.name if tool else node.spec.get("tool"),
        errorMessage=retry.error_text(message),
    )
    queue_text(world, scope, text)
    return Return(how="failed", reason=message)


def _decide(
    world: World,
    node: Node,
    scope: Scope,
    message: str,
    status: int | None,
    *,
    may_have_happened: bool,
) -> Outcome | None:
    """The outcome that the step's own rules give; None when they have nothing left."""
    attempt = scope.kept("attempt", 0)
    tool = world.tools.find(str(node.spec.get("tool") or "")) if "tool" in node.spec else None
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
    scope.facts["failure"] = {"message": message, "action": decision.action, "rule": decision.rule}
    if decision.action == "retry":
        scope.keep("attempt", attempt + 1)
        return Need("timer", node.id, {"ms": decision.delay_ms}, "repeatable")
    target = _instead(node, scope, decision)
    if target is not None:
        settle(scope)
        return target
    return _on_fail(node, scope, message)


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
    settle(scope)
    variable = node.spec.get("variable")
    if variable and node.kind == "CALL-TOOL":
        scope.set((scope.frame.scope, str(variable)), retry.error_text(message))
    scope.facts["failing"] = True
    return Goto(target)


def settle(scope: Scope) -> None:
    """The step is over: the next time it is entered it counts from nothing."""
    if scope.kept("attempt"):
        scope.keep("attempt", 0)
    if scope.kept("call"):
        scope.keep("call", 0)
    if scope.kept("rounds"):
        scope.keep("rounds", 0)


def _strategy(name: Any) -> retry.Strategy:
    return name if name in retry.STRATEGIES else "immediate"


def _number(value: Any) -> int | None:
    return int(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
