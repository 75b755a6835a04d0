"""Promise: an agent changes the rules of a shared tool as it says, but none of safety unnoticed."""

from __future__ import annotations

from typing import Any

import pytest

from saywhy.agent.instructions.follow_up import quick_bind
from saywhy.agent.instructions.override import apply_instruction_overrides, check_overrides
from saywhy.agent.instructions.rule import InstructionOverride, LLMInstruction
from saywhy.errors import CallerError


def always(ctx: Any) -> bool:
    return True


LOW = LLMInstruction("low-stock", text="Few left.", when=always, priority=2)
PII = LLMInstruction(
    "pii",
    text="Hide it.",
    safety=True,
    follow_up=quick_bind("mask", "id"),
    decide=lambda decision, ctx: None,
)
RULES = [LOW, PII]


def told(override: InstructionOverride, **options: Any) -> list[tuple[str, str, str]]:
    found = check_overrides({"stock": RULES, "bare": None}, {"stock": override}, **options)
    return [(one.severity, one.message, one.hint) for one in found]


def test_leave_out_change_add() -> None:
    """The base list keeps its order; what is added comes last, untouched by what is left out."""
    added = LLMInstruction("pii", text="Added.")
    changes = InstructionOverride(
        suppress=["pii"],
        replace={"low-stock": {"text": "Going fast.", "priority": -1}, "pii": {"text": "never"}},
        add=[added],
    )
    low, last = apply_instruction_overrides(RULES, changes)
    assert (low.id, low.text, low.priority, low.when) == ("low-stock", "Going fast.", -1, always)
    assert last is added
    assert LOW.text == "Few left."


def test_an_id_stays() -> None:
    """A change cannot rename a rule."""
    override = InstructionOverride(replace={"low-stock": {"id": "other"}})
    assert [rule.id for rule in apply_instruction_overrides(RULES, override)] == [
        "low-stock",
        "pii",
    ]


def test_nothing_to_change() -> None:
    """Without a base list there is what was added; without changes the very same rules."""
    assert apply_instruction_overrides(None, InstructionOverride(add=[LOW])) == [LOW]
    same = apply_instruction_overrides(RULES, InstructionOverride())
    assert all(one is other for one, other in zip(same, RULES, strict=True))


def test_a_field_that_no_rule_has() -> None:
    """Applying refuses it with the nearest name, and so does the check."""
    override = InstructionOverride(replace={"low-stock": {"txt": "x"}})
    with pytest.raises(CallerError) as caught:
        apply_instruction_overrides(RULES, override)
    assert str(caught.value) == (
        'the override of instruction "low-stock" changes "txt", which an instruction does not have'
    )
    assert caught.value.hint == 'did you mean "text"?'
    assert told(override) == [
        (
            "error",
            'the override of instruction "low-stock" of tool "stock" changes "txt", '
            "which an instruction does not have",
            'did you mean "text"?',
        )
    ]


@pytest.mark.parametrize(
    ("override", "how"),
    [
        (InstructionOverride(suppress=["pii"]), "it takes it away"),
        (InstructionOverride(replace={"pii": {"safety": False}}), "it clears the flag `safety`"),
        (InstructionOverride(replace={"pii": {"safety": None}}), "it clears the flag `safety`"),
        (InstructionOverride(replace={"pii": {"when": always}}), "it changes when it fires"),
        (InstructionOverride(replace={"pii": {"text": ""}}), "it empties its text"),
        (InstructionOverride(replace={"pii": {"text": None}}), "it empties its text"),
        (InstructionOverride(replace={"pii": {"decide": None}}), "it takes its `decide` away"),
        (InstructionOverride(replace={"pii": {"follow_up": None}}), "it takes its follow-up away"),
    ],
)
def test_what_reaches_a_rule_of_safety(override: InstructionOverride, how: str) -> None:
    """Taking one away, or keeping it from its work, is an error unless it is allowed."""
    ((severity, message, hint),) = told(override)
    assert severity == "error"
    assert message == (f'the override of tool "stock" reaches the safety instruction "pii": {how}')
    assert hint == (
        "leave it as the tool's author wrote it, or add a stricter one; "
        "allow_unsafe=True permits this"
    )
    assert told(override, allow_unsafe=True) == []


def test_what_leaves_safety_alone() -> None:
    """Other words, another place among those of safety and no condition at all are fine."""
    fine = {"text": "Hide every one.", "priority": -3, "when": None, "description": "stricter"}
    override = InstructionOverride(
        suppress=["low-stock"], replace={"pii": fine}, add=[LLMInstruction("pii", text="more")]
    )
    assert told(override) == []


def test_names_that_nothing_has() -> None:
    """They change nothing, so the check warns, with the nearest name."""
    override = InstructionOverride(suppress=["low-stok"], replace={"gone": {"text": "x"}})
    assert told(override) == [
        (
            "warning",
            'the override of tool "stock" names the instruction "low-stok", '
            "which the tool does not have",
            'did you mean "low-stock"?',
        ),
        (
            "warning",
            'the override of tool "stock" names the instruction "gone", '
            "which the tool does not have",
            "",
        ),
    ]
    (problem,) = check_overrides({"stock": RULES}, {"stok": InstructionOverride()})
    assert (problem.severity, problem.message, problem.hint) == (
        "warning",
        'the override is for tool "stok", which the agent does not have',
        'did you mean "stock"?',
    )


def test_a_tool_without_rules_may_get_some() -> None:
    """There is nothing to be unsafe about."""
    assert not list(check_overrides({"bare": None}, {"bare": InstructionOverride(add=[LOW])}))
