"""Promise: every name that the source documents of agents list is public, and loaded when used."""

from __future__ import annotations

import dataclasses
import subprocess
import sys

import pytest

import saywhy

NAMES = (
    "AgentInstruction",
    "FollowUpBinding",
    "FollowUpOffering",
    "InstructedToolDefinition",
    "InstructedToolResult",
    "InstructionContext",
    "InstructionEvaluationResult",
    "InstructionFiring",
    "InstructionInjectionResult",
    "InstructionOverride",
    "InstructionPreview",
    "InstructionRecorder",
    "InstructionSummary",
    "InstructionTemplate",
    "LLMInstruction",
    "PendingFollowUpManager",
    "PendingStrictFollowUp",
    "PreviewContext",
    "ResolvedFollowUp",
    "ResolvedInstruction",
    "RuntimeFollowUp",
    "ToolInstructionStats",
    "apply_instruction_overrides",
    "build_instructions_to_llm_subflow",
    "default_condition_matcher",
    "define_instruction",
    "evaluate_agent_instructions",
    "evaluate_instructions",
    "follow",
    "merge_runtime_instructions",
    "preview_instructions",
    "process_instructions",
    "quick_bind",
    "render_instructions",
)
"""What the source document lists, in the spelling of Python."""

LOOPS = (
    "AgentLoopBuild",
    "AgentLoopConfig",
    "AgentLoopResult",
    "AgentLoopSeedOptions",
    "AgentPattern",
    "RoutingBranch",
    "RoutingConfig",
    "SUBFLOW_MESSAGE_KEY",
    "StrictFollowUpResult",
    "build_agent_loop",
    "build_instructions_to_llm_subflow",
    "build_message_api_chart",
    "generate_tool_guide",
    "receipt_at",
    "receipts_of",
    "served_at",
)
"""What they name of loops and receipts."""


def test_there_are_34() -> None:
    """The list is complete and names nothing twice."""
    assert len(set(NAMES)) == len(NAMES) == 34


@pytest.mark.parametrize("name", dict.fromkeys((*NAMES, *LOOPS)))
def test_is_public(name: str) -> None:
    """Each can be imported from `saywhy`, and stands in its list of names."""
    assert name in saywhy.__all__
    assert callable(getattr(saywhy, name)) or name == "SUBFLOW_MESSAGE_KEY"


def test_the_key_of_the_message() -> None:
    """A chart around a loop hands the user's words over under this name."""
    assert saywhy.SUBFLOW_MESSAGE_KEY == "message"


def test_the_parts_of_a_loop() -> None:
    """What the documents name of the builds, the configuration and the patterns is there."""
    loop = saywhy.build_agent_loop(saywhy.AgentLoopConfig(), capture_spec=True)
    assert isinstance(loop, saywhy.AgentLoopBuild) and isinstance(loop, saywhy.AgentLoopResult)
    assert not isinstance(saywhy.build_agent_loop(saywhy.AgentLoopConfig()), saywhy.AgentLoopResult)
    assert {pattern.name for pattern in saywhy.AgentPattern} == {"REGULAR", "DYNAMIC"}
    fields = {field.name for field in dataclasses.fields(saywhy.RoutingConfig)}
    assert fields >= {"decider_name", "decider_id", "decider", "branches", "default_branch"}
    assert saywhy.StrictFollowUpResult.__match_args__ == ("follow_up", "source_tool_id")
    assert {field.name for field in dataclasses.fields(saywhy.AgentLoopSeedOptions)} == {
        "messages",
        "subflow",
    }


def test_the_ones_of_a_tool_are_the_ordinary_ones() -> None:
    """A tool with instructions and a result with instructions are no kinds of their own."""
    from saywhy.agent.tools import AgentTool
    from saywhy.tools.tool_result import ToolResult

    assert saywhy.InstructedToolDefinition is AgentTool
    assert saywhy.InstructedToolResult is ToolResult
    assert saywhy.PreviewContext is saywhy.InstructionContext


def test_are_loaded_late() -> None:
    """`import saywhy` loads none of them."""
    code = "import saywhy, sys; print([n for n in sys.modules if n.startswith('saywhy.agent')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
