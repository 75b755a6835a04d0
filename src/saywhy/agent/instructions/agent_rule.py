"""Instructions of the agent: active while the decision says so, at three places at once.

An active one adds to the system prompt, to the tools and to the rules about results. When that is
judged, and how it gets into the state of a run, is in `subflow`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Final, TypeAlias

import msgspec

from saywhy.agent.instructions.judge import Verdict, judge
from saywhy.agent.instructions.rule import LLMInstruction
from saywhy.agent.instructions.seen import Looks, SeenDict
from saywhy.errors import CallerError
from saywhy.values import thaw

_LOG: Final = logging.getLogger("saywhy")

ActiveWhen: TypeAlias = Callable[[Any], bool]
"""Looks at the decision, a dict whose fields are attributes as well; None where there is none."""


@dataclass(frozen=True, slots=True, eq=False)
class AgentInstruction:
    """What an agent is told, may do and watches for while `active_when` holds of the decision.

    Without `active_when` it is always active. `prompt` is put after the system prompt, `tools` are
    offered besides the others, `on_tool_result` are rules about results of any tool. Lower
    `priority` first; those of `safety` last, and active even when their condition raises.
    """

    id: str
    _: KW_ONLY
    description: str = ""
    active_when: ActiveWhen | None = None
    prompt: str | None = None
    tools: Sequence[Any] = ()
    """Tools of an agent (`define_tool`), or anything else that is a tool."""
    on_tool_result: Sequence[LLMInstruction] = ()
    priority: float = 0
    safety: bool = False

    def __post_init__(self) -> None:
        # Names in a state stand for these; a list that grows later must not reach in.
        object.__setattr__(self, "tools", tuple(self.tools))
        object.__setattr__(self, "on_tool_result", tuple(self.on_tool_result))


class InstructionEvaluationResult(msgspec.Struct, frozen=True):
    """What the active instructions bring, by the place it goes to."""

    prompt_injections: tuple[str, ...] = ()
    tool_injections: tuple[Any, ...] = ()
    response_rules: tuple[LLMInstruction, ...] = ()
    matched_ids: tuple[str, ...] = ()
    matched: tuple[AgentInstruction, ...] = ()
    """The active instructions themselves, in order."""
    log: tuple[Verdict, ...] = ()
    """Why each instruction is active or not."""


def define_instruction(
    id: str = "",
    *,
    description: str = "",
    active_when: ActiveWhen | None = None,
    prompt: str | None = None,
    tools: Iterable[Any] = (),
    on_tool_result: Iterable[LLMInstruction] = (),
    priority: float = 0,
    safety: bool = False,
) -> AgentInstruction:
    """An instruction of the agent, checked: raises `CallerError` without an id."""
    if not id:
        raise CallerError("defineInstruction: id is required", hint='define_instruction("refund")')
    return AgentInstruction(
        id,
        description=description,
        active_when=active_when,
        prompt=prompt,
        tools=tuple(tools),
        on_tool_result=tuple(on_tool_result),
        priority=priority,
        safety=safety,
    )


def evaluate_agent_instructions(
    instructions: Iterable[AgentInstruction] | None, decision: Mapping[str, Any] | None
) -> InstructionEvaluationResult:
    """What is active under this decision; None where there is no decision, which every look raises.

    Of two tools with one id the first one, in order, is offered. Rules are not compared.
    """
    listed = sorted(instructions or (), key=lambda one: (one.safety, one.priority))
    known = None if decision is None else thaw(decision)
    matched: list[AgentInstruction] = []
    log: list[Verdict] = []
    for one in listed:
        verdict = _judged(one, known)
        log.append(verdict)
        if verdict.fired:
            matched.append(one)
    tools: dict[str, Any] = {}
    for one in matched:
        for tool in one.tools:
            tools.setdefault(id_of(tool), tool)
    return InstructionEvaluationResult(
        prompt_injections=tuple(one.prompt for one in matched if one.prompt),
        tool_injections=tuple(tools.values()),
        response_rules=tuple(rule for one in matched for rule in one.on_tool_result),
        matched_ids=tuple(one.id for one in matched),
        matched=tuple(matched),
        log=tuple(log),
    )


def _judged(one: AgentInstruction, known: dict[str, Any] | None) -> Verdict:
    looks = Looks()
    subject = None if known is None else SeenDict(known, (), looks)
    verdict = judge(one.id, one.active_when, subject, looks.taken, safety=one.safety)
    if verdict.fired and one.safety and not (one.prompt or one.tools or one.on_tool_result):
        _LOG.warning('the safety instruction "%s" is active but says nothing', one.id)
    return verdict


def id_of(tool: Any) -> str:
    """What a tool is called by; a decorated function has its definition inside."""
    found = getattr(tool, "id", None)
    return str(found if found is not None else tool.raw["id"])
