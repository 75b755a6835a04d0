"""What is wrong with the instructions of an agent, before it runs.

What an override may not do is in `override`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from saywhy.agent.instructions.agent_rule import AgentInstruction, id_of
from saywhy.agent.instructions.override import apply_instruction_overrides
from saywhy.agent.instructions.rule import InstructionOverride, LLMInstruction
from saywhy.errors import Problem, did_you_mean


def check_follow_ups(
    tools: Iterable[Any],
    instructions: Iterable[AgentInstruction] = (),
    *,
    overrides: Mapping[str, InstructionOverride] | None = None,
    also: Iterable[str] = (),
) -> Iterator[Problem]:
    """Follow-ups to tools that the agent does not have, at any time.

    `also` are ids of tools that come from elsewhere, such as a tool provider. The rules of a tool
    are taken as the overrides leave them.
    """
    listed = list(instructions)
    own = [*tools, *(tool for one in listed for tool in one.tools)]
    known = tuple(dict.fromkeys((*(id_of(tool) for tool in own), *also)))
    changes = overrides or {}
    seen: set[int] = set()
    for tool in own:
        if id(tool) in seen:
            continue
        seen.add(id(tool))
        rules: Iterable[LLMInstruction] = getattr(tool, "instructions", ())
        change = changes.get(id_of(tool))
        if change is not None:
            rules = apply_instruction_overrides(rules, change)
        yield from _strangers(f'of tool "{id_of(tool)}"', id_of(tool), rules, known)
    for one in listed:
        yield from _strangers(f'of "{one.id}"', one.id, one.on_tool_result, known)


def _strangers(
    whose: str, flow: str, rules: Iterable[LLMInstruction], known: tuple[str, ...]
) -> Iterator[Problem]:
    for rule in rules:
        target = rule.follow_up.tool_id if rule.follow_up else None
        if target is not None and target not in known:
            yield Problem(
                f'the instruction "{rule.id}" {whose} offers the tool "{target}", '
                "which the agent does not have",
                hint=did_you_mean(target, known) or "give the agent that tool, or take it out",
                known_names=known,
                flow=flow,
            )
