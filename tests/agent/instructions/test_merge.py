"""Promise: what a handler says comes after the rules for behaviour and before those of safety."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from saywhy.agent.instructions.follow_up import RuntimeFollowUp
from saywhy.agent.instructions.merge import merge_runtime_instructions, merge_with_log
from saywhy.agent.instructions.rule import ResolvedInstruction
from saywhy.tools.tool_result import ToolResult

BUILT = [
    ResolvedInstruction("note", "note", priority=50),
    ResolvedInstruction("guard", "guard", safety=True),
]


def result(**given: Any) -> ToolResult:
    return ToolResult("", **given)


def test_order() -> None:
    """Actions, then texts, unsorted between the groups."""
    said = result(
        instructions=("rain", "taxi"),
        follow_ups=(RuntimeFollowUp("call", {"n": 1}, "Call", "late"),),
    )
    merged = merge_runtime_instructions(BUILT, said)
    assert [one.id for one in merged] == [
        "note",
        "runtime-followup-call",
        "runtime-text-0",
        "runtime-text-1",
        "guard",
    ]


def test_strict_counts() -> None:
    """A handler's follow-up may be strict like any other."""
    said = result(follow_ups=({"tool_id": "x", "params": {}, "strict": True},))
    offer = merge_runtime_instructions([], said)[0].resolved_follow_up
    assert offer is not None
    assert offer.strict


def test_what_is_dropped_is_told(caplog: pytest.LogCaptureFixture) -> None:
    """Rubbish from a handler neither raises nor vanishes without a trace."""
    said = result(instructions=("fine", 7), follow_ups=({"tool_id": "x"}, 5))
    with caplog.at_level(logging.WARNING, "saywhy"):
        merged, log = merge_with_log([], said)
    assert [one.id for one in merged] == ["runtime-text-0"]
    assert [(one.id, one.outcome, one.error) for one in log] == [
        ("runtime-followup-#0", "dropped", "a follow-up to x without params"),
        ("runtime-followup-#1", "dropped", "a follow-up is a mapping, not int"),
        ("runtime-text-0", "fired", ""),
        ("runtime-text-1", "dropped", "a handler's instruction is text, not int"),
    ]
    assert len(caplog.messages) == 3


def test_nothing_said() -> None:
    """Without a handler's words the rules stay as they are."""
    assert merge_runtime_instructions(BUILT) == BUILT
    assert merge_runtime_instructions(BUILT, result()) == BUILT
