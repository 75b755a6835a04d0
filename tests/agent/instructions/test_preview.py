"""Promise: what a model would be told can be looked at without running anything."""

from __future__ import annotations

from saywhy.agent.instructions.context import PreviewContext
from saywhy.agent.instructions.follow_up import quick_bind
from saywhy.agent.instructions.preview import preview_instructions
from saywhy.agent.instructions.rule import InstructionOverride, LLMInstruction

RULES = [
    LLMInstruction("track", follow_up=quick_bind("track", "id")),
    LLMInstruction("late", when=lambda c: c.content.days > 3, text="Apologise."),
    LLMInstruction("odd", when=lambda c: c.content.missing, text="Never."),
]


def test_everything_about_it() -> None:
    """What fired and what did not, the text, its size, the actions, and the reasons."""
    seen = preview_instructions(RULES, PreviewContext({"id": "P1", "days": 5}, "parcel"))
    assert seen.fired_ids == ("track", "late")
    assert seen.skipped_ids == ("odd",)
    assert seen.injected_text is not None
    assert seen.injected_text.endswith("[INSTRUCTION] Apologise.")
    assert seen.estimated_tokens == -(-len(seen.injected_text) // 4)
    assert [dict(offer.params) for offer in seen.follow_ups] == [{"id": "P1"}]
    assert [(one.id, one.outcome) for one in seen.log] == [
        ("track", "fired"),
        ("late", "fired"),
        ("odd", "raised"),
    ]


def test_with_the_changes_of_an_agent() -> None:
    """What an override leaves out is in neither list; what it adds is judged."""
    override = InstructionOverride(suppress=["track"], add=[LLMInstruction("new", text="New.")])
    seen = preview_instructions(RULES, PreviewContext({"days": 1}, "parcel"), overrides=override)
    assert (seen.fired_ids, seen.skipped_ids) == (("new",), ("late", "odd"))
    none = preview_instructions(None, PreviewContext({}, "parcel"))
    assert (none.injected_text, none.estimated_tokens) == (None, 0)
