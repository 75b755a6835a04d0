"""The values of inputs: read from one text alone, checked, and shown to people."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

from saywhy.chart.commit import Condition, Decision
from saywhy.chart.model import Node
from saywhy.chart.scope import Scope
from saywhy.expr.numbers import value_text
from saywhy.flows import answers, validation
from saywhy.flows.evaluate import is_sensitive
from saywhy.flows.forms.model import Input
from saywhy.flows.forms.readers import Given, spans_of
from saywhy.flows.forms.words import bare, words_of
from saywhy.flows.speech import localized
from saywhy.flows.world import World
from saywhy.values import UNDEFINED, freeze

NUMERIC: Final = frozenset({"amount", "number"})


def typed(entry: Input, value: Any, language: str, now_ms: float) -> Any:
    """A value from elsewhere (an expression, a model) as the input keeps it; `UNDEFINED` for none.

    A text is read as if it were the user's whole answer to the question.
    """
    if value is UNDEFINED or value is None or value == "":
        return UNDEFINED
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if is_number and not math.isfinite(value):
        return UNDEFINED  # 1e400 in a reply: no user could say it, and no JSON holds it
    if entry.kind in NUMERIC and is_number:
        return UNDEFINED if entry.kind == "amount" and value < 0 else value
    if entry.kind == "yes-no" and isinstance(value, bool):
        return value
    if entry.kind == "choice":
        known = [one.value for one in entry.choices(language)]
        if any(value == one and type(value) is type(one) for one in known):
            return value
    if not isinstance(value, str) and not is_number:
        return UNDEFINED
    text = value if isinstance(value, str) else value_text(freeze(value))
    if entry.kind in ("text", "name"):
        return bare(text) if entry.kind == "name" and bare(text) else text.strip() or UNDEFINED
    spans = spans_of(entry, Given(text, language, now_ms), asked=True)
    taken = [span for span in spans if not span.refused]
    return taken[0].value if len(taken) == 1 else UNDEFINED


def shown_value(entry: Input, value: Any, language: str) -> str:
    """A value as people are shown it."""
    if isinstance(value, bool):
        words = words_of(language)
        return words.yes[0] if value else words.no[0]
    text = value_text(freeze(value))
    currency = entry.money.get("currency") if entry.kind == "amount" else None
    return f"{text} {currency}" if isinstance(currency, str) and currency else text


# ------------------------------------------------------------------ checking


def problem_with(
    world: World, node: Node, scope: Scope, entry: Input, value: Any, language: str
) -> str:
    """What the input's own rules say against a value; empty where they take it.

    The rules that refused stand in the step's decision, so that `why` can tell them.
    """
    rules = entry.raw.get("inputValidation")
    if not isinstance(rules, Mapping):
        return ""
    broken = [
        *_patterns(world, scope, entry, rules, value, language),
        *_custom(world, node, scope, entry, rules),
    ]
    if not broken:
        return ""
    scope.decision = Decision(validation.REFUSED, tuple(rule for _, rule in broken))
    return ", ".join(text for text, _ in broken)


def _patterns(
    world: World,
    scope: Scope,
    entry: Input,
    rules: Mapping[str, Any],
    value: Any,
    language: str,
) -> list[tuple[str, Condition]]:
    found: list[tuple[str, Condition]] = []
    text = value_text(freeze(value))
    for place, rule in enumerate(rules.get("patterns") or ()):
        pattern = str(rule.get("pattern") or "")
        if validation.matches(world, pattern, text):
            continue
        told = localized(rule, "message", language)
        told = told or world.phrases.say("pattern_mismatch", language, field=entry.label(language))
        branch = f"/inputs/{entry.place}{validation.PATTERNS}/{place}"
        held = scope.kept("input")
        key = ("input", str(held[1] if held else 0))
        found.append((told, Condition(pattern, False, branch, ((key, value),))))
    return found


def _custom(
    world: World, node: Node, scope: Scope, entry: Input, rules: Mapping[str, Any]
) -> list[tuple[str, Condition]]:
    name = rules.get("customValidator")
    if not name:
        return []
    branch = f"/inputs/{entry.place}{validation.VALIDATOR}"
    before = len(scope.reads)
    errors = validation.refused_by(world, node, scope, str(name))
    is_pii = answers.is_sensitive(world, scope, entry.raw.get("pii"))
    if is_pii or is_sensitive(world, scope, before):  # it may quote what it was handed
        for error in errors:
            answers.mask(scope, error)
    return [
        (error, Condition(str(name), False, branch, error=", ".join(errors))) for error in errors
    ]
