"""The agents of a scenario: what each is, and what its model answers, written down beforehand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Self

from saywhy.agent.tools import ask_human
from saywhy.clock import Clock
from saywhy.errors import CallerError
from saywhy.models.scripted import ScriptedModel
from saywhy.runtime.agents.agent import Agent
from saywhy.runtime.agents.flow_tool import flow_tool
from saywhy.tools.tool import tool_from_definition

AGENT_KEYS: Final = ("name", "system", "script", "flows", "tools", "ask_human", "max_iterations")
AGENT_EXAMPLE: Final = '{"name": "desk", "script": [{"reply": "Hello."}], "flows": ["refund"]}'


@dataclass(frozen=True, slots=True)
class ScriptedAgent:
    """One agent. `flows` are those it may run: an id, or `{"flow", "returns", "name", …}`."""

    name: str
    script: tuple[Mapping[str, Any], ...]
    system: str = ""
    flows: tuple[Any, ...] = ()
    tools: tuple[Mapping[str, Any], ...] = ()
    """Definitions; their functions are those of the scenario."""
    asks_human: bool = False
    max_iterations: int = 10

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Self:
        """The agent in a scenario file, in which `problem_of` finds nothing."""
        return cls(
            given["name"],
            tuple(given["script"]),
            given.get("system", ""),
            tuple(given.get("flows", ())),
            tuple(given.get("tools", ())),
            given.get("ask_human", False),
            given.get("max_iterations", 10),
        )

    def agent(self, clock: Clock) -> Agent:
        """The agent, with a model that has said nothing yet."""
        tools: list[Any] = [_flow(one) for one in self.flows]
        tools += [tool_from_definition(dict(one)) for one in self.tools]
        return Agent(
            ScriptedModel(self.script, clock),
            name=self.name,
            system=self.system,
            tools=[*tools, *([ask_human()] if self.asks_human else [])],
            max_iterations=self.max_iterations,
        )


def problem_of(given: Mapping[str, Any]) -> str:
    """What is wrong with an agent of a scenario file; empty for nothing."""
    if not isinstance(given.get("name"), str) or not given["name"]:
        return "an agent needs a name"
    if not isinstance(given.get("script"), list):
        return "an agent needs a script: a list of what its model answers"
    kinds = {"system": str, "flows": list, "tools": list, "ask_human": bool, "max_iterations": int}
    for key, kind in kinds.items():
        if key in given and not isinstance(given[key], kind):
            return f"`{key}` of an agent must be {_WORDS[kind]}"
    try:
        ScriptedModel(given["script"])
        for one in given.get("flows", ()):
            _flow(one)
    except (CallerError, TypeError) as error:
        return str(error)
    return ""


_WORDS: Final[dict[type, str]] = {
    str: "text",
    list: "a list",
    bool: "true or false",
    int: "a number",
}


def _flow(given: Any) -> Any:
    return flow_tool(given) if isinstance(given, str) else flow_tool(**given)


__all__ = ["AGENT_EXAMPLE", "AGENT_KEYS", "ScriptedAgent", "problem_of"]
