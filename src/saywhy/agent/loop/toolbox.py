"""The tools of a loop: which are known, which rules speak about them, who carries a call out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from saywhy.agent.instructions.book import RuleBook
from saywhy.agent.instructions.override import apply_instruction_overrides
from saywhy.agent.instructions.rule import LLMInstruction
from saywhy.agent.loop.config import AgentLoopConfig
from saywhy.agent.slots.offers import ToolProvider, tools_of
from saywhy.agent.tool_reply import ToolReply
from saywhy.agent.tools import AgentTool, ChartRun, ToolRegistry, agent_tool
from saywhy.chart.built import Built
from saywhy.values import FrozenList, raw

Lookup = Callable[[str], Any]
"""Name of a variable → its value, None where there is none."""


class Toolbox:
    """Made once with the chart, the same in every process."""

    def __init__(self, config: AgentLoopConfig, book: RuleBook) -> None:
        self.registry = ToolRegistry(config.tools)
        self.book = book
        self.provider: ToolProvider | None = None
        if config.tool_provider is not None:
            self.provider = tools_of(config.tool_provider)
        self.described = FrozenList(
            [one.describe().to_value().raw for one in self.registry], owned=True
        )
        """The registered tools as a model is shown them."""
        self.asks_people = any(tool.asks_human for tool in self.registry)
        self.inner: list[Built] = []
        """The charts that come along with tools."""
        self._runs: dict[ChartRun, ChartRun] = {}
        brought = (agent_tool(tool) for rule in book.instructions for tool in rule.tools)
        for tool in (*self.registry, *brought):
            self._bring(tool, config.id)
        self.is_registry = self.provider is None and not book.instructions
        """Whether what is registered is all there is, at any moment."""
        self._overrides = config.overrides
        self._rules: dict[AgentTool, tuple[LLMInstruction, ...]] = {}

    def find(self, name: str, held: Lookup) -> AgentTool | ToolReply | None:
        """What a call of `name` is carried out by, at the moment that `held` tells of.

        A reply stands in place of a call that is not made; None: nobody knows the name. Tools of
        instructions count while those are active.
        """
        own = self.registry.get(name)
        if self.is_registry or (own is not None and own.asks_human):
            return own
        reply: ToolReply | None = None
        if self.provider is not None:
            routes: Any = raw(held("toolRoutes")) or {}
            found = self.provider.find(name, tuple(routes.get(name, ())))
            if isinstance(found, AgentTool):
                return found
            reply = found
        if reply is None and own is not None:
            return own
        if self.book.instructions:
            active = held("activeInstructions")
            found = self.book.tool(name, active) if active else None
            if found is not None:
                return found
        return reply

    def _bring(self, tool: AgentTool, inside: str) -> None:
        """Build the chart that carries out the calls of a tool, if it comes along."""
        run = tool.runs
        if run is not None and run.build is not None and run not in self._runs:
            built = run.build(f"{inside}/tool/{tool.id}")
            self.inner.append(built)
            self._runs[run] = replace(run, chart=built.chart.digest)

    def run_of(self, tool: AgentTool) -> ChartRun | None:
        """The chart that carries out the calls of a tool.

        None for one whose chart was not there when this was built: its function does.
        """
        run = tool.runs
        return run if run is None or run.build is None else self._runs.get(run)

    def rules_of(self, tool: AgentTool) -> tuple[LLMInstruction, ...]:
        """The rules about a tool's results, as the overrides leave them."""
        known = self._rules.get(tool)
        if known is None:
            known = tuple(tool.instructions)
            override = self._overrides.get(tool.id)
            if override is not None:
                known = tuple(apply_instruction_overrides(known, override))
            if tool is self.registry.get(tool.id):  # others may be made anew for each call
                self._rules[tool] = known
        return known

    def suppressed(self, name: str) -> list[str]:
        """Ids of the rules of a tool that an override of this agent takes away, or out of use."""
        override = self._overrides.get(name) if self._overrides else None
        tool = None if override is None else self.registry.get(name)
        if tool is None:
            return []
        kept = {rule.id for rule in self.rules_of(tool)}
        return [rule.id for rule in tool.instructions if rule.id not in kept]

    def agent_rules(self, names: Any) -> tuple[LLMInstruction, ...]:
        """The rules about every tool's results of the instructions that are active."""
        return self.book.rules(names) if names else ()
