"""The loop that goes back to the model call: the seed, the slots, the call, the way on.

In the Regular pattern the slots are filled once and the loop goes back to `call-llm`; in the
Dynamic one it goes back to what is worked out first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, overload

from saywhy.agent.instructions.subflow import MOUNT as INSTRUCTIONS
from saywhy.agent.loop.calls import StrictFollowUpResult, ToolCalls
from saywhy.agent.loop.config import AgentLoopConfig, AgentLoopSeedOptions, AgentPattern
from saywhy.agent.loop.parts import MOST_PASSES, Parts
from saywhy.agent.loop.slots import PROMPT
from saywhy.agent.own import OWN
from saywhy.chart.build import Builder, Script
from saywhy.chart.built import Built
from saywhy.chart.model import Chart
from saywhy.values import FrozenDict, loads

ROUTE = "route-response"


@dataclass(frozen=True, slots=True)
class AgentLoopBuild:
    """A loop, ready to run or to be mounted."""

    chart: Built
    calls: ToolCalls

    def get_strict_follow_up(self) -> StrictFollowUpResult | None:
        """The first strict follow-up that fired in the last run, None where none did.

        Of several runs side by side it is the one that fired last: their state, under
        `strictFollowUp`, says whose it is.
        """
        return self.calls.strict


@dataclass(frozen=True, slots=True)
class AgentLoopResult(AgentLoopBuild):
    """A loop with its structure as data."""

    spec: FrozenDict


@overload
def build_agent_loop(
    config: AgentLoopConfig, seed: AgentLoopSeedOptions | None = None
) -> AgentLoopBuild: ...
@overload
def build_agent_loop(
    config: AgentLoopConfig,
    seed: AgentLoopSeedOptions | None = None,
    *,
    capture_spec: Literal[True],
) -> AgentLoopResult: ...
@overload
def build_agent_loop(
    config: AgentLoopConfig,
    seed: AgentLoopSeedOptions | None = None,
    *,
    capture_spec: Literal[False],
) -> AgentLoopBuild: ...
def build_agent_loop(
    config: AgentLoopConfig,
    seed: AgentLoopSeedOptions | None = None,
    *,
    capture_spec: bool = False,
) -> AgentLoopBuild:
    """The loop of an agent as a chart. Raises `DefinitionError` for a configuration that is none.

    `seed` is what a run begins with where it says nothing itself: `chart.run({"message": …})`. With
    `capture_spec` the structure comes along as data.
    """
    config.check()
    parts = Parts(config, seed or AgentLoopSeedOptions())
    chart = Builder(config.name, id=config.chart_id, describe="An agent in a loop", own=OWN)
    parts.seed(chart)
    has_instructions = parts.instructions(chart, INSTRUCTIONS)
    parts.mount_slots(chart)
    parts.assemble_prompt(chart)
    parts.call_llm(chart, parses=False)
    parts.parse_response(chart)
    keeps = config.store is not None

    def finish(script: Script) -> None:
        parts.final(script)
        if not keeps:
            script.end()

    parts.route(chart, ROUTE, "", finish)
    if keeps:
        parts.commit_memory(chart)
    chart.loop_to(_back(config, has_instructions), max_iter=MOST_PASSES)
    built = chart.build().beside(parts.box.inner)
    if capture_spec:
        return AgentLoopResult(built, parts.calls, spec_of(built.chart))
    return AgentLoopBuild(built, parts.calls)


def _back(config: AgentLoopConfig, has_instructions: bool) -> str:
    """Where the loop goes back to."""
    if config.pattern is AgentPattern.REGULAR:
        return "call-llm"
    return INSTRUCTIONS if has_instructions else PROMPT


def spec_of(chart: Chart) -> FrozenDict:
    """The structure of a chart as plain data."""
    spec: Any = loads(chart.to_json())
    return spec
