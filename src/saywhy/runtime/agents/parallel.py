"""Runners side by side."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Unpack

from saywhy.agent.runners.parallel import (
    MERGE,
    BranchResult,
    Merging,
    branches_in,
    merge_prompt,
    parallel_chart,
    parallel_problems,
)
from saywhy.agent.runners.part import Part
from saywhy.chart.built import Built
from saywhy.errors import Problem
from saywhy.runtime.agents.composite import Composite, RunnerOptions
from saywhy.runtime.agents.llm_call import LLMCall
from saywhy.runtime.agents.parts import named_runners, part_of
from saywhy.runtime.agents.result import AgentResult


@dataclass(frozen=True, slots=True)
class ParallelResult(AgentResult):
    """What was made of the answers, and the answers."""

    branches: tuple[BranchResult, ...] = ()
    """In the order in which they were written."""


class Parallel(Composite[ParallelResult]):
    """From 2 to 10 runners that are given the same words, side by side; one answer of all.

    `branches` are by id, or a list of runners or pairs. Their answers become one by `merge`, a
    function of the `BranchResult`s, which may be `async`; or by a model, `merge_model`, which is
    told how by `merge_prompt`. A branch that fails is `rejected`, with its error, and the others
    go on. Cancelling the run cancels all. Nothing is remembered from run to run.
    """

    def __init__(
        self,
        branches: Mapping[str, Any] | Iterable[Any],
        *,
        merge: Merging | None = None,
        merge_model: Any = None,
        merge_prompt: str = "",
        name: str = "parallel",
        **options: Unpack[RunnerOptions],
    ) -> None:
        named = named_runners(branches, "branch")
        self.parts = [part_of(runner, own) for own, runner in named]
        self.merge = _merge_of(merge, merge_model, merge_prompt)
        problems: list[Problem] = list(parallel_problems(self.parts))
        if (merge is None) == (merge_model is None) or not (merge is None or callable(merge)):
            problems.append(
                Problem(
                    "branches are merged either by a function or by a model",
                    hint="merge=lambda branches: …, or merge_model=model with merge_prompt",
                )
            )
        super().__init__(name, named, problems, "branch", options)

    def built_as(self, id: str) -> Built:
        """Its chart under this id."""
        return parallel_chart(self.parts, self.merge, name=self.name, id=id)

    def result_of(self, state: Mapping[str, Any], given: Mapping[str, Any]) -> ParallelResult:
        """The result, with what each branch came to."""
        return ParallelResult(**given, branches=branches_in(state))


def _merge_of(merge: Any, model: Any, prompt: str) -> Merging | Part:
    if model is None:
        return merge
    call = LLMCall(model, name=MERGE, system=merge_prompt(prompt))
    return Part(MERGE, partial(_built, call), keeps_history=False)


def _built(call: LLMCall, id: str) -> Built:
    return call.built_as(id)
