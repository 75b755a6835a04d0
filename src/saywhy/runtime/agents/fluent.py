"""Agents and calls of models, written step by step.

Each step gives a new builder and leaves the old one as it was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Self

from saywhy.agent.agent import AgentMemory, OutputSchema
from saywhy.agent.instructions.agent_rule import AgentInstruction
from saywhy.agent.instructions.rule import InstructionOverride
from saywhy.agent.loop.config import AgentPattern
from saywhy.agent.slots.injection import Injection
from saywhy.runtime.agents.agent import Agent
from saywhy.runtime.agents.llm_call import LLMCall

if TYPE_CHECKING:
    from saywhy.runtime.agents.swarm import Swarm


class Steps:
    """What an agent and a single call of a model have in common. Each step gives a new one."""

    __slots__ = ("_keywords", "_model")

    def __init__(self, model: Any, keywords: Mapping[str, Any]) -> None:
        self._model = model
        self._keywords = dict(keywords)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {', '.join(sorted(self._keywords))}>"

    def asking(self, model: Any) -> Self:
        """The same with another model."""
        return type(self)(model, self._keywords)

    def system(self, text: str) -> Self:
        """The system prompt."""
        return self.options(system=text)

    def prompt_provider(self, provider: Any) -> Self:
        """Who gives the system prompt, instead of `system`."""
        return self.options(prompt_provider=provider)

    def output_schema(self, schema: Mapping[str, Any], name: str = "", injection: str = "") -> Self:
        """The form of the answer."""
        return self.options(output_schema=OutputSchema(schema, name, injection))

    def settings(self, **settings: Any) -> Self:
        """What goes with every call of the model: `model`, `temperature`, `max_tokens`, `stop`."""
        return self.options(settings={**self._keywords.get("settings", {}), **settings})

    def streaming(self, wanted: bool = True) -> Self:
        """Whether the model is asked for its answer in pieces."""
        return self.options(streaming=wanted)

    def verbose(self, wanted: bool = True) -> Self:
        """Whether narratives leave nothing out."""
        return self.options(verbose=wanted)

    def recorder(self, recorder: Any) -> Self:
        """One more that is told what happens."""
        return self._more("recorders", [recorder])

    def new_id(self, new_id: Callable[[], str] | None) -> Self:
        """Who makes the ids of runs."""
        return self.options(new_id=new_id)

    def options(self, **keywords: Any) -> Self:
        """Any keywords of `Agent`."""
        return type(self)(self._model, {**self._keywords, **keywords})

    def _more(self, name: str, items: Iterable[Any]) -> Self:
        return self.options(**{name: (*self._keywords.get(name, ()), *items)})


class AgentBuilder(Steps):
    """What an agent is to be. `build()` makes it; everything wrong is told then, at once."""

    __slots__ = ()

    def tool(self, tool: Any) -> Self:
        """One more tool."""
        return self.tools([tool])

    def tools(self, tools: Iterable[Any]) -> Self:
        """More tools."""
        return self._more("tools", tools)

    def tool_provider(self, provider: Any) -> Self:
        """Who says which tools are offered."""
        return self.options(tool_provider=provider)

    def max_iterations(self, rounds: int) -> Self:
        """After so many rounds of tools the next reply is the answer."""
        return self.options(max_iterations=rounds)

    def pattern(self, pattern: AgentPattern | str) -> Self:
        """Whether prompt, tools and instructions are worked out once, or in every round."""
        return self.options(pattern=pattern)

    def instruction(self, instruction: AgentInstruction) -> Self:
        """One more instruction of the agent."""
        return self.instructions([instruction])

    def instructions(self, instructions: Iterable[AgentInstruction]) -> Self:
        """More instructions of the agent."""
        return self._more("instructions", instructions)

    def inject(self, *injections: Injection) -> Self:
        """More facts, skills, memory or retrieval before the model."""
        return self._more("injections", injections)

    def decision(self, initial: Mapping[str, Any]) -> Self:
        """What the decision begins with in every run."""
        return self.options(decision=initial)

    def instruction_override(self, tool_id: str, override: InstructionOverride) -> Self:
        """How the rules of a tool are changed; the last word on a tool counts."""
        before = self._keywords.get("instruction_overrides", {})
        return self.options(instruction_overrides={**before, tool_id: override})

    def memory(
        self, store: Any, conversation_id: str = "", strategy: Any = None, **options: Any
    ) -> Self:
        """Where histories are kept; see `AgentMemory` for the options."""
        kept = AgentMemory(store, conversation_id, strategy, **options)
        return self.options(memory=kept)

    def build(self) -> Agent:
        """The agent. Raises `DefinitionError` with every problem there is."""
        return Agent(self._model, **self._keywords)


class LLMCallBuilder(Steps):
    """What a call of a model is to be."""

    __slots__ = ()

    def build(self) -> LLMCall:
        """The runner. Raises `DefinitionError` with every problem there is."""
        return LLMCall(self._model, **self._keywords)


class SwarmBuilder(AgentBuilder):
    """What a swarm is to be."""

    __slots__ = ()

    def specialist(self, id: str, runner: Any, description: str = "") -> Self:
        """One more runner that tasks are handed to."""
        from saywhy.runtime.agents.swarm import Specialist

        return self._more("specialists", [Specialist(id, runner, description)])

    def build(self) -> Swarm:
        """The swarm. Raises `DefinitionError` with every problem there is."""
        from saywhy.runtime.agents.swarm import Swarm

        keywords: dict[str, Any] = {"specialists": (), **self._keywords}
        return Swarm(self._model, **keywords)
