"""What a model would be told about a result, without running anything."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from saywhy.agent.instructions.budget import estimated_tokens
from saywhy.agent.instructions.context import PreviewContext
from saywhy.agent.instructions.evaluate import InstructionOrder, judge_instructions
from saywhy.agent.instructions.follow_up import ResolvedFollowUp
from saywhy.agent.instructions.judge import Verdict
from saywhy.agent.instructions.override import apply_instruction_overrides
from saywhy.agent.instructions.render import InstructionTemplate, render_instructions
from saywhy.agent.instructions.rule import (
    InstructionOverride,
    LLMInstruction,
    ResolvedInstruction,
)


class InstructionPreview(msgspec.Struct, frozen=True):
    """What would be put after the result."""

    fired: tuple[ResolvedInstruction, ...]
    fired_ids: tuple[str, ...]
    skipped_ids: tuple[str, ...]
    """Ids none of whose rules fired; those that an override leaves out are in neither list."""
    injected_text: str | None
    estimated_tokens: int
    """Four characters a token."""
    follow_ups: tuple[ResolvedFollowUp, ...]
    log: tuple[Verdict, ...] = ()
    """Why each rule would fire or not."""


def preview_instructions(
    instructions: Iterable[LLMInstruction] | None,
    context: PreviewContext,
    *,
    overrides: InstructionOverride | None = None,
    template: InstructionTemplate | None = None,
    order: InstructionOrder = InstructionOrder.THREE_GROUPS,
) -> InstructionPreview:
    """What these rules would say about such a result."""
    rules = list(instructions or ())
    if overrides is not None:
        rules = apply_instruction_overrides(rules, overrides)
    judged = judge_instructions(rules, context, order=order)
    fired_ids = tuple(one.id for one in judged.fired)
    text = render_instructions(judged.fired, template)
    offered = (one.resolved_follow_up for one in judged.fired)
    return InstructionPreview(
        fired=judged.fired,
        fired_ids=fired_ids,
        skipped_ids=tuple(rule.id for rule in rules if rule.id not in fired_ids),
        injected_text=text,
        estimated_tokens=estimated_tokens(text),
        follow_ups=tuple(one for one in offered if one is not None),
        log=judged.log,
    )
