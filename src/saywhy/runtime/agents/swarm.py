"""An orchestrator and its specialists; agents that hand a conversation over."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Unpack, cast

from saywhy.agent.agent import tools_of
from saywhy.agent.runners.as_tool import runner_tool
from saywhy.agent.runners.swarm import (
    WINDOW,
    Delegated,
    delegated_in,
    swarm_fields,
    swarm_problems,
    swarm_prompt,
)
from saywhy.agent.slots.strategies import sliding_window
from saywhy.agent.tools import AgentTool
from saywhy.errors import CallerError, Problem
from saywhy.models.chat import Content
from saywhy.runtime.agents.agent import Agent
from saywhy.runtime.agents.agent_tool import run_alone
from saywhy.runtime.agents.parts import check, part_of, policy_of, runner_problems
from saywhy.runtime.agents.result import AgentResult
from saywhy.runtime.agents.run import RunSettings

if TYPE_CHECKING:
    from saywhy.runtime.agents.fluent import SwarmBuilder

NOT_HERE: Final = ("loop", "tool_provider", "tool_concurrency", "prompt_provider")
"""Options of an agent that a swarm fills itself, or that make no sense for one."""


@dataclass(frozen=True, slots=True)
class Specialist:
    """A runner that others hand tasks, or conversations, to."""

    id: str
    runner: Any
    description: str = ""
    """What it is for, in words for the model."""


@dataclass(frozen=True, slots=True)
class SwarmResult(AgentResult):
    """The answer of the orchestrator, and what the specialists were given and gave."""

    delegated: tuple[Delegated, ...] = ()
    """In the order in which they ran."""
    agents: tuple[str, ...] = field(default=())
    """Their ids."""


class Swarm(Agent):
    """A model that hands tasks to specialists, one at a time, and answers in the end.

    `specialists` are `Specialist`s: an id, a runner, a description for the model. Each appears as a
    tool with a `message`; `tools` are further ones. Of the calls of one reply the first that names
    a specialist or a tool decides what is done now, and all others are put off. A specialist that
    fails is told to the model. All other keywords are those of `Agent`. The conversation with the
    orchestrator goes on from run to run; specialists begin anew with every task.
    """

    def __init__(
        self,
        model: Any,
        specialists: Iterable[Specialist],
        *,
        system: str = "",
        tools: Iterable[Any] = (),
        name: str = "swarm",
        **options: Any,
    ) -> None:
        members = specialists_of(specialists)
        further = tools_of(tools)
        check(_problems(members, further, options))
        ids = [one.id for one in members]
        described = [(one.id, one.description) for one in members]
        options.setdefault("message_strategy", sliding_window(WINDOW))
        options["redact"] = policy_of(options.get("redact"), [one.runner for one in members])
        super().__init__(
            model,
            name=name,
            system=swarm_prompt(system, described),
            tools=(*map(_tool, members), *further),
            loop=swarm_fields(ids),
            **options,
        )

    @classmethod
    def create(cls, model: Any, name: str = "swarm") -> SwarmBuilder:
        """Written step by step: `Swarm.create(model).specialist(id, runner, "…").build()`."""
        from saywhy.runtime.agents.fluent import SwarmBuilder

        return SwarmBuilder(model, {"name": name})

    async def run(self, message: Content, **options: Unpack[RunSettings]) -> SwarmResult:
        """Say something, and wait for the answer. See `Conversation.run`."""
        return cast("SwarmResult", await super().run(message, **options))

    async def resume(self, answer: Any, **options: Unpack[RunSettings]) -> SwarmResult:
        """Give the answer of the person who was asked. See `Conversation.resume`."""
        return cast("SwarmResult", await super().resume(answer, **options))

    def result_of(self, state: Mapping[str, Any], given: Mapping[str, Any]) -> SwarmResult:
        """The result, with what specialists did."""
        delegated = delegated_in(state)
        agents = tuple(one.id for one in delegated)
        return SwarmResult(**given, delegated=delegated, agents=agents)


def specialists_of(given: Any) -> list[Specialist]:
    """Specialists, or runners by their names. Raises `CallerError` for anything else."""
    if isinstance(given, Mapping) or not isinstance(given, Iterable):
        kind = type(given).__name__
        raise CallerError(f"specialists are a list, not {kind}", hint="[Specialist(id, runner)]")
    found: list[Specialist] = []
    for one in given:
        if isinstance(one, Specialist):
            found.append(one)
        elif isinstance(getattr(one, "name", None), str):
            found.append(Specialist(one.name, one))
        else:
            raise CallerError(f"{one!r} is no specialist", hint='Specialist("id", runner, "…")')
    return found


def _problems(
    members: Sequence[Specialist], tools: Sequence[AgentTool], options: Mapping[str, Any]
) -> list[Problem]:
    found = list(swarm_problems([one.id for one in members], [tool.id for tool in tools]))
    found += runner_problems([(one.id, one.runner) for one in members], "specialist")
    found += [Problem(f"a swarm takes no {name}") for name in NOT_HERE if name in options]
    return found


def _tool(one: Specialist) -> AgentTool:
    part = part_of(one.runner, one.id, one.description)
    alone: Callable[..., Any] = partial(run_alone, one.runner)
    return runner_tool(part, alone)
