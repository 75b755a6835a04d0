"""Making agents parts of an engine: their charts beside those of the flows, on one stack.

What an agent has done goes the way it goes for flows: its calls of tools are journaled, approved
and settled like those of a CALL-TOOL step, its questions are asked like those of a SAY-GET.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from saywhy.agent.loop.calls import CARRIED_BY
from saywhy.agent.tools import AgentTool, ChartRun
from saywhy.chart.built import Built, stages_of
from saywhy.chart.model import Chart
from saywhy.errors import CallerError, DefinitionError, Problem, did_you_mean
from saywhy.flows.agents.carried import ARGUMENTS, flow_chart, tool_chart
from saywhy.flows.agents.fallback import ANSWER, ASKING, asking_chart, fallback_chart
from saywhy.flows.model import Library
from saywhy.runtime.agents.agent import Agent
from saywhy.runtime.agents.flow_tool import FlowRun, answer_reply, described_by, reply_of
from saywhy.runtime.agents.hosted import NOBODY, Hosted
from saywhy.runtime.agents.runner import Runner
from saywhy.tools.tool import Tool


def hosted(agents: Any, fallback: str | None, library: Library) -> Hosted:
    """The agents as an engine runs them.

    Raises `CallerError` and `DefinitionError` for those that do not fit together.
    """
    named = agents_by_name(agents)
    if fallback is not None and not isinstance(fallback, str):  # pyright: ignore[reportUnnecessaryIsInstance] - callers
        kind = type(fallback).__name__
        hint = 'Engine(agents=[agent], fallback_agent="its name")'
        raise CallerError(f"fallback_agent is {kind}, not the name of an agent", hint=hint)
    if fallback is not None and fallback not in named:
        hint = did_you_mean(fallback, list(named)) or "hand it to the engine: agents=[…]"
        raise CallerError(f'fallback_agent: there is no agent "{fallback}"', hint=hint)
    if not named:
        return NOBODY
    host = _Host(library)
    built = {name: host.built(agent, name) for name, agent in named.items()}
    host.raise_problems()
    charts = [chart for one in built.values() for chart in one.charts]
    last = fallback_chart(fallback) if fallback is not None else None
    return Hosted(
        (*charts, *host.charts.values(), asking_chart(), *([last] if last else [])),
        {name: one.chart.digest for name, one in built.items()},
        tuple(host.tools.values()),
        stages_of(built.values(), {CARRIED_BY: host.carried_by}),
        last.digest if last else "",
        named,
    )


def agents_by_name(agents: Any) -> dict[str, Agent]:
    """The agents by their names. Those of a mapping are called as it says."""
    if agents is None:
        return {}
    if isinstance(agents, Agent) or not isinstance(agents, Iterable):
        agents = [agents]
    listed: Any = agents.items() if isinstance(agents, Mapping) else ((None, a) for a in agents)
    named: dict[str, Agent] = {}
    for name, agent in listed:
        if not isinstance(agent, Agent):
            raise CallerError(
                f"agents holds {agent!r}, which is no agent", hint='Agent(model, name="support")'
            )
        own = agent.name if name is None else str(name)
        if own in named:
            raise CallerError(
                f'two agents have the name "{own}"', hint='give one another: Agent(…, name="…")'
            )
        named[own] = agent
    return named


class _Host:
    """Gathers what the agents of an engine need."""

    def __init__(self, library: Library) -> None:
        self.library = library
        self.charts: dict[str, Chart] = {}
        self.tools: dict[str, Tool] = {}
        self.problems: list[Problem] = []
        self._add(flow_chart(ASKING, (ANSWER,)))

    def built(self, agent: Agent, name: str) -> Built:
        """The agent's loop, whose calls are carried out by charts of the engine's."""
        definition = agent.definition
        tools = tuple(self._known(tool, name) for tool in definition.tools)
        for tool in definition.every_tool():
            self._note(tool, name)
        for inner in _agents_inside(agent):
            for tool in inner.definition.every_tool():
                self._known(tool, name)
                self._note(tool, name)
        fixed = replace(definition, tools=tools)
        return agent.built_for(fixed, id=f"agent/{name}", carried_by=self.carried_by)

    def raise_problems(self) -> None:
        """Raises `DefinitionError` with everything that does not fit."""
        if self.problems:
            raise DefinitionError(self.problems)

    def _add(self, chart: Chart) -> None:
        self.charts[chart.name] = chart

    def _known(self, tool: AgentTool, agent: str) -> AgentTool:
        """The tool; one that runs a flow says what that is for."""
        run = tool.runs
        if not isinstance(run, FlowRun):
            return tool
        flow = self.library.find(run.flow)
        if flow is None:
            names = [one.id for one in self.library.flows]
            hint = did_you_mean(run.flow, names) or f"flows: {', '.join(names) or 'none'}"
            text = f'the tool {tool.id} of agent {agent} runs the flow "{run.flow}", which is not'
            self.problems.append(Problem(f"{text} there", hint=hint, flow=agent))
            return tool
        self._add(flow_chart(run.flow, run.returns))
        return described_by(tool, flow)

    def _note(self, tool: AgentTool, agent: str) -> None:
        """Have the engine make the calls of a tool."""
        if tool.asks_human or tool.runs is not None:
            return
        other = self.tools.setdefault(tool.id, tool.tool)
        if not _is_one(other, tool.tool):
            text = f'two agents have different tools with the id "{tool.id}"'
            self.problems.append(Problem(text, hint="give one another id", flow=agent))
        for one in self.library.tools:
            if one.id == tool.id and one.function is not tool.tool.function:
                text = f'agent {agent} and the engine have different tools with the id "{tool.id}"'
                hint = "give one another id, or hand the same tool to both"
                self.problems.append(Problem(text, hint=hint, flow=agent))
        self._add(tool_chart(tool.id))

    def carried_by(self, tool: AgentTool) -> ChartRun | None:
        """What carries the calls of a tool out; None for one that nobody knew beforehand."""
        if tool.asks_human:
            chart = flow_chart(ASKING, (ANSWER,)).name
            return ChartRun(chart, answer_reply, _as_arguments)
        known = self.tools.get(tool.id)
        if known is None or not _is_one(known, tool.tool):
            return None
        return ChartRun(tool_chart(tool.id).name, reply_of, _as_arguments)


def _is_one(tool: Tool, other: Tool) -> bool:
    """Whether two are the same tool, made once or for each agent anew."""
    return tool is other or (tool.function is other.function and tool.raw == other.raw)


def _agents_inside(runner: Runner[Any]) -> Iterator[Agent]:
    """The agents that a runner is made of, however deep."""
    for inner in runner.inside():
        if isinstance(inner, Agent):
            yield inner
        if isinstance(inner, Runner):
            known: Runner[Any] = inner
            yield from _agents_inside(known)


def _as_arguments(arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    return {ARGUMENTS: arguments}


__all__ = ["agents_by_name", "hosted"]
