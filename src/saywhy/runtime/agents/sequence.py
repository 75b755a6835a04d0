"""Runners one after the other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Unpack

from saywhy.agent.runners.sequence import sequence_chart, sequence_problems
from saywhy.chart.built import Built
from saywhy.runtime.agents.composite import Composite, RunnerOptions
from saywhy.runtime.agents.parts import named_runners, part_of
from saywhy.runtime.agents.result import AgentResult
from saywhy.values import thaw


@dataclass(frozen=True, slots=True)
class SequenceResult(AgentResult):
    """The answer of the last step, and those of all."""

    steps: tuple[Mapping[str, Any], ...] = ()
    """`id` and `content` of each, in order."""


class Sequence(Composite[SequenceResult]):
    """Each runner is given the answer of the one before; the last answer is the result.

    Steps are runners, or pairs of an id and a runner; a mapping of these will do as well. One that
    fails ends the run with its error. Nothing is remembered from run to run.
    """

    def __init__(
        self, *steps: Any, name: str = "sequence", **options: Unpack[RunnerOptions]
    ) -> None:
        given: Any = steps[0] if len(steps) == 1 and isinstance(steps[0], Mapping) else steps
        named = named_runners(given, "step")
        self.parts = [part_of(runner, own) for own, runner in named]
        super().__init__(name, named, sequence_problems(self.parts), "step", options)

    def built_as(self, id: str) -> Built:
        """Its chart under this id."""
        return sequence_chart(self.parts, name=self.name, id=id)

    def result_of(self, state: Mapping[str, Any], given: Mapping[str, Any]) -> SequenceResult:
        """The result, with the answer of each step."""
        return SequenceResult(**given, steps=tuple(thaw(state.get("steps", ()))))
