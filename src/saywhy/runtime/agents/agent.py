"""The agent a host holds: what it is, the model it asks, and the conversations it has.

It is a value: nothing of a conversation lives here but the default one, for whoever talks to the
agent alone. What an agent may be is checked by `agent.agent`; how it is written step by step is
`fluent`.
"""

from __future__ import annotations

import dataclasses
import uuid
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Unpack

from saywhy.agent.agent import (
    AgentDefinition,
    AgentMemory,
    OutputSchema,
    output_of,
    pattern_of,
    tools_of,
)
from saywhy.agent.events import AgentEvent
from saywhy.agent.instructions.agent_rule import AgentInstruction
from saywhy.agent.instructions.rule import InstructionOverride
from saywhy.agent.loop.build import spec_of
from saywhy.agent.loop.config import MAX_ITERATIONS, NOTHING, AgentPattern
from saywhy.agent.loop.message_api import build_message_api_chart
from saywhy.agent.slots.injection import Injection
from saywhy.chart.built import Built, Result
from saywhy.chart.model import Chart
from saywhy.clock import Clock, SystemClock
from saywhy.models.asked import asked_model
from saywhy.models.chat import Content
from saywhy.runtime.agents.conversation import Conversation
from saywhy.runtime.agents.dispatch import Dispatch
from saywhy.runtime.agents.kept import Kept, from_json
from saywhy.runtime.agents.result import AgentResult
from saywhy.runtime.agents.run import RunSettings, StreamSettings
from saywhy.runtime.agents.script import run_to_end
from saywhy.trace.redact import USUAL, Policy
from saywhy.values import thaw

if TYPE_CHECKING:
    from saywhy.agent.instructions.follow_up import ResolvedFollowUp
    from saywhy.models.provider import Provider
    from saywhy.runtime.agents.fluent import AgentBuilder
    from saywhy.trace.trace import Trace


class Agent:
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
        new_id: Callable[[], str] | None = lambda: str(uuid.uuid4()),
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
            instructions=tuple(instructions),
            injections=tuple(injections),
            decision=NOTHING if decision is None else decision,
            overrides=dict(instruction_overrides or {}),
            memory=memory,
            output_schema=output_of(output_schema),
            settings=NOTHING if settings is None else settings,
            streaming=streaming,
            loop=NOTHING if loop is None else loop,
            allow_unsafe=allow_unsafe,
            allow_clashes=allow_clashes,
            allow_unknown_targets=allow_unknown_targets,
        )
        self.warnings = self.definition.check()
        self.clock: Clock = clock or SystemClock()
        self.redact, self.verbose = redact, verbose
        self.dispatch = Dispatch(recorders)
        self._new_id = new_id
        self.built: Built = self.built_for(self.definition)
        self._default = self.conversation(memory.conversation_id or None if memory else None)

    @classmethod
    def create(cls, model: Any, name: str = "agent") -> AgentBuilder:
        """An agent written step by step: `Agent.create(model).system("…").tool(t).build()`."""
        from saywhy.runtime.agents.fluent import AgentBuilder

        return AgentBuilder(model, {"name": name})

    def built_for(self, definition: AgentDefinition, **fields: Any) -> Built:
        """Its loop under a changed definition, for a host that does some of its work."""
        config = dataclasses.replace(definition.loop_config(self.model), **fields)
        return build_message_api_chart(config, agent=True)

    @property
    def name(self) -> str:
        """What it is called in records and checkpoints."""
        return self.definition.name

    @property
    def chart(self) -> Chart:
        """Its loop as a chart."""
        return self.built.chart

    def new_id(self) -> str:
        """The id of a new run; empty where there are to be none."""
        return str(self._new_id() or "") if self._new_id is not None else ""

    # ------------------------------------------------------------ conversations

    def conversation(
        self, id: str | None = None, *, checkpoint: bytes | str | None = None
    ) -> Conversation:
        """A conversation of its own, new or from a checkpoint. Any number run at once.

        A memory keeps it under `id`, which is a random one unless given. Raises `DamagedSession`
        for a checkpoint that cannot be read.
        """
        if checkpoint is not None:
            kept = from_json(checkpoint, self.name, self.chart.digest)
            return Conversation(self, kept if id is None else kept.but(id=id))
        return Conversation(self, Kept(str(uuid.uuid4()) if id is None else id))

    async def run(self, message: Content, **options: Unpack[RunSettings]) -> AgentResult:
        """Say something, and wait for the answer. See `Conversation.run`."""
        return await self._default.run(message, **options)

    def stream(
        self, message: Content, **options: Unpack[StreamSettings]
    ) -> AsyncGenerator[AgentEvent | AgentResult, None]:
        """Like `run`, giving events as they come and the `AgentResult` in the end."""
        return self._default.stream(message, **options)

    async def follow_up(
        self,
        action: str | ResolvedFollowUp | Mapping[str, Any],
        *,
        message: str | None = None,
        **options: Unpack[RunSettings],
    ) -> AgentResult:
        """Go on with more words, or with an offered action. See `Conversation.follow_up`."""
        return await self._default.follow_up(action, message=message, **options)

    async def resume(self, answer: Any, **options: Unpack[RunSettings]) -> AgentResult:
        """Give the answer of the person who was asked. See `Conversation.resume`."""
        return await self._default.resume(answer, **options)

    def run_sync(self, message: Content, **options: Unpack[RunSettings]) -> AgentResult:
        """`run` for a script that knows nothing of asyncio. Raises `CallerError` inside a loop."""
        return run_to_end(self, lambda: self.run(message, **options))

    def resume_sync(self, answer: Any, **options: Unpack[RunSettings]) -> AgentResult:
        """`resume` for a script that knows nothing of asyncio."""
        return run_to_end(self, lambda: self.resume(answer, **options))

    async def settled(self) -> None:
        """Come back once every `async def` hook of the recorders is done."""
        await self.dispatch.settled()

    # ------------------------------------------------------------ the default conversation

    def checkpoint(self) -> bytes:
        """The conversation as JSON, for `restore` in this or another process."""
        return self._default.checkpoint()

    def restore(self, checkpoint: bytes | str) -> None:
        """Go on with the conversation of a checkpoint. Raises `DamagedSession`."""
        self._default.restore(checkpoint)

    def reset_conversation(self) -> None:
        """Forget what was said. A memory keeps what it has."""
        self._default.reset()

    def get_messages(self) -> list[dict[str, Any]]:
        """The history, the system message included, as a copy."""
        return self._default.get_messages()

    def get_snapshot(self) -> Result:
        """State and record of the last run, as `receipt_at` and `served_at` read it."""
        return self._default.get_snapshot()

    def get_narrative(self) -> str:
        """What the last run did, step by step, in words."""
        return self._default.get_narrative()

    @property
    def trace(self) -> Trace:
        """The record of the last run, masked."""
        return self._default.trace

    # ------------------------------------------------------------ its chart

    def to_flow_chart(self) -> Built:
        """Its loop, to be mounted in another chart that hands over `message`."""
        return self.built

    def get_spec(self) -> dict[str, Any]:
        """Its loop as data, to be drawn or compared."""
        return thaw(spec_of(self.chart))
