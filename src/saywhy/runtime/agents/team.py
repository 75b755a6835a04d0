"""Agents that hand a conversation over to one another."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Unpack

from saywhy.agent.runners.part import Part
from saywhy.agent.runners.team import (
    Hands,
    hand_over_fields,
    hand_over_tool,
    team_chart,
    team_problems,
)
from saywhy.chart.built import Built
from saywhy.errors import Problem
from saywhy.runtime.agents.agent import Agent
from saywhy.runtime.agents.composite import Composite, RunnerOptions
from saywhy.runtime.agents.result import AgentResult
from saywhy.runtime.agents.swarm import Specialist, specialists_of
from saywhy.values import thaw

MAX_HAND_OVERS = 10


@dataclass(frozen=True, slots=True)
class TeamResult(AgentResult):
    """The answer, and who gave it."""

    active: str = ""
    """Who talks now, and is given the user's next words."""
    hand_overs: tuple[Mapping[str, str], ...] = ()
    """`from` and `to` of each, in order."""


class Team(Composite[TeamResult]):
    """Agents of which one talks; it may hand the conversation over to another.

    `agents` are `Agent`s, or `Specialist`s with an id and a description. Each has a tool
    `transfer_to_…` for every agent that it may hand over to: all others, unless `routes` says to
    whom. Whoever takes over reads the whole conversation and goes on with it, in this run and in
    those that follow, until it hands over itself; a checkpoint knows who that is. `start` talks
    first, the first one unless given. After `max_hand_overs` in one run the last words are the
    answer, and `stop_reason` says so.
    """

    keeps_history = True

    def __init__(
        self,
        agents: Iterable[Agent | Specialist],
        *,
        start: str = "",
        routes: Mapping[str, Sequence[str]] | None = None,
        max_hand_overs: int = MAX_HAND_OVERS,
        name: str = "team",
        **options: Unpack[RunnerOptions],
    ) -> None:
        self.members = specialists_of(agents)
        ids = [one.id for one in self.members]
        self.hands = Hands(start or (ids[0] if ids else ""), dict(routes or {}), max_hand_overs)
        problems = [*team_problems(ids, self.hands), *_agent_problems(self.members)]
        named = [(one.id, one.runner) for one in self.members]
        super().__init__(name, named, problems, "agent", options)

    def built_as(self, id: str) -> Built:
        """Its chart under this id."""
        return team_chart(
            [self._part(one) for one in self.members], self.hands, name=self.name, id=id
        )

    def _part(self, member: Specialist) -> Part:
        targets = self.targets(member.id)
        described = {one.id: one.description for one in self.members}
        tools = [hand_over_tool(one, described[one]) for one in targets]
        agent: Agent = member.runner
        fields = {**agent.definition.loop, **hand_over_fields(targets)}
        changed = replace(agent.definition, tools=(*agent.definition.tools, *tools), loop=fields)
        return Part(member.id, partial(_built, agent, changed), keeps_history=True)

    def targets(self, id: str) -> list[str]:
        """To whom an agent may hand over."""
        others = [one.id for one in self.members if one.id != id]
        return list(self.hands.routes.get(id, others))

    def follow_up_targets(self) -> Sequence[str] | None:
        """The tools that a follow-up may lead to: those of all agents."""
        found: list[str] = []
        for member in self.members:
            own = member.runner.follow_up_targets()
            if own is None:
                return None
            found += own
        return found

    def result_of(self, state: Mapping[str, Any], given: Mapping[str, Any]) -> TeamResult:
        """The result, with who gave it."""
        hands = tuple(thaw(state.get("hands", ())))
        return TeamResult(**given, active=str(state.get("active", "")), hand_overs=hands)


def _built(agent: Agent, definition: Any, id: str) -> Built:
    return agent.built_for(definition, id=id)


def _agent_problems(members: Sequence[Specialist]) -> list[Problem]:
    found: list[Problem] = []
    for one in members:
        if not isinstance(one.runner, Agent):
            kind = type(one.runner).__name__
            text = f'"{one.id}" of the team is {kind}, not an Agent'
            found.append(Problem(text, hint="only agents can hand a conversation over"))
        elif one.runner.definition.memory is not None:
            text = f'agent "{one.id}" has a memory, but the team keeps the conversation'
            found.append(Problem(text, hint="keep the team's checkpoint, and give it no memory"))
        elif "routing" in one.runner.definition.loop or "tool_calls" in one.runner.definition.loop:
            text = f'agent "{one.id}" has a routing of its own, so it cannot hand over'
            found.append(Problem(text, hint="wrap it: agent_as_tool(runner, description=…)"))
    return found
