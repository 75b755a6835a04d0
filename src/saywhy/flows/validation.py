"""`inputValidation`: patterns and a validator before a step, and asking again.

spec: flow-engine 3.9, with its [FIX]es: answers are seen as plain text, a correction goes to the
failing field and is checked again, and after a few rounds the step fails.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Final, NamedTuple

from saywhy.chart.commit import Condition, Decision, FunctionCall
from saywhy.chart.model import Node
from saywhy.chart.outcome import Answer, Outcome
from saywhy.chart.scope import Scope
from saywhy.errors import FlowExecutionError
from saywhy.expr.javascript import Evaluated, Raised
from saywhy.expr.names import Path
from saywhy.flows import answers, failures
from saywhy.flows.evaluate import FlowNames, is_sensitive
from saywhy.flows.functions import run_function
from saywhy.flows.languages import chosen
from saywhy.flows.model import PATTERNS, VALIDATOR
from saywhy.flows.speech import (
    deliver,
    drop_tentative,
    here,
    joined,
    language_of,
    localized,
    say_phrase,
    take_queue,
)
from saywhy.flows.world import World
from saywhy.trace.masking.redact import MARK
from saywhy.values import UNDEFINED, FrozenDict, freeze, same, thaw

CORRECTION: Final = "correction"
REFUSED: Final = "refused"
"""What a step decided that did not run, because a rule refused what was entered."""


class Problem(NamedTuple):
    """What is wrong with the collected input, and which variable a correction belongs in."""

    message: str
    field: str
    hidden: bool = False
    """Whether the message may be made of something sensitive: no record shows it."""


class _Finding(NamedTuple):
    """A problem with the rule that found it."""

    problem: Problem
    rule: Condition


def before(world: World, node: Node, scope: Scope) -> Outcome | None:
    """Check the input before a step; what to do instead of it when it is not right."""
    problem = first_problem(world, node, scope)
    if problem is not None:
        return reask(world, node, scope, problem)
    scope.keep("rounds", 0)
    return None


def reask(world: World, node: Node, scope: Scope, problem: Problem) -> Outcome:
    """Ask the user to correct the failing field; when asked often enough, the step has failed."""
    rounds = scope.kept("rounds", 0)
    shown = MARK if problem.hidden else problem.message
    if rounds >= world.options.max_corrections:
        text = f"the input is still not right after {rounds} tries: {shown}"
        return failures.after_error(world, node, scope, FlowExecutionError(text))
    scope.keep("rounds", rounds + 1)
    please = say_phrase(world, scope, "invalid_input", language_of(world, scope))
    text = f"❌ {problem.message}\n\n{please}"
    if problem.hidden:
        scope.secrets = (*scope.secrets, (text, f"❌ {shown}\n\n{please}"))
    drop_tentative(scope)
    deliver(scope, joined(take_queue(scope), here(scope, text)))
    scope.keep("question", text)
    name, pii = CORRECTION, answers.is_secret(scope, problem.field)
    if node.kind == "SAY-GET":
        name = str(node.spec.get("variable") or "")
        pii = pii or (problem.field == name and bool(scope.kept("pii")))
    return answers.wait(world, node, scope, name, field=problem.field, pii=pii)


def take_correction(scope: Scope, answer: Answer) -> None:
    """Store a correction in the field it was asked for."""
    field = answers.field_of(scope.asked) if scope.asked else ""
    answers.store(scope, field, answers.take_input(scope, answer))


def first_problem(world: World, node: Node, scope: Scope) -> Problem | None:
    """All that is wrong now, joined, with the field of the first finding; None if all is right."""
    rules = node.spec.get("inputValidation")
    if not isinstance(rules, Mapping):
        return None
    found = [*_patterns(world, scope, rules), *_custom(world, node, scope, rules)]
    if not found:
        return None
    broken = dict.fromkeys(finding.rule for finding in found)
    scope.decision = Decision(REFUSED, tuple(broken))
    problems = [finding.problem for finding in found]
    said = ", ".join(problem.message for problem in problems)
    return Problem(said, problems[0].field, any(problem.hidden for problem in problems))


def _patterns(world: World, scope: Scope, rules: Mapping[str, Any]) -> list[_Finding]:
    found: list[_Finding] = []
    for index, rule in enumerate(rules.get("patterns") or ()):
        field = str(rule.get("field") or "")
        value = scope.read((scope.frame.scope, field))
        if not isinstance(value, str) or not value:
            continue
        pattern = str(rule.get("pattern") or "")
        if not matches(world, pattern, value):
            language = language_of(world, scope)
            told = localized(rule, "message", language)
            problem = Problem(
                told or world.phrases.say("pattern_mismatch", language, field=field), field
            )
            read = (((scope.frame.scope, field), value),)
            found.append(_Finding(problem, Condition(pattern, False, f"{PATTERNS}/{index}", read)))
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


def _custom(world: World, node: Node, scope: Scope, rules: Mapping[str, Any]) -> list[_Finding]:
    name = rules.get("customValidator")
    if not name:
        return []
    before = len(scope.reads)
    told = refused_by(world, node, scope, str(name))
    hidden = bool(scope.kept("pii")) or (world.watches and is_sensitive(world, scope, before))
    field = str(node.spec.get("variable") or "") if node.kind == "SAY-GET" else ""
    said = ", ".join(map(str, told))
    rule = Condition(str(name), False, VALIDATOR, error=said)
    field = field or _last_asked(scope)
    return [_Finding(Problem(str(error), field, hidden), rule) for error in told]


def refused_by(world: World, node: Node, scope: Scope, name: str) -> list[str]:
    """What an approved function has against the variables as they stand; nothing: it is right."""
    if name not in world.functions:
        scope.warn(f"{node.where}: the validator {name} is no approved function; nothing checked")
        return []
    verdict = _verdict(world, scope, name)
    if not isinstance(verdict, Mapping) or verdict.get("isValid") is not False:
        return []
    language = language_of(world, scope)
    errors = chosen(verdict, "errors", language) or world.phrases.say("not_valid", language)
    return [errors] if isinstance(errors, str) else list(map(str, errors))


def _verdict(world: World, scope: Scope, name: str) -> Any:
    """Call the validator with the variables and the frame; one that raises lets all pass."""
    names = FlowNames(world, scope)
    variables = names.merged()
    scope.reads.extend((scope.frame.scope, key) for key in scope.names(scope.frame.scope))
    scope.exact = False
    note = scope.noted()
    told = [thaw(variables), _frame(world, scope)]
    if isinstance(note, Mapping):
        value, error, after, kind = (note[key] for key in ("value", "error", "after", "name"))
    elif isinstance(note, Answer):
        value, error, after = note.value, note.error, note.facts.get("after")
        kind = note.error_name
    else:
        answer = run_function(world, scope, name, told)
        value, error, after = answer.value, answer.error, answer.args_after
        kind = answer.error_name
        scope.note({"value": value, "error": error, "after": after, "name": kind})
    # Its arguments are all variables, which stand in the record already.
    changed = None if after is None else freeze(after)
    scope.calls += (FunctionCall(name, None, value, error or "", kind, changed),)
    if after:
        _keep_changes(scope, variables, after[0])
    return None if error else value


def _frame(world: World, scope: Scope) -> dict[str, Any]:
    """What a validator is told of the flow, under the names that hosts know."""
    frame = scope.frame
    return {
        "flowName": frame.name,
        "flowId": scope.chart.id,
        "flowVersion": scope.chart.meta.get("version", ""),
        "userId": scope.peek(("session", "userId")),
        "language": language_of(world, scope),
        "startTime": scope.kept("started", 0),
        "inputStack": (scope.kept("input") or [])[:1],
    }


def _keep_changes(scope: Scope, before: FrozenDict, after: Any) -> None:
    """What a validator changed in the variables stays changed. spec: flow-engine 3.3"""
    changed = freeze(after)
    if not isinstance(changed, FrozenDict):
        return
    for name, value in changed.items():
        if name not in before or not same(before[name], value):
            scope.set((scope.frame.scope, name), value)


def _last_asked(scope: Scope) -> str:
    """The variable of the newest SAY-GET: of this flow, else of a caller on the same variables."""
    kept = scope.kept("lastVariable")
    if kept:
        return str(kept)
    frames = scope.cursor.frames
    for frame in reversed(frames[: frames.index(scope.frame)]):
        if frame.scope == scope.frame.scope and frame.data.get("lastVariable"):
            return str(frame.data["lastVariable"])
    return ""
