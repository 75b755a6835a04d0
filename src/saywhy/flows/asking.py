"""SAY-GET: ask, rest, take the answer. spec: flow-engine 3.2"""

from __future__ import annotations

from saywhy.chart.model import Node
from saywhy.chart.outcome import Answer, Goto, Outcome
from saywhy.chart.scope import Scope
from saywhy.flows import answers, spoken
from saywhy.flows.evaluate import say_text
from saywhy.flows.frames import below_root
from saywhy.flows.guidance import Pieces
from saywhy.flows.silence import take_silence
from saywhy.flows.speech import (
    deliver,
    drop_tentative,
    here,
    joined,
    language_of,
    localized,
    prompt_for,
    say_more,
    take_queue,
)
from saywhy.flows.validation import first_problem, reask
from saywhy.flows.world import World


def ask(world: World, node: Node, scope: Scope) -> Outcome:
    """Deliver what was said and the question after it, and wait for the user."""
    text = say_text(world, scope, localized(node.spec, "value", language_of(world, scope)))
    variable = str(node.spec.get("variable") or "")
    if not variable and node.next is None and len(scope.cursor.frames) == 1:
        say_more(world, scope, text)  # nothing follows: the flow ends with this text
        return Goto(None)
    pose(world, scope, text, guided=bool(variable))
    scope.keep("lastAsk", node.id)
    if variable:
        scope.keep("lastVariable", variable)
    pii = answers.is_sensitive(world, scope, node.spec.get("pii"))
    return answers.wait(world, node, scope, variable, field=variable, pii=pii)


def pose(world: World, scope: Scope, text: str, *, guided: bool) -> None:
    """Deliver a question behind everything that was said before it."""
    said = take_queue(scope)
    shown = bool(text.strip()) or (bool(said) and world.options.keep_empty_says)
    asked = here(scope, text) if shown else []
    pieces = joined(said, asked) if said else asked
    drop_tentative(scope)
    if guided and pieces:
        pieces = _with_guidance(world, scope, pieces)
    deliver(scope, pieces)
    scope.keep("question", text)


def take_answer(world: World, node: Node, scope: Scope, answer: Answer) -> Outcome:
    """Store the user's words, trimmed and otherwise exactly as typed, and check them."""
    if "silence" in answer.facts:
        return take_silence(world, node, scope, answer)
    asked = scope.asked
    field = answers.field_of(asked) if asked else str(node.spec.get("variable") or "")
    if asked is not None and asked.kind == "model":
        answers.note_words(scope)
        answers.store(scope, field, spoken.cleaned(asked, answer))
        return _checked(world, node, scope)
    said = str(answer.value or "").strip()
    text = answers.shaped(world, node, scope, said)
    question = scope.kept("question")
    answers.take_input(scope, answer)
    if field and answers.is_to_be_cleaned(world, scope):
        cleaning = spoken.cleaning(question, text, field=field)
        if cleaning is not None:
            return cleaning
    answers.store(scope, field, text)
    return _checked(world, node, scope)


def _checked(world: World, node: Node, scope: Scope) -> Outcome:
    """Go on with an answer that passes its checks, or ask for it again."""
    if "inputValidation" in node.spec:
        problem = first_problem(world, node, scope)
        if problem is not None:
            return reask(world, node, scope, problem)
        scope.keep("rounds", 0)
    return Goto(node.next)


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
        prompt=prompt_for(chart, language) if chart else "",
        language=language,
        phrases=world.phrases,
    )
