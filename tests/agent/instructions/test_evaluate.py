"""Promise: which rules fire, in which order, and why each did or did not."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from saywhy.agent.instructions.context import InstructionContext
from saywhy.agent.instructions.evaluate import (
    InstructionOrder,
    evaluate_instructions,
    judge_instructions,
)
from saywhy.agent.instructions.follow_up import follow, quick_bind
from saywhy.agent.instructions.rule import LLMInstruction

DENIED = InstructionContext({"status": "denied", "trace": "tr_1"}, "loan", latency_ms=12)


def ids(rules: list[LLMInstruction], order: Any = InstructionOrder.THREE_GROUPS) -> list[str]:
    return [one.id for one in evaluate_instructions(rules, DENIED, order=order)]


def test_three_groups() -> None:
    """Bare actions, then texts, then safety; by priority and listing within each."""
    rules = [
        LLMInstruction("guard", text="Hide.", safety=True, priority=-9),
        LLMInstruction("late", text="late", priority=5),
        LLMInstruction("words", text="words", follow_up=quick_bind("x", "trace")),
        LLMInstruction("act", follow_up=quick_bind("x", "trace"), priority=9),
        LLMInstruction("empty", text="", follow_up=quick_bind("x", "trace"), priority=1),
    ]
    assert ids(rules) == ["empty", "act", "words", "late", "guard"]
    assert ids(rules, InstructionOrder.PRIORITY_ONLY) == ["words", "empty", "late", "act", "guard"]


def test_a_rule_is_bound_to_what_fired() -> None:
    """What fired knows its rule, so that two rules of one id stay two."""
    one, other = LLMInstruction("same", text="1"), LLMInstruction("same", text="2")
    fired = evaluate_instructions([one, other], DENIED)
    assert [entry.rule for entry in fired] == [one, other]
    assert fired[0].rule is one


def test_the_record_says_why() -> None:
    """Each rule has its line, with the values its condition read."""
    rules = [
        LLMInstruction("kind", when=lambda c: c.content["status"] == "denied", text="Be kind."),
        LLMInstruction("glad", when=lambda c: c.content.status == "ok", text="Be glad."),
        LLMInstruction("slow", when=lambda c: c.latency_ms > 5000, text="Sorry."),
        LLMInstruction("always", text="Hello."),
    ]
    log = [verdict.to_value() for verdict in judge_instructions(rules, DENIED).log]
    assert log == [
        {
            "id": "kind",
            "outcome": "fired",
            "fired": True,
            "read": [["content.status", "denied"]],
        },
        {"id": "glad", "outcome": "false", "fired": False, "read": [["content.status", "denied"]]},
        {"id": "slow", "outcome": "false", "fired": False, "read": [["latency_ms", 12]]},
        {"id": "always", "outcome": "fired", "fired": True},
    ]


def test_a_condition_that_raises(caplog: pytest.LogCaptureFixture) -> None:
    """A rule of behaviour is skipped, one of safety fires; both are warned of and recorded."""
    rules = [
        LLMInstruction("rude", when=lambda c: c.content.amount > 1, text="Be rude."),
        LLMInstruction("guard", when=lambda c: c.content["amount"] > 1, text="Hide.", safety=True),
    ]
    with caplog.at_level(logging.WARNING, "saywhy"):
        judged = judge_instructions(rules, DENIED)
    assert [one.id for one in judged.fired] == ["guard"]
    assert caplog.messages == [
        'the condition of instruction "rude" raised AttributeError: content has no "amount"; '
        "it is skipped",
        "the condition of instruction \"guard\" raised KeyError: 'amount'; "
        "it fires all the same, being a rule of safety",
    ]
    assert caplog.records[0].name == "saywhy"
    rude, guard = judged.log
    assert (rude.outcome, rude.fired, rude.error_name) == ("raised", False, "AttributeError")
    assert (guard.outcome, guard.fired, guard.error_name) == ("raised", True, "KeyError")
    assert guard.looks[0].value == "<absent>"


def test_arguments_that_raise(caplog: pytest.LogCaptureFixture) -> None:
    """The action is dropped and recorded, the rest of the rule fires."""
    rule = LLMInstruction(
        "why", text="Denied.", follow_up=follow("x", lambda c: {"id": c.content["gone"]}, "Do x")
    )
    with caplog.at_level(logging.WARNING, "saywhy"):
        judged = judge_instructions([rule], DENIED)
    assert [(one.text, one.resolved_follow_up) for one in judged.fired] == [("Denied.", None)]
    assert [(one.outcome, one.part, one.error_name) for one in judged.log] == [
        ("fired", "", ""),
        ("dropped", "follow_up", "KeyError"),
    ]
    assert caplog.messages == ["the follow_up of instruction \"why\" is dropped: KeyError: 'gone'"]


def test_an_async_condition_is_none(caplog: pytest.LogCaptureFixture) -> None:
    """Its promise would be true whatever it says; it counts as raised."""

    async def later(ctx: Any) -> bool:
        return True

    rule = LLMInstruction("later", when=later, text="x")  # type: ignore[arg-type]
    judged = judge_instructions([rule], DENIED)
    assert judged.fired == ()
    assert judged.log[0].error == "a condition is a plain function, not an async one"


def test_what_a_condition_gives_is_taken_for_true_or_false() -> None:
    """A text or a list counts as Python counts it."""
    yes = LLMInstruction("yes", when=lambda c: c.content.status, text="x")  # type: ignore[arg-type,return-value]
    no = LLMInstruction("no", when=lambda c: [], text="x")  # type: ignore[arg-type,return-value]
    assert ids([yes, no]) == ["yes"]


def test_no_exception_of_the_program_itself_is_swallowed() -> None:
    """Leaving the program goes through."""

    def leave(ctx: Any) -> bool:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        evaluate_instructions([LLMInstruction("x", when=leave, safety=True)], DENIED)


def test_nothing_to_evaluate() -> None:
    """No list is an empty one."""
    assert evaluate_instructions(None, DENIED) == []
    assert judge_instructions([], DENIED).log == ()
