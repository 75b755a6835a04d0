"""The instructions of an agent under names that a state can hold.

Functions do not survive JSON. The state of a run has the names of what is active, and this book,
made of the same list in every process, has the objects: rules with their functions, tools with
their handlers. A name stands for one object, also where two instructions share an id.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from saywhy.agent.instructions.agent_rule import (
    AgentInstruction,
    InstructionEvaluationResult,
    evaluate_agent_instructions,
    id_of,
)
from saywhy.agent.instructions.rule import LLMInstruction
from saywhy.agent.tools import AgentTool, agent_tool
from saywhy.values import FrozenDict


class RuleBook:
    """A fixed list of instructions of the agent, and the names of what is in them.

    An instruction's name is its id, a rule's `instruction/rule`; the second of a name has `#2`.
    """

    def __init__(self, instructions: Iterable[AgentInstruction] = ()) -> None:
        self.instructions = tuple(instructions)
        self._named: dict[str, AgentInstruction] = {}
        self._rules: dict[str, LLMInstruction] = {}
        self._names: dict[AgentInstruction, tuple[str, tuple[str, ...]]] = {}
        self._tools: dict[AgentInstruction, tuple[AgentTool, ...]] = {}
        self._shown: dict[int, FrozenDict] = {}
        for one in self.instructions:
            self._enter(one)

    def _enter(self, one: AgentInstruction) -> None:
        name = _free(one.id, self._named)
        self._named[name] = one
        rules: list[str] = []
        for rule in one.on_tool_result:
            rules.append(_free(f"{name}/{rule.id}", self._rules))
            self._rules[rules[-1]] = rule
        # One object that is listed twice has the names of its last entry; both mean that object.
        self._names[one] = name, tuple(rules)
        self._tools[one] = tuple(agent_tool(tool) for tool in one.tools)
        for given, tool in zip(one.tools, self._tools[one], strict=True):
            self._shown[id(given)] = tool.describe().to_value()

    def evaluate(self, decision: Mapping[str, Any] | None) -> InstructionEvaluationResult:
        """What is active under this decision."""
        return evaluate_agent_instructions(self.instructions, decision)

    def names_of(self, result: InstructionEvaluationResult) -> list[str]:
        """The names of the active instructions, in order."""
        return [self._names[one][0] for one in result.matched]

    def rule_names_of(self, result: InstructionEvaluationResult) -> list[str]:
        """The names of the rules of the active instructions, in order."""
        return [name for one in result.matched for name in self._names[one][1]]

    def descriptions_of(self, result: InstructionEvaluationResult) -> list[FrozenDict]:
        """The tools of the active instructions as a model is shown them.

        The same objects each time, so that requests share them.
        """
        return [self._shown[id(tool)] for tool in result.tool_injections]

    def rules(self, names: Iterable[str]) -> tuple[LLMInstruction, ...]:
        """The rules with these names, in this order; names of an older version are passed over."""
        found = (self._rules.get(name) for name in names)
        return tuple(rule for rule in found if rule is not None)

    def tool(self, id: str, active: Iterable[str]) -> AgentTool | None:
        """The tool that the active instructions of these names offer under `id`, or None."""
        for name in active:
            for tool in self._tools.get(self._named[name], ()) if name in self._named else ():
                if tool.id == id:
                    return tool
        return None

    @property
    def tool_ids(self) -> tuple[str, ...]:
        """The ids of all tools that could be offered."""
        ids = (id_of(tool) for one in self.instructions for tool in one.tools)
        return tuple(dict.fromkeys(ids))

    @property
    def all_rules(self) -> tuple[LLMInstruction, ...]:
        """Every rule about results, active or not."""
        return tuple(self._rules.values())


def _free(name: str, taken: Mapping[str, Any]) -> str:
    number, wanted = 1, name
    while wanted in taken:
        number += 1
        wanted = f"{name}#{number}"
    return wanted
