"""SAY-GET: ask, rest, take the answer. spec: flow-engine 3.2"""

from __future__ import annotations

from typing import Any, Final

from saywhy.chart.model import Node
from saywhy.chart.outcome import Answer, Goto, Need, Outcome
from saywhy.chart.scope import Scope
from saywhy.expr.template import fill_paths
from saywhy.flows.evaluate import FlowNames, condition, say_text
from saywhy.flows.frames import below_root
from saywhy.flows.guidance import Pieces
from saywhy.flows.speech import (
    deliver,
    drop_tentative,
    here,
    joined,
    language_of,
    localized,
    prompt_of,
    queue_text,
    take_queue,
)
from saywhy.flows.validation import first_problem, reask
from saywhy.flows.world import World
from saywhy.values import freeze

SECRETS: Final = ("session", "secrets")


def ask(world: World, node: Node, scope: Scope) -> Outcome:
    """Deliver what was said and the question after it, and wait for the user."""
    text = say_text(world, scope, localized(node.spec, "value", language_of(world, scope)))
    variable = node.spec.get("variable")
    if not variable and node.next is None and len(scope.cursor.frames) == 1:
        queue_text(world, scope, text)  # nothing follows: the flow ends with this text
        return Goto(None)
    return pose(world, node, scope, text, guided=bool(variable))


def pose(world: World, node: Node, scope: Scope, text: str, *, guided: bool = True) -> Outcome:
    """Deliver a question and rest until the user answers."""
    question = here(scope, text) if text or world.options.keep_empty_says else []
    pieces = joined(take_queue(scope), question)
    drop_tentative(scope)
    if guided and pieces:
        pieces = _with_guidance(world, scope, pieces)
    deliver(scope, pieces)
    scope.keep("question", text)
    scope.keep("lastAsk", node.id)
    if node.spec.get("digits") is not None:
        digits, reads = fill_paths(node.spec["digits"], FlowNames(world, scope))
        scope.reads.extend(_keys(world, scope, reads))
        scope.set(("cargo", "digits"), digits)
    pii = _is_on(world, scope, node.spec.get("pii"))
    scope.keep("pii", pii)
    return Need("user", str(node.spec.get("variable") or ""), {"pii": True} if pii else None)


def take_answer(world: World, node: Node, scope: Scope, answer: Answer) -> Outcome:
    """Store the user's words, exactly as typed but trimmed."""
    text = take_input(scope, answer)
    variable = node.spec.get("variable")
    if not variable:
        return Goto(node.next)
    if scope.kept("pii") and text:
        scope.secrets = (text,)
        known = scope.peek(SECRETS) or ()
        scope.staged[SECRETS] = freeze([*known, text])  # no operation: a record would tell it
    scope.set((scope.frame.scope, variable), text)
    if "inputValidation" in node.spec:
        problem = first_problem(world, node, scope)
        if problem is not None:
            return reask(world, node, scope, variable, problem.message)
        scope.keep("rounds", 0)
    return Goto(node.next)


def take_input(scope: Scope, answer: Answer) -> str:
    """The user's words: noted as read, kept as the frame's `userInput`."""
    text = str(answer.value or "").strip()
    message = answer.facts.get("message", 0)
    scope.reads.append(("input", str(message)))
    scope.keep("input", [text, message])
    if scope.has("cargo", "digits"):
        scope.delete(("cargo", "digits"))
    scope.keep("question", None)
    scope.keep("justResumed", False)
    return text


def _with_guidance(world: World, scope: Scope, question: Pieces) -> Pieces:
    """The question inside the guidance of the root flow; once after a resume without."""
    if scope.kept("justResumed") or not world.options.commands:
        return question
    language = language_of(world, scope)
    root = below_root(scope, scope.cursor.frames.index(scope.frame))
    chart = scope.charts.find(root)
    return world.guidance.around(
        question,
        flow=chart.name if chart else scope.frame.name,
        prompt=prompt_of(scope.charts, root, language),
        language=language,
        phrases=world.phrases,
    )


def _is_on(world: World, scope: Scope, setting: Any) -> bool:
    """A switch of a step: true, or a condition on the flow's variables."""
    if isinstance(setting, str):
        return condition(world, scope, setting)[0]
    return bool(setting)


def _keys(world: World, scope: Scope, paths: Any) -> list[Any]:
    names = FlowNames(world, scope)
    return [key for key in map(names.key, paths) if key is not None]
