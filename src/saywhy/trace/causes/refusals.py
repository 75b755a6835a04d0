"""Which rules refused what was entered, and how that is put into words.

A step that refuses an answer has not run: what it decided are the rules of its `inputValidation`
that did not hold. Each has a place of its own in the author's file.
"""

from __future__ import annotations

from typing import Final

from saywhy.chart.commit import Commit, Condition
from saywhy.errors import Place
from saywhy.trace.trace import Trace
from saywhy.trace.words import pairs, source_text

_RULES: Final = "/inputValidation/"


def refusals(commit: Commit) -> tuple[Condition, ...]:
    """The rules that refused what was entered; none for a step that was not stopped by one."""
    rules = commit.decision.conditions if commit.decision is not None else ()
    return rules if rules and _RULES in rules[0].branch else ()


def refusal_text(rule: Condition) -> str:
    """`the pattern `^[0-9]+$` refused amount = "abc"`; of a validator with what it said."""
    if rule.read:
        return f"the pattern {source_text(rule.text)} refused {pairs(rule.read)}"
    return f"the validator {source_text(rule.text)} refused what was entered: {rule.error}"


def place_of_rule(trace: Trace, commit: Commit, rule: Condition) -> Place:
    """Where the author wrote the rule; the step's place where the chart does not tell."""
    node = trace.node_of(commit)
    return node.where_is(rule.branch) if node is not None else trace.place_of(commit)
