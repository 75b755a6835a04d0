"""The agent a host holds: what it is, the model it asks, and the conversations it has.

It is a value: nothing of a conversation lives here but the default one, for whoever talks to the
agent alone. What an agent may be is checked by `agent.agent`; how it is written step by step is
`fluent`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from saywhy.agent.agent import (
    AgentDefinition,
    AgentMemory,
    OutputSchema,
    injections_given,
    instructions_of,
    memory_of,
    output_of,
    overrides_of,
    pattern_of,
    tools_of,
)
from saywhy.agent.instructions.agent_rule import AgentInstruction
from saywhy.agent.instructions.rule import InstructionOverride
from saywhy.agent.loop.config import MAX_ITERATIONS, NOTHING, AgentPattern
from saywhy.agent.loop.message_api import build_message_api_chart
from saywhy.agent.runners.part import Part
from saywhy.agent.slots.injection import Injection
from saywhy.chart.built import Built
from saywhy.clock import Clock
from saywhy.models.asked import asked_model
from saywhy.runtime.agents.parts import policy_of
from saywhy.runtime.agents.result import AgentResult
from saywhy.runtime.agents.runner import Runner, random_id
from saywhy.runtime.private import masked_for
from saywhy.trace.masking.redact import USUAL, Policy

if TYPE_CHECKING:
    from saywhy.models.provider import Provider
    from saywhy.runtime.agents.fluent import AgentBuilder


LOOP_ID: Final = "agent-loop"
"""The id of its chart where it runs by itself."""


class Agent(Runner[AgentResult]):
    """A language model in a loop with tools and instructions, that can say what it was handed.

    `model` is a `Provider`, a function of the host's (of an `Ask`, or of a system and a user text),
    or a name like `openai:NAME`. All else may be left out:

    `system` is the prompt; `prompt_provider` gives it instead. `tools` may be called;
    `tool_provider` says which are offered, and `tool_concurrency` how many calls of one reply are
    made at the same time. After `max_iterations` rounds of tools the next reply is the answer.
    With `pattern="dynamic"` prompt, tools and instructions are worked out again in every round.
    `injections` are facts, skills, memory and retrieval that are put before the model.
    `instructions` are those of the agent, `decision` is what their conditions look at, and
    `instruction_overrides` change the rules of tools, by tool. `memory` keeps histories in a store;
    without one, `message_strategy` says how much of the history the model is handed.
    `output_schema` is the form of the answer, `settings` go with every call of the model:
    `model`, `temperature`, `max_tokens`, `stop`. With `streaming` the model is asked for pieces.
    With `verbose` narratives leave nothing out.

    `recorders` are told what happens. `redact` says what traces mask. `new_id` makes the ids of
    runs, by which receipts are salted; without one there are no receipts. `loop` has further
    fields of the loop's configuration.

    Everything wrong with it is told at once, by a `DefinitionError`; `allow_unsafe`,
    `allow_clashes` and `allow_unknown_targets` let pass what would be refused.
    """

    keeps_history = True

    def __init__(
        self,
        model: Any,
        *,
        name: str = "agent",
        system: str = "",
        prompt_provider: Any = None,
        tools: Iterable[Any] = (),
        tool_provider: Any = None,
        tool_concurrency: int = 1,
        message_strategy: Any = None,
        max_iterations: int = MAX_ITERATIONS,
        pattern: AgentPattern | str = AgentPattern.REGULAR,
        instructions: Iterable[AgentInstruction] = (),
        injections: Iterable[Injection] = (),
        decision: Mapping[str, Any] | None = None,
        instruction_overrides: Mapping[str, InstructionOverride] | None = None,
        memory: AgentMemory | None = None,
        output_schema: OutputSchema | Mapping[str, Any] | None = None,
        settings: Mapping[str, Any] | None = None,
        streaming: bool = False,
        verbose: bool = False,
        recorders: Iterable[Any] = (),
        redact: Policy = USUAL,
        clock: Clock | None = None,
        new_id: Callable[[], str] | None = random_id,
        loop: Mapping[str, Any] | None = None,
        allow_unsafe: bool = False,
        allow_clashes: bool = False,
        allow_unknown_targets: bool = False,
    ) -> None:
        """Long because each option stands here once, with its default."""
        self.model: Provider = asked_model(model)
        self.definition = AgentDefinition(
            name=name,
            system=system,
            prompt_provider=prompt_provider,
            tools=tools_of(tools),
            tool_provider=tool_provider,
            tool_concurrency=tool_concurrency,
            message_strategy=message_strategy,
            max_iterations=max_iterations,
            pattern=pattern_of(pattern),
            instructions=instructions_of(instructions),
            injections=injections_given(injections),
            decision=NOTHING if decision is None else decision,
            overrides=overrides_of(instruction_overrides),
            memory=memory_of(memory),
            output_schema=output_of(output_schema),
            settings=NOTHING if settings is None else settings,
            streaming=streaming,
            loop=NOTHING if loop is None else loop,
            allow_unsafe=allow_unsafe,
            allow_clashes=allow_clashes,
            allow_unknown_targets=allow_unknown_targets,
        )
        self.warnings = self.definition.check()
        super().__init__(
            name,
            id=LOOP_ID,
            recorders=recorders,
            redact=_masked(self.definition, redact),
            verbose=verbose,
            clock=clock,
            new_id=new_id,
            conversation_id=memory.conversation_id or None if memory else None,
        )

    @classmethod
    def create(cls, model: Any, name: str = "agent") -> AgentBuilder:
        """An agent written step by step: `Agent.create(model).system("…").tool(t).build()`."""
        from saywhy.runtime.agents.fluent import AgentBuilder

        return AgentBuilder(model, {"name": name})

    def built_for(self, definition: AgentDefinition, **fields: Any) -> Built:
        """Its loop under a changed definition, for a host that does some of its work."""
        config = dataclasses.replace(definition.loop_config(self.model), **fields)
        return build_message_api_chart(config, agent=True)

    # ------------------------------------------------------------ as a runner

    def built_as(self, id: str) -> Built:
        """Its loop under this id."""
        return self.built_for(self.definition, id=id)

    def follow_up_targets(self) -> Sequence[str] | None:
        """The tools that a follow-up may lead to; None where a provider knows them."""
        if self.definition.tool_provider is not None:
            return None
        return [tool.id for tool in self.definition.every_tool()]

    def part(self, id: str, description: str = "") -> Part:
        """This as a part of another runner. Its memory keeps the conversation as told there."""
        memory = self.definition.memory
        own = memory.conversation_id if memory is not None else ""
        return Part(id, self.built_as, description, self.keeps_history, self, own)

    def inside(self) -> Iterable[Any]:
        """The runners behind its tools."""
        runs = (tool.runs for tool in self.definition.every_tool())
        return [run.inner for run in runs if run is not None and run.inner is not None]


def _masked(definition: AgentDefinition, redact: Policy) -> Policy:
    """What is masked where it runs alone: what its tools declare, and runners behind them, too."""
    tools = tuple(definition.every_tool())
    behind = [one.runs.inner for one in tools if one.runs is not None]
    return policy_of(masked_for([one.tool for one in tools], redact), behind)
