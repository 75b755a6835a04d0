"""Which rules fire for a tool's result, and in which order the model is told.

First the bare offers of an action, then what is said, then what is said for safety: the nearer to
the end, the more it weighs. Within each by priority, then as the rules were listed.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum

import msgspec

from saywhy.agent.instructions.context import InstructionContext
from saywhy.agent.instructions.follow_up import ResolvedFollowUp
from saywhy.agent.instructions.judge import Verdict, dropped, judge, unconditional
from saywhy.agent.instructions.rule import LLMInstruction, ResolvedInstruction


class InstructionOrder(Enum):
    """How rules that fired are put in order."""

    THREE_GROUPS = "three groups"
    """Bare actions, then texts, then safety; each by priority."""
    PRIORITY_ONLY = "priority only"
    """Actions and texts mixed, by priority; then safety."""


class Evaluation(msgspec.Struct, frozen=True):
    """The rules that fired, in the order of injection, and a line about each rule, as listed."""

    fired: tuple[ResolvedInstruction, ...] = ()
    log: tuple[Verdict, ...] = ()


def evaluate_instructions(
    instructions: Iterable[LLMInstruction] | None,
    ctx: InstructionContext,
    *,
    order: InstructionOrder = InstructionOrder.THREE_GROUPS,
) -> list[ResolvedInstruction]:
    """The rules that fire, in the order in which the model is told."""
    return list(judge_instructions(instructions, ctx, order=order).fired)


def judge_instructions(
    instructions: Iterable[LLMInstruction] | None,
    ctx: InstructionContext,
    *,
    order: InstructionOrder = InstructionOrder.THREE_GROUPS,
) -> Evaluation:
    """Like `evaluate_instructions`, with the record of why each rule did or did not fire."""
    fired: list[ResolvedInstruction] = []
    log: list[Verdict] = []
    for rule in instructions or ():
        verdict = _judged(rule, ctx)
        log.append(verdict)
        if not verdict.fired:
            continue
        follow_up = _resolve(rule, ctx, log)
        fired.append(
            ResolvedInstruction(rule.id, rule.text, follow_up, rule.safety, rule.priority, rule)
        )
    return Evaluation(tuple(in_order(fired, order)), tuple(log))


def _judged(rule: LLMInstruction, ctx: InstructionContext) -> Verdict:
    if rule.when is None:
        return unconditional(rule.id, rule.safety)
    watched = ctx.watched()
    return judge(rule.id, rule.when, watched, watched.looks, safety=rule.safety)


def _resolve(
    rule: LLMInstruction, ctx: InstructionContext, log: list[Verdict]
) -> ResolvedFollowUp | None:
    """The rule's action for this result; None where there is none, or its arguments raise."""
    if rule.follow_up is None:
        return None
    try:
        return rule.follow_up.resolve(ctx.watched())
    except Exception as error:
        log.append(dropped(rule.id, "follow_up", error, safety=rule.safety))
        return None


def in_order(
    fired: Iterable[ResolvedInstruction], order: InstructionOrder
) -> list[ResolvedInstruction]:
    """Sorted for injection; equals keep their order."""

    def place(one: ResolvedInstruction) -> tuple[int, float]:
        if one.safety:
            return 2, one.priority
        is_bare = one.resolved_follow_up is not None and not one.text
        return (0 if is_bare and order is InstructionOrder.THREE_GROUPS else 1), one.priority

    return sorted(fired, key=place)
