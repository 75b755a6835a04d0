"""The sub-chart that judges the instructions of the agent before the slots are filled.

It runs once a run, or once an iteration, as the loop is made. The state gets JSON only: texts,
descriptions of tools, names (`book`). All of it replaces what was there: what is no longer active
is gone.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from saywhy.agent.instructions.agent_rule import AgentInstruction
from saywhy.agent.instructions.book import RuleBook
from saywhy.agent.own import OWN
from saywhy.chart.build import Builder
from saywhy.chart.built import Built
from saywhy.chart.view import Sight, args_of, sight_of
from saywhy.values import UNDEFINED, Key

MOUNT: Final = "sf-instructions-to-llm"
STAGE: Final = "evaluate-instructions"

INPUTS: Final = ("decision",)
OUTPUTS: Final = (
    "promptInjections",
    "toolInjections",
    "responseRules",
    "matchedInstructions",
    "activeInstructions",
)
"""Names of what it writes. The rules and the instructions are names out of the `RuleBook`."""


def build_instructions_to_llm_subflow(instructions: Iterable[AgentInstruction]) -> Built:
    """A chart that takes `decision` and gives what is active under it.

    The list is taken as it is now; with an empty one nothing is ever active. Without a decision
    every look at it raises: instructions with a condition are skipped, those of safety fire.
    """
    return subflow_of(RuleBook(instructions))


def subflow_of(book: RuleBook, *, id: str = MOUNT) -> Built:
    """The same for a book that the loop has already, under an id of its own."""
    chart = Builder("InstructionsToLLM", id=id, describe="Which instructions are active", own=OWN)

    def evaluate(s: Any) -> None:
        """Judge each instruction of the agent by the decision."""
        sight = sight_of(s)
        root = _place_of_decision(sight)
        decision = sight.scope.peek(root)
        result = book.evaluate(None if decision is UNDEFINED else decision)
        for verdict in result.log:
            for look in verdict.looks:
                sight.scope.touch((*root, *look.key))
        if result.log:
            sight.scope.facts["instructions"] = [one.to_value() for one in result.log]
        if result.prompt_injections:  # whose text each of them is
            sight.scope.facts["prompts"] = [one.id for one in result.matched if one.prompt]
        s.promptInjections = list(result.prompt_injections)
        s.toolInjections = book.descriptions_of(result)
        s.responseRules = book.rule_names_of(result)
        s.matchedInstructions = matched_text(result.matched_ids)
        s.activeInstructions = book.names_of(result)

    chart.stage(id=STAGE, name="EvaluateInstructions")(evaluate)
    return chart.build()


def _place_of_decision(sight: Sight) -> Key:
    """Where the decision stands: a variable, or what the chart was given."""
    if sight.scope.has(sight.owner, "decision"):
        return sight.owner, "decision"
    return args_of(sight), "decision"


def matched_text(ids: Iterable[str]) -> str:
    """What is active, for people: `2 matched: a, b`."""
    known = list(ids)
    return f"{len(known)} matched: {', '.join(known)}" if known else "none matched"
