"""How the model is told: rules that fired, as text."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final

from saywhy.agent.instructions.fence import ACTION_MARK, TEXT_MARK, fence
from saywhy.agent.instructions.follow_up import ResolvedFollowUp
from saywhy.agent.instructions.rule import ResolvedInstruction
from saywhy.values import dumps

_LOG: Final = logging.getLogger("saywhy")

GAP: Final = "\n\n"
"""Between two parts, and before the first one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InstructionTemplate:
    """Other words for what the model is told; what is not given stays as usual.

    A function that raises is logged, and the usual form is taken. `marks` are texts by which these
    forms can be told from a tool's own text; they are fenced like the usual ones.
    """

    format_text: Callable[[str], str] | None = None
    format_follow_up: Callable[[ResolvedFollowUp], str] | None = None
    format_block: Callable[[list[str]], str] | None = None
    """All parts as one text; usually joined by a blank line."""
    marks: tuple[str, ...] = ()


USUAL: Final = InstructionTemplate()


def render_instructions(
    instructions: Iterable[ResolvedInstruction], template: InstructionTemplate | None = None
) -> str | None:
    """What the model reads of these, in this order; None where nothing is to be shown.

    Within a rule the action stands before the text.
    """
    parts = [part for one in instructions for part in parts_of(one, template)]
    if not parts:
        return None
    return _formed((template or USUAL).format_block, parts, GAP.join)


def parts_of(one: ResolvedInstruction, template: InstructionTemplate | None = None) -> list[str]:
    """The action and the text of one rule, as far as it has them."""
    parts: list[str] = []
    if one.resolved_follow_up is not None:
        parts.append(action_of(one.resolved_follow_up, template))
    if one.text:
        parts.append(text_of(one.text, template))
    return parts


def text_of(text: str, template: InstructionTemplate | None = None) -> str:
    """One text as it is shown."""
    return _formed((template or USUAL).format_text, text, lambda given: f"{TEXT_MARK} {given}")


def action_of(follow_up: ResolvedFollowUp, template: InstructionTemplate | None = None) -> str:
    """One action as it is shown."""
    return _formed((template or USUAL).format_follow_up, follow_up, _action)


def _action(follow_up: ResolvedFollowUp) -> str:
    # Arguments are taken from a tool's text, and with them whatever that text imitates.
    params = fence(dumps(follow_up.params).decode())
    return (
        f"{ACTION_MARK}\n"
        f"Action: {follow_up.description}\n"
        f"Tool: {follow_up.tool_id}\n"
        f"Parameters: {params}\n"
        f"Use when: {follow_up.condition}"
    )


def _formed(own: Callable[[Any], str] | None, given: Any, usual: Callable[[Any], str]) -> str:
    if own is not None:
        try:
            return str(own(given))
        except Exception as error:
            _LOG.warning("a template raised %s: %s", type(error).__name__, error)
    return usual(given)
