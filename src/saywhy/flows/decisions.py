"""How a CALL-TOOL step goes on with what others found out or decided about its call.

The tool's `reconcile` function, a person who settles a call nobody knows the end of, a person who
approves one. What rests, and what the user is told, is `outside`'s; failures are `failures`'.
spec: durability 1
"""

from __future__ import annotations

from typing import Any, Final

from saywhy.chart.model import Node
from saywhy.chart.outcome import Answer, Goto, Need, Outcome
from saywhy.chart.scope import Scope
from saywhy.flows import failures, outside
from saywhy.flows.addresses import fill_in
from saywhy.flows.forms import record as forms
from saywhy.flows.given import note_given
from saywhy.flows.world import World
from saywhy.values import seal

MAX_REPEATS: Final = 2
"""How often a call is made again because its `reconcile` function says that it was not done."""

NOT_APPROVED: Final = "not approved"


def store_result(world: World, node: Node, scope: Scope, value: Any) -> Outcome:
    """The call is known to have gone well."""
    note_given(world, scope, value)
    variable = node.spec.get("variable")
    if variable:
        scope.set((scope.frame.scope, str(variable)), value)
    forms.note_done(scope)
    failures.settle(scope)
    return Goto(node.next)


def ask_approval(world: World, node: Node, scope: Scope, args: Any) -> Outcome:
    """The call may only be made when somebody approves it as it stands."""
    tool = failures.tool_of(world, node)
    assert tool is not None, "only a tool that was found asks for approval"
    return outside.rest_unapproved(world, scope, tool, seal(args))


def take_up(world: World, node: Node, scope: Scope, answer: Answer | None = None) -> Outcome:
    """Go on with a decision, or go on waiting for it.

    Without an answer the step was entered anew, and what was decided meanwhile stands on its frame.
    """
    if answer is None:
        held = scope.kept("decided")
        if not held:
            return outside.rest_again(world, scope)
        answer = outside.answer_of(held)
    if "reconciled" in answer.facts:
        return _reconciled(world, node, scope, answer)
    decided = answer.facts.get("decided")
    if decided is None:
        return outside.rest_again(world, scope)
    scope.facts["decided"] = decided
    scope.keep("outside", "")
    scope.keep("decided", None)
    match decided["how"]:
        case "done":
            return store_result(world, node, scope, answer.value)
        case "failed":
            return failures.failed(world, node, scope, answer.error or "")
        case "not_done":
            scope.keep("doubt", False)
            return _call_again(world, node, scope)
        case "approved":
            scope.keep("approved", decided["digest"])
            return _call_again(world, node, scope)
        case "edited":
            note_given(world, scope, answer.value)  # who approves is the host's
            return ask_approval(world, node, scope, answer.value)
        case how:
            return _refused(world, node, scope, how, decided.get("note"))


def _reconciled(world: World, node: Node, scope: Scope, answer: Answer) -> Outcome:
    """What the tool's own function says became of the call."""
    scope.facts["reconciled"] = answer.facts["reconciled"]
    match answer.facts["reconciled"]:
        case "done":
            return store_result(world, node, scope, answer.value)
        case "failed":
            return failures.failed(world, node, scope, answer.error or "")
        case "not_done":
            scope.keep("doubt", False)
            if scope.kept("repeats", 0) < MAX_REPEATS:
                scope.keep("repeats", scope.kept("repeats", 0) + 1)
                return _call_again(world, node, scope)
            name = failures.tool_name(world, node)
            text = f"{name} was called {MAX_REPEATS + 1} times and did not act"
            return failures.failed(world, node, scope, text)
        case _:
            return failures.unknown(world, node, scope, str(scope.kept("fault") or ""))


def _call_again(world: World, node: Node, scope: Scope) -> Need:
    """The same call with the same arguments, whatever became of the variables, under its key."""
    tool = failures.tool_of(world, node)
    fill_in(world, scope, tool)
    name = str(node.spec.get("tool") or "")
    return Need("tool", name, seal(scope.kept("args")), tool.effect if tool else "once")


def _refused(world: World, node: Node, scope: Scope, how: str, note: Any) -> Outcome:
    """Nobody approved the call, so it was not made."""
    text = outside.EXPIRED if how == "expired" else NOT_APPROVED
    return failures.after_fault(
        world, node, scope, Answer(error=f"{text}: {note}" if note else text)
    )
