"""The rules of a shared tool as one agent wants them, and which wishes are refused.

Applying does what it is told. Whether an agent may be built with it is `check_overrides`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from saywhy.agent.instructions.rule import InstructionOverride, LLMInstruction
from saywhy.errors import CallerError, Problem, did_you_mean

FIELDS: Final = tuple(one.name for one in dataclasses.fields(LLMInstruction) if one.name != "_")

_UNSAFE_HINT: Final = (
    "leave it as the tool's author wrote it, or add a stricter one; allow_unsafe=True permits this"
)


def apply_instruction_overrides(
    instructions: Iterable[LLMInstruction] | None, override: InstructionOverride
) -> list[LLMInstruction]:
    """The rules after leaving out, changing and adding. Ids that no rule has change nothing.

    Leaving out wins over changing; what is added is not left out.
    """
    left_out = set(override.suppress)
    kept = [_changed(rule, override) for rule in instructions or () if rule.id not in left_out]
    return [*kept, *override.add]


def _changed(rule: LLMInstruction, override: InstructionOverride) -> LLMInstruction:
    fields = override.replace.get(rule.id)
    if fields is None:
        return rule
    unknown = [name for name in fields if name not in FIELDS]
    if unknown:
        raise CallerError(
            f'the override of instruction "{rule.id}" changes "{unknown[0]}", '
            "which an instruction does not have",
            hint=did_you_mean(unknown[0], FIELDS) or f"its fields: {', '.join(FIELDS)}",
        )
    changes: dict[str, Any] = {**fields, "id": rule.id}
    return dataclasses.replace(rule, **changes)


def check_overrides(
    tools: Mapping[str, Iterable[LLMInstruction] | None],
    overrides: Mapping[str, InstructionOverride],
    *,
    allow_unsafe: bool = False,
) -> Iterator[Problem]:
    """What is wrong with the overrides of an agent, by tool id.

    An override that takes a rule of safety away, or keeps it from doing its work, is an error
    unless `allow_unsafe`. So are fields that no instruction has. Ids that nothing has are warnings.
    """
    for tool_id, override in overrides.items():
        if tool_id not in tools:
            yield Problem(
                f'the override is for tool "{tool_id}", which the agent does not have',
                hint=did_you_mean(tool_id, list(tools)),
                severity="warning",
                known_names=tuple(tools),
                flow=tool_id,
            )
            continue
        rules = list(tools[tool_id] or ())
        yield from _unknown_names(tool_id, rules, override)
        if not allow_unsafe:
            yield from _unsafe(tool_id, rules, override)


def _unknown_names(
    tool_id: str, rules: list[LLMInstruction], override: InstructionOverride
) -> Iterator[Problem]:
    known = tuple(dict.fromkeys(rule.id for rule in rules))
    for named in dict.fromkeys((*override.suppress, *override.replace)):
        if named not in known:
            yield Problem(
                f'the override of tool "{tool_id}" names the instruction "{named}", '
                "which the tool does not have",
                hint=did_you_mean(named, known),
                severity="warning",
                known_names=known,
                flow=tool_id,
            )
    for named, fields in override.replace.items():
        for name in fields:
            if name not in FIELDS:
                yield Problem(
                    f'the override of instruction "{named}" of tool "{tool_id}" changes "{name}", '
                    "which an instruction does not have",
                    hint=did_you_mean(name, FIELDS),
                    known_names=FIELDS,
                    flow=tool_id,
                )


def _unsafe(
    tool_id: str, rules: list[LLMInstruction], override: InstructionOverride
) -> Iterator[Problem]:
    for rule in rules:
        if not rule.safety:
            continue
        if rule.id in override.suppress:
            how = "takes it away"
        else:
            how = _disarming(rule, override.replace.get(rule.id, {}))
        if how:
            yield Problem(
                f'the override of tool "{tool_id}" reaches the safety instruction "{rule.id}": '
                f"it {how}",
                hint=_UNSAFE_HINT,
                flow=tool_id,
            )


def _disarming(rule: LLMInstruction, fields: Mapping[str, Any]) -> str:
    """How a change keeps a safety rule from its work; "" where it does not.

    A changed condition counts: nobody can tell from outside when it holds.
    """
    if fields.get("safety", True) is not True:
        return "clears the flag `safety`"
    if "when" in fields and fields["when"] is not None:
        return "changes when it fires"
    if rule.text and "text" in fields and not fields["text"]:
        return "empties its text"
    if rule.decide and "decide" in fields and fields["decide"] is None:
        return "takes its `decide` away"
    if rule.follow_up and "follow_up" in fields and fields["follow_up"] is None:
        return "takes its follow-up away"
    return ""
