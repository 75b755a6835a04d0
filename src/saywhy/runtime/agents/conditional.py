"""One of several runners, by conditions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Unpack

from saywhy.agent.runners.conditional import (
    Case,
    Predicate,
    conditional_chart,
    conditional_problems,
)
from saywhy.chart.built import Built
from saywhy.errors import CallerError
from saywhy.runtime.agents.composite import Composite, RunnerOptions
from saywhy.runtime.agents.parts import part_of
from saywhy.runtime.agents.result import AgentResult

Written = tuple[str, Predicate | None, Any]
"""Id, condition and runner; without a condition it is taken otherwise."""


@dataclass(frozen=True, slots=True)
class ConditionalResult(AgentResult):
    """The answer of the runner that was taken."""

    chosen: str = ""
    """Its id."""


class Conditional(Composite[ConditionalResult]):
    """The first runner whose condition holds answers; where none does, the one for that.

    `Conditional.create().when(id, condition, runner).otherwise(id, runner).build()`. A condition is
    a function of the moment: `message`, `turn_number`, `history`. One that raises does not hold,
    and the record says so. What was said is handed on to the runner that is taken.
    """

    keeps_history = True

    def __init__(
        self,
        cases: Iterable[Written],
        *,
        name: str = "conditional",
        **options: Unpack[RunnerOptions],
    ) -> None:
        written = [_written(one) for one in cases]
        self.cases = [Case(part_of(runner, own), when) for own, when, runner in written]
        named = [(own, runner) for own, _, runner in written]
        super().__init__(name, named, conditional_problems(self.cases), "branch", options)

    @classmethod
    def create(cls, name: str = "conditional") -> ConditionalBuilder:
        """Written step by step."""
        return ConditionalBuilder((), name)

    def built_as(self, id: str) -> Built:
        """Its chart under this id."""
        return conditional_chart(self.cases, name=self.name, id=id)

    def result_of(self, state: Mapping[str, Any], given: Mapping[str, Any]) -> ConditionalResult:
        """The result, with who gave it."""
        return ConditionalResult(**given, chosen=str(state.get("chosen", "")))


def _written(given: Any) -> Written:
    if not isinstance(given, tuple) or len(given) != 3:  # pyright: ignore[reportUnknownArgumentType] - callers
        raise CallerError(
            "a case is an id, a condition or None, and a runner", hint="(id, when, r)"
        )
    case: Written = given
    return case


class ConditionalBuilder:
    """What is to be chosen among. Each step gives a new builder."""

    __slots__ = ("_cases", "_name")

    def __init__(self, cases: tuple[Written, ...], name: str) -> None:
        self._cases, self._name = cases, name

    def when(self, id: str, condition: Predicate, runner: Any) -> ConditionalBuilder:
        """A runner, and when it is taken."""
        return ConditionalBuilder((*self._cases, (id, condition, runner)), self._name)

    def otherwise(self, id: str, runner: Any) -> ConditionalBuilder:
        """The runner that is taken when no condition holds."""
        return ConditionalBuilder((*self._cases, (id, None, runner)), self._name)

    def build(self, **options: Unpack[RunnerOptions]) -> Conditional:
        """The runner. Raises `DefinitionError` with every problem there is."""
        return Conditional(self._cases, name=self._name, **options)
