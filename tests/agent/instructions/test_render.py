"""Promise: what the model is told has one form, and each piece of it can be replaced."""

from __future__ import annotations

import logging

import pytest

from saywhy.agent.instructions.follow_up import ResolvedFollowUp
from saywhy.agent.instructions.render import InstructionTemplate, render_instructions
from saywhy.agent.instructions.rule import ResolvedInstruction
from saywhy.values import FrozenDict

OFFER = ResolvedFollowUp("open_case", FrozenDict({"id": "Ü-7"}), "Open it", "asked")
RULES = [ResolvedInstruction("a", "Stay calm.", OFFER), ResolvedInstruction("b", "Be brief.")]
ACTION = (
    '[AVAILABLE ACTION]\nAction: Open it\nTool: open_case\nParameters: {"id":"Ü-7"}\n'
    "Use when: asked"
)


def test_usual_form() -> None:
    """Actions before texts within a rule, a blank line between all parts."""
    assert render_instructions(RULES) == (
        f"{ACTION}\n\n[INSTRUCTION] Stay calm.\n\n[INSTRUCTION] Be brief."
    )


def test_nothing_to_show() -> None:
    """No rules and rules without words give nothing, not an empty text."""
    assert render_instructions([]) is None
    assert render_instructions([ResolvedInstruction("a", "")]) is None


@pytest.mark.parametrize(
    ("template", "text"),
    [
        (
            InstructionTemplate(format_text=lambda text: f"NB {text}"),
            f"{ACTION}\n\nNB Stay calm.\n\nNB Be brief.",
        ),
        (
            InstructionTemplate(format_follow_up=lambda offer: f"-> {offer.tool_id}"),
            "-> open_case\n\n[INSTRUCTION] Stay calm.\n\n[INSTRUCTION] Be brief.",
        ),
        (
            InstructionTemplate(format_block="; ".join),
            f"{ACTION}; [INSTRUCTION] Stay calm.; [INSTRUCTION] Be brief.",
        ),
    ],
)
def test_each_piece_alone(template: InstructionTemplate, text: str) -> None:
    """What a template does not say stays as usual."""
    assert render_instructions(RULES, template) == text


def test_a_template_that_raises(caplog: pytest.LogCaptureFixture) -> None:
    """The model is told all the same, in the usual form."""

    def broken(text: str) -> str:
        raise ValueError("no words")

    with caplog.at_level(logging.WARNING, "saywhy"):
        text = render_instructions(RULES[1:], InstructionTemplate(format_text=broken))
    assert text == "[INSTRUCTION] Be brief."
    assert caplog.messages == ["a template raised ValueError: no words"]
