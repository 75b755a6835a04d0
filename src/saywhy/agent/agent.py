"""What an agent is, as a value: all that was configured, and everything that is wrong with it.

The model it asks, and who it talks to, are no part of it. How it becomes a chart is `loop`, running
it is the runtime's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

from saywhy.agent.given import listed, only
from saywhy.agent.instructions.agent_rule import AgentInstruction
from saywhy.agent.instructions.check import check_follow_ups, check_rules
from saywhy.agent.instructions.override import check_overrides
from saywhy.agent.instructions.rule import InstructionOverride
from saywhy.agent.loop.config import MAX_ITERATIONS, NOTHING, AgentLoopConfig, AgentPattern
from saywhy.agent.slots.injection import Injection
from saywhy.agent.slots.strategies import safe_strategy, sliding_window
from saywhy.agent.tools import AgentTool, agent_tool
from saywhy.errors import CallerError, DefinitionError, Problem, StateValueError
from saywhy.tools.schema import compile_schema, explain
from saywhy.values import freeze, thaw

REMEMBERED: Final = 100
"""So many of the newest messages the model is handed of a history that a memory keeps."""


@dataclass(frozen=True, slots=True)
class OutputSchema:
    """The form in which the model is to answer."""

    schema: Mapping[str, Any]
    name: str = ""
    injection: str = ""
    """`system` or `user`: where a provider without a field for it puts the form as text."""

    def response_format(self) -> dict[str, Any]:
        """The setting that asks for it."""
        given = {"name": self.name, "injection": self.injection}
        named = {key: value for key, value in given.items() if value}
        return {"type": "json_schema", "schema": thaw(freeze(self.schema)), **named}


@dataclass(frozen=True, slots=True)
class AgentMemory:
    """Where the history of conversations is kept, and how much of it the model is handed."""

    store: Any
    conversation_id: str = ""
    """Of the conversation that has no id of its own."""
    strategy: Any = None
    """A message strategy; None: a window of the newest 100 messages."""
    durability: str = "await"
    """`await`: a run is over when it is saved; `background`: saving may take longer."""
    on_save_error: Any = None
    """Is told when saving in the background failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentDefinition:
    """What an agent is. `check` says what is wrong with it."""

    name: str = "agent"
    system: str = ""
    prompt_provider: Any = None
    """Gives the system prompt instead of `system`."""
    tools: tuple[AgentTool, ...] = ()
    tool_provider: Any = None
    """Says which tools are offered, instead of all."""
    message_strategy: Any = None
    """How much of the history the model is handed, where no memory says it."""
    max_iterations: int = MAX_ITERATIONS
    pattern: AgentPattern = AgentPattern.REGULAR
    instructions: tuple[AgentInstruction, ...] = ()
    injections: tuple[Injection, ...] = ()
    """Facts, skills, memory, retrieval: what is put before the model besides."""
    decision: Mapping[str, Any] = field(default_factory=lambda: NOTHING)
    """What the decision scope begins with, in every run."""
    overrides: Mapping[str, InstructionOverride] = field(
        default_factory=dict[str, InstructionOverride]
    )
    """By tool: how its instructions are changed for this agent."""
    memory: AgentMemory | None = None
    output_schema: OutputSchema | None = None
    settings: Mapping[str, Any] = field(default_factory=lambda: NOTHING)
    """Of every model call: `model`, `temperature`, `max_tokens`, `stop`."""
    streaming: bool = False
    tool_concurrency: int = 1
    """So many calls of one reply are made at the same time."""
    loop: Mapping[str, Any] = field(default_factory=lambda: NOTHING)
    """Further fields of the loop's configuration."""
    allow_unsafe: bool = False
    allow_clashes: bool = False
    """A tool of an instruction may have the id of one of the agent's, which then counts."""
    allow_unknown_targets: bool = False
    """Follow-ups may lead to tools that the agent does not have yet."""

    def findings(self) -> Iterator[Problem]:
        """Everything that is wrong or doubtful, in the order of the fields."""
        yield from _numbers(self)
        yield from _texts(self)
        yield from _schema(self.output_schema)
        yield from _decision(self.decision)
        yield from _memory(self.memory)
        yield from _doubles(
            "ToolRegistry: tool '{}' already registered", (tool.id for tool in self.tools)
        )
        yield from _doubles(
            'several of the instructions have the id "{}"', (rule.id for rule in self.instructions)
        )
        yield from self._clashes()
        for tool in self.every_tool():
            yield from check_rules(tool.instructions, f'of tool "{tool.id}"')
        for rule in self.instructions:
            yield from check_rules(rule.on_tool_result, f'of "{rule.id}"')
        tools = {tool.id: tool.instructions for tool in self.every_tool()}
        yield from check_overrides(tools, self.overrides, allow_unsafe=self.allow_unsafe)
        yield from self._targets()

    def check(self) -> tuple[Problem, ...]:
        """The warnings. Raises `DefinitionError` with every error there is."""
        found = list(self.findings())
        errors = [one for one in found if one.severity == "error"]
        if errors:
            raise DefinitionError(errors)
        return tuple(found)

    def loop_config(self, model: Any) -> AgentLoopConfig:
        """What its loop is made of, with the model that it asks."""
        memory, output = self.memory, self.output_schema
        form = {} if output is None else {"response_format": output.response_format()}
        fields: dict[str, Any] = {
            "provider": model,
            "system_prompt": self.system if self.prompt_provider is None else self.prompt_provider,
            "message_strategy": self._strategy(),
            "tools": self.tools,
            "tool_provider": self.tool_provider,
            "max_iterations": self.max_iterations,
            "pattern": self.pattern,
            "instructions": self.instructions,
            "injections": self.injections,
            "decision": self.decision,
            "overrides": self.overrides,
            "settings": {**self.settings, **form},
            "streaming": self.streaming,
            "tool_concurrency": self.tool_concurrency,
            "name": self.name,
        }
        if memory is not None:
            fields |= {
                "store": memory.store,
                "conversation_id": memory.conversation_id,
                "durability": memory.durability,
                "on_save_error": memory.on_save_error,
            }
        return AgentLoopConfig(**{**fields, **self.loop})

    def _strategy(self) -> Any:
        """How much of the history is handed over: never a call without its result."""
        if self.memory is None:
            return None if self.message_strategy is None else safe_strategy(self.message_strategy)
        given = self.memory.strategy or self.message_strategy
        return safe_strategy(sliding_window(REMEMBERED) if given is None else given)

    def every_tool(self) -> Iterator[AgentTool]:
        """The tools of the agent, then those of its instructions."""
        yield from self.tools
        for rule in self.instructions:
            yield from map(agent_tool, rule.tools)

    def _targets(self) -> Iterator[Problem]:
        """Follow-ups that lead nowhere. A provider may offer tools that nobody knows beforehand."""
        if self.allow_unknown_targets or self.tool_provider is not None:
            return
        with suppress(CallerError):  # an override with unknown fields has been told
            yield from check_follow_ups(self.tools, self.instructions, overrides=self.overrides)

    def _clashes(self) -> Iterator[Problem]:
        if self.allow_clashes:
            return
        first: dict[str, tuple[AgentTool, str]] = {
            tool.id: (tool, "of the agent") for tool in self.tools
        }
        for rule in self.instructions:
            for tool in map(agent_tool, rule.tools):
                other, where = first.setdefault(tool.id, (tool, f'of instruction "{rule.id}"'))
                if other is not tool and other.tool is not tool.tool:
                    yield Problem(
                        f'instruction "{rule.id}" brings another tool with the id "{tool.id}" '
                        f"{where}",
                        hint="give one of them another id, or hand the same tool to both; "
                        "allow_clashes=True lets the first one count",
                        flow=tool.id,
                    )


def _numbers(agent: AgentDefinition) -> Iterator[Problem]:
    for name, least in (("max_iterations", 0), ("tool_concurrency", 1)):
        value: Any = getattr(agent, name)
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            yield Problem(f"{name} is {value!r}", hint=f"write a whole number from {least}")


def _texts(agent: AgentDefinition) -> Iterator[Problem]:
    texts: dict[str, Any] = {"name": agent.name, "system": agent.system}
    for name, value in texts.items():
        if not isinstance(value, str):
            yield Problem(f"{name} is {type(value).__name__}, not text", hint=f'{name}="…"')
    if not str(agent.name).strip():
        yield Problem("the agent has no name", hint='name="agent"')


def _schema(output: OutputSchema | None) -> Iterator[Problem]:
    if output is None:
        return
    if output.injection not in ("", "system", "user"):
        yield Problem(
            f'injection of the output schema is "{output.injection}"', hint='"system" or "user"'
        )
    if not isinstance(output.schema, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance] - callers
        kind = type(output.schema).__name__
        yield Problem(f"output_schema is {kind}, not a JSON schema", hint='{"type": "object", …}')
        return
    try:
        compile_schema(output.schema)
    except (ValueError, StateValueError) as error:
        yield Problem(f"output_schema is no JSON schema: {explain(error)}")


def _decision(decision: Mapping[str, Any]) -> Iterator[Problem]:
    if not isinstance(decision, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance] - callers
        kind = type(decision).__name__
        yield Problem(f"the decision begins with {kind}, not a mapping", hint='{"status": "new"}')
        return
    try:
        freeze(decision, ("decision",))
    except StateValueError as error:
        yield Problem(str(error), hint="a decision holds what JSON can hold")


def _memory(memory: AgentMemory | None) -> Iterator[Problem]:
    if memory is None:
        return
    missing = [name for name in ("load", "save") if not callable(getattr(memory.store, name, None))]
    if missing:
        kind = type(memory.store).__name__
        yield Problem(
            f"{kind} is no memory store: it has no {' and no '.join(missing)}",
            hint="load(conversation_id) gives the history or None, save(conversation_id, messages)",
        )
    if memory.durability not in ("await", "background"):
        yield Problem(
            f'durability of the memory is "{memory.durability}"', hint='"await" or "background"'
        )


def _doubles(message: str, ids: Iterable[str]) -> Iterator[Problem]:
    for one, times in Counter(ids).items():
        if times > 1:
            yield Problem(message.format(one), hint="give each an id of its own", flow=one)


def pattern_of(given: AgentPattern | str) -> AgentPattern:
    """The pattern, which may be its name. Raises `CallerError` for another name."""
    try:
        return AgentPattern(given.lower() if isinstance(given, str) else given)
    except ValueError:
        known = '", "'.join(one.value for one in AgentPattern)
        raise CallerError(f"there is no pattern {given!r}", hint=f'write "{known}"') from None


def output_of(given: OutputSchema | Mapping[str, Any] | None) -> OutputSchema | None:
    """The form of the answer, which may be the bare schema."""
    return given if given is None or isinstance(given, OutputSchema) else OutputSchema(given)


def tools_of(given: Iterable[Any]) -> tuple[AgentTool, ...]:
    """Tools of any make as those of an agent. Raises `CallerError` for what is none."""
    if isinstance(given, Mapping | str) or not isinstance(given, Iterable):  # pyright: ignore[reportUnnecessaryIsInstance] - callers
        kind = type(given).__name__
        raise CallerError(f"tools are a list, not {kind}", hint="tools=[define_tool(…), …]")
    return tuple(agent_tool(one) for one in given)


def instructions_of(given: Iterable[Any]) -> tuple[AgentInstruction, ...]:
    """Instructions of an agent. Raises `CallerError` for what is none, rules of tools included."""
    example = 'define_instruction("refund", prompt="…"); an LLMInstruction stands with its tool'
    return listed(given, AgentInstruction, "instructions of the agent", example)


def injections_given(given: Iterable[Any]) -> tuple[Injection, ...]:
    """What is put before the model. Raises `CallerError` for what is no injection."""
    return listed(given, Injection, "injections", 'fact("…")')


def overrides_of(given: Mapping[str, Any] | None) -> dict[str, InstructionOverride]:
    """Changes of rules, by tool. Raises `CallerError` for what is none."""
    example = 'instruction_overrides={"a_tool": InstructionOverride(suppress=["kind"])}'
    by_tool = only(given or {}, Mapping, "instruction_overrides", example)
    for name, one in by_tool.items():
        only(one, InstructionOverride, f'the override of tool "{name}"', example)
    return dict(by_tool)


def memory_of(given: Any) -> AgentMemory | None:
    """The memory. Raises `CallerError` for a bare store, which would have none of its options."""
    return given if given is None else only(given, AgentMemory, "memory", "AgentMemory(store)")
