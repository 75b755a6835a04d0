"""A runner again and again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Unpack

from saywhy.agent.runners.repeat import BODY, Following, Until, repeat_chart, repeat_problems
from saywhy.chart.built import Built
from saywhy.runtime.agents.composite import Composite, RunnerOptions
from saywhy.runtime.agents.parts import part_of
from saywhy.runtime.agents.result import AgentResult

MAX_ROUNDS = 10
"""So often a runner runs at most, unless told otherwise."""


@dataclass(frozen=True, slots=True)
class LoopResult(AgentResult):
    """The last answer."""

    rounds: int = 0
    """How often the runner ran."""


class Loop(Composite[LoopResult]):
    """Runs a runner until its answer is good: `until` holds of the `Round`.

    Without `until`, and at the latest, it ends after `max_rounds`; where the condition never held,
    the result's `stop_reason` is `max_rounds`. Each round is given the answer of the one before, or
    what `following` makes of it. Nothing is remembered from run to run.
    """

    def __init__(
        self,
        runner: Any,
        *,
        until: Until | None = None,
        following: Following | None = None,
        max_rounds: int = MAX_ROUNDS,
        name: str = "loop",
        **options: Unpack[RunnerOptions],
    ) -> None:
        self.body = part_of(runner, BODY)
        self.until, self.following, self.max_rounds = until, following, max_rounds
        problems = repeat_problems(until, following, max_rounds)
        super().__init__(name, [(BODY, runner)], problems, "runner", options)

    def built_as(self, id: str) -> Built:
        """Its chart under this id."""
        given = (self.body, self.until, self.following, self.max_rounds)
        return repeat_chart(*given, name=self.name, id=id)

    def result_of(self, state: Mapping[str, Any], given: Mapping[str, Any]) -> LoopResult:
        """The result, with the number of rounds."""
        return LoopResult(**given, rounds=int(state.get("rounds", 0)))
