"""Promise: what an agent is told besides depends on the decision, and on nothing else."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from saywhy.agent.instructions.agent_rule import (
    AgentInstruction,
    define_instruction,
    evaluate_agent_instructions,
)
from saywhy.agent.instructions.rule import LLMInstruction
from saywhy.agent.tools import AgentTool, define_tool
from saywhy.errors import CallerError
from saywhy.tools.function_tool import tool


def tool_of(id: str) -> AgentTool:
    return define_tool(id, f"The tool {id}.", {}, lambda arguments: "ok")


REFUND = tool_of("refund")


@tool
def get_trace(id: str) -> str:
    """Reads a trace."""
    return id


DENIED = define_instruction(
    "denied",
    active_when=lambda d: d.status == "denied",
    prompt="Show empathy.",
    tools=[REFUND, get_trace],
    on_tool_result=[LLMInstruction("soft", text="Be soft.")],
)


def test_three_places() -> None:
    """An active instruction brings a prompt, tools and rules; an inactive one nothing."""
    found = evaluate_agent_instructions([DENIED], {"status": "denied"})
    assert found.prompt_injections == ("Show empathy.",)
    assert found.tool_injections == (REFUND, get_trace)
    assert found.response_rules == DENIED.on_tool_result
    assert found.matched == (DENIED,)
    none = evaluate_agent_instructions([DENIED], {"status": "new"})
    assert (none.prompt_injections, none.tool_injections, none.response_rules) == ((), (), ())
    assert [one.to_value() for one in none.log] == [
        {"id": "denied", "outcome": "false", "fired": False, "read": [["status", "new"]]}
    ]


@pytest.mark.parametrize("decision", [None, {}])
def test_a_decision_that_says_nothing(decision: Any) -> None:
    """What looks at it is skipped, or fires for safety; what does not look is active."""
    rules = [
        define_instruction("quiet", active_when=lambda d: d["x"], prompt="a"),
        define_instruction("guard", active_when=lambda d: d["x"], prompt="b", safety=True),
        define_instruction("always", prompt="c"),
    ]
    assert evaluate_agent_instructions(rules, decision).matched_ids == ("always", "guard")


def test_a_safety_instruction_that_says_nothing(caplog: pytest.LogCaptureFixture) -> None:
    """It counts as active, and somebody is told."""
    with caplog.at_level(logging.WARNING, "saywhy"):
        found = evaluate_agent_instructions([define_instruction("mute", safety=True)], {})
    assert found.matched_ids == ("mute",)
    assert caplog.messages == ['the safety instruction "mute" is active but says nothing']


def test_a_condition_cannot_change_the_decision() -> None:
    """It only looks."""
    decision = {"seen": []}
    rule = define_instruction("x", active_when=lambda d: d["seen"].append(1), prompt="x")
    assert evaluate_agent_instructions([rule], decision).matched_ids == ()
    assert decision == {"seen": []}


def test_defining() -> None:
    """An id is all that is required."""
    with pytest.raises(CallerError, match="defineInstruction: id is required") as caught:
        define_instruction()
    assert caught.value.hint == 'define_instruction("refund")'
    made = define_instruction("x")
    assert isinstance(made, AgentInstruction)
    assert (made.tools, made.on_tool_result, made.priority, made.safety) == ((), (), 0, False)
    assert evaluate_agent_instructions(None, {}).matched == ()
