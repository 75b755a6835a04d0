"""`inputValidation`: patterns and a validator before a step, and asking again.

spec: flow-engine 3.9, with its [FIX]es: answers are seen as plain text, a correction goes to the
failing field and is checked again, and after a few rounds the step fails.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Final, NamedTuple

from saywhy.chart.model import Node
from saywhy.chart.outcome import Answer, Need, Outcome
from saywhy.chart.scope import Scope
from saywhy.errors import FlowExecutionError
from saywhy.expr.javascript import Evaluated, Raised
from saywhy.expr.names import Path
from saywhy.flows.evaluate import FlowNames, run_function
from saywhy.flows.speech import deliver, here, joined, language_of, take_queue
from saywhy.flows.world import World
from saywhy.values import UNDEFINED, thaw

CORRECTION: Final = "correction"


class Problem(NamedTuple):
    """What is wrong with the collected input, and which variable a correction belongs in."""

    message: str
    field: str


def before(world: World, node: Node, scope: Scope) -> Outcome | None:
    """Check the input before a step; a Need for a correction when it is not right."""
    problem = first_problem(world, node, scope)
    if problem is None:
        scope.keep("rounds", 0)
        return None
    return reask(world, node, scope, problem.field, problem.message)


def reask(world: World, node: Node, scope: Scope, field: str, message: str) -> Outcome:
    """Ask the user to correct `field`; raises when they were asked often enough."""
    rounds = scope.kept("rounds", 0)
    if rounds >= world.options.max_corrections:
        scope.keep("rounds", 0)
        raise FlowExecutionError(f"the input is still not right after {rounds} tries: {message}")
    scope.keep("rounds", rounds + 1)
    please = world.phrases.say("invalid_input", language_of(world, scope))
    text = f"❌ {message}\n\n{please}"
    deliver(scope, joined(take_queue(scope), here(scope, text)))
    scope.keep("question", text)
    return Need("user", field if node.kind == "SAY-GET" else CORRECTION, {"field": field})


def take_correction(node: Node, scope: Scope, answer: Answer) -> None:
    """Store a correction in the field it was asked for."""
    from saywhy.flows.asking import take_input

    asked = scope.asked
    field = asked.args["field"] if asked and asked.args else ""
    text = take_input(scope, answer)
    if field:
        scope.set((scope.frame.scope, str(field)), text)


def first_problem(world: World, node: Node, scope: Scope) -> Problem | None:
    """All that is wrong now, joined, with the field of the first finding; None if all is right."""
    rules = node.spec.get("inputValidation")
    if not isinstance(rules, Mapping):
        return None
    found = [*_patterns(world, scope, rules), *_custom(world, node, scope, rules)]
    if not found:
        return None
    return Problem(", ".join(problem.message for problem in found), found[0].field)


def _patterns(world: World, scope: Scope, rules: Mapping[str, Any]) -> list[Problem]:
    found: list[Problem] = []
    for rule in rules.get("patterns") or ():
        field = str(rule.get("field") or "")
        value = scope.read((scope.frame.scope, field))
        if not isinstance(value, str) or not value:
            continue
        if not matches(world, str(rule.get("pattern") or ""), value):
            default = f"Field {field} does not match required pattern"
            found.append(Problem(str(rule.get("message") or default), field))
    return found


class _Pattern:
    """The two names that the expression of `matches` reads."""

    def __init__(self, pattern: str, text: str) -> None:
        self.values = {"pattern": pattern, "text": text}
        self.functions: Collection[str] = ()

    def has(self, name: str) -> bool:
        return name in self.values

    def get(self, path: Path) -> Any:
        return self.values.get(str(path[0]), UNDEFINED)


def matches(world: World, pattern: str, text: str) -> bool:
    """Whether an author's pattern is found in a text: by JavaScript's rules and time limit.

    Raises `FlowExecutionError` for a pattern that is no regular expression or takes too long.
    """
    found = world.javascript.evaluate("new RegExp(pattern).test(text)", _Pattern(pattern, text))
    if isinstance(found, Evaluated):
        return found.value is True
    problem = found.message if isinstance(found, Raised) else "it calls a function"
    raise FlowExecutionError(f"the pattern {pattern!r} cannot be tried: {problem}")


def _custom(world: World, node: Node, scope: Scope, rules: Mapping[str, Any]) -> list[Problem]:
    name = rules.get("customValidator")
    if not name:
        return []
    if name not in world.functions:
        scope.warn(f"{node.where}: the validator {name} is no approved function; nothing checked")
        return []
    verdict = _verdict(world, scope, str(name))
    if not isinstance(verdict, Mapping) or verdict.get("isValid") is not False:
        return []
    errors = verdict.get("errors") or ["not valid"]
    field = scope.kept("lastVariable") or _last_asked(scope)
    return [Problem(str(error), field) for error in errors]


def _verdict(world: World, scope: Scope, name: str) -> Any:
    """Call the validator with the variables and the frame; one that raises lets all pass."""
    variables = FlowNames(world, scope).merged()
    scope.reads.extend((scope.frame.scope, key) for key in scope.names(scope.frame.scope))
    scope.exact = False
    frame = {"flowName": scope.frame.name, "userId": scope.peek(("session", "userId"))}
    note = scope.noted()
    if note:
        return note.get("value") if isinstance(note, Mapping) else note.value
    answer = run_function(world, scope, name, [thaw(variables), frame])
    scope.note({"value": answer.value, "error": answer.error, "facts": {}})
    return None if answer.error else answer.value


def _last_asked(scope: Scope) -> str:
    node = scope.chart.nodes.get(scope.kept("lastAsk") or "")
    return str(node.spec.get("variable") or "") if node else ""
