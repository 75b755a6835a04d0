"""A tool's text with what the model is told about it.

Judge the rules, add what the handler said, keep to the budget, write it out, put it after the
tool's own text. Recording is the caller's; everything it may want to record is in the result.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from saywhy.agent.instructions.budget import within_budget
from saywhy.agent.instructions.context import InstructionContext
from saywhy.agent.instructions.evaluate import InstructionOrder, judge_instructions
from saywhy.agent.instructions.fence import fence
from saywhy.agent.instructions.judge import Verdict
from saywhy.agent.instructions.merge import RuntimeGuidance, merge_with_log
from saywhy.agent.instructions.render import GAP, InstructionTemplate, render_instructions
from saywhy.agent.instructions.rule import LLMInstruction, ResolvedInstruction


class InstructionInjectionResult(msgspec.Struct, frozen=True):
    """What the model reads after a tool has answered, and what it is made of."""

    content: str
    """What the model reads."""
    fired: tuple[ResolvedInstruction, ...]
    """Everything that fired, whether or not it shows."""
    injected: bool
    """Whether something was put after the tool's text."""
    raw: str
    """The tool's text as it came."""
    added: str = ""
    """The part that is ours, without the blank line before it."""
    fenced: bool = False
    """The tool's text imitated our marks and was changed."""
    log: tuple[Verdict, ...] = ()
    """Why each rule fired or did not, and what was dropped."""


def process_instructions(
    content: str,
    instructions: Iterable[LLMInstruction] | None,
    ctx: InstructionContext,
    runtime: RuntimeGuidance | None = None,
    template: InstructionTemplate | None = None,
    *,
    order: InstructionOrder = InstructionOrder.THREE_GROUPS,
    instruction_budget: int | None = None,
) -> InstructionInjectionResult:
    """The tool's text with the instructions that fire for it.

    `instruction_budget` is in tokens; what does not fit of the behavioural texts is dropped and
    recorded. Where a tool's text imitates the marks of instructions, it is fenced: `raw` has it as
    it came.
    """
    judged = judge_instructions(instructions, ctx, order=order)
    fired, said = merge_with_log(judged.fired, runtime)
    log = [*judged.log, *said]
    if instruction_budget is not None:
        fired, over = within_budget(fired, instruction_budget, template)
        log += over
    added = render_instructions(fired, template)
    shown = fence(content, template.marks if template else ())
    return InstructionInjectionResult(
        content=shown if added is None else shown + GAP + added,
        fired=tuple(fired),
        injected=added is not None,
        raw=content,
        added=added or "",
        fenced=shown != content,
        log=tuple(log),
    )
