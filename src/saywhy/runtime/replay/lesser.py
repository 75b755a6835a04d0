"""Agents with a piece less: an instruction, a rule about results, a tool that was never there."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any, Final

from saywhy.agent.agent import AgentDefinition
from saywhy.agent.instructions.agent_rule import AgentInstruction
from saywhy.agent.instructions.rule import InstructionOverride
from saywhy.agent.tools import AgentTool
from saywhy.errors import did_you_mean
from saywhy.runtime.agents.agent import Agent

MOST_LISTED: Final = 8


class Lesser:
    """Takes one piece out of agents, and knows whether any of them had it."""

    def __init__(self, kind: str, name: str) -> None:
        self.kind = kind
        self.name = name
        self.found = False
        self._known: dict[str, None] = {}

    @property
    def hint(self) -> str:
        """What was probably meant where none of the agents had the piece, or what they have."""
        known = list(self._known)
        listed = ", ".join(known[:MOST_LISTED])
        return did_you_mean(self.name, known) or (f"there are {listed}" if known else "")

    def agent(self, agent: Agent) -> Agent:
        """The agent without the piece; the very agent where it has none of the kind."""
        definition = self._definition(agent.definition)
        if definition is agent.definition:
            return agent
        made: Any = copy.copy(agent)
        made.definition = definition
        made.built = made.built_as(agent.chart.id)
        return made

    def agents(self, agents: Mapping[str, Agent]) -> dict[str, Agent]:
        """All of them without it."""
        return {name: self.agent(agent) for name, agent in agents.items()}

    def _definition(self, definition: AgentDefinition) -> AgentDefinition:
        before = self.found
        self.found = False
        fields = self._without_tool(definition) if self.kind == "tool" else self._told(definition)
        changed, self.found = self.found, self.found or before
        return dataclasses.replace(definition, **fields) if changed else definition

    def _without_tool(self, definition: AgentDefinition) -> dict[str, Any]:
        return {
            "tools": self._kept(definition.tools),
            "instructions": tuple(
                dataclasses.replace(one, tools=self._kept(one.tools))
                for one in definition.instructions
            ),
        }

    def _told(self, definition: AgentDefinition) -> dict[str, Any]:
        """What its model is told without the instruction."""
        return {
            "instructions": tuple(map(self._instruction, self._kept(definition.instructions))),
            "injections": self._kept(definition.injections),
            "tools": tuple(map(self._tool, definition.tools)),
            "overrides": {tool: self._override(one) for tool, one in definition.overrides.items()},
        }

    def _instruction(self, one: AgentInstruction) -> AgentInstruction:
        rules = self._kept(one.on_tool_result, f"{one.id}/")
        tools = tuple(map(self._tool, one.tools))
        return dataclasses.replace(one, on_tool_result=rules, tools=tools)

    def _tool(self, tool: Any) -> Any:
        if not isinstance(tool, AgentTool):
            return tool
        kept = self._kept(tool.instructions)
        if len(kept) == len(tool.instructions):
            return tool
        return dataclasses.replace(tool, instructions=kept)

    def _override(self, one: InstructionOverride) -> InstructionOverride:
        return dataclasses.replace(one, add=self._kept(one.add))

    def _kept(self, pieces: Iterable[Any], before: str = "") -> tuple[Any, ...]:
        """The pieces that are not the one; `before` is what its name may begin with."""
        listed = tuple(pieces)
        names = (self.name, self.name.removeprefix(before)) if before else (self.name,)
        ids = [getattr(one, "id", None) for one in listed]
        self._known |= dict.fromkeys(f"{before}{one}" for one in ids if one)
        kept = tuple(one for one in listed if getattr(one, "id", None) not in names)
        self.found = self.found or len(kept) < len(listed)
        return kept


__all__ = ["Lesser"]
