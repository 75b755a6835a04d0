"""Promise: every name of the instructions is public, and loaded only when it is used."""

from __future__ import annotations

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


def test_there_are_34() -> None:
    """The list is complete and names nothing twice."""
    assert len(set(NAMES)) == len(NAMES) == 34


@pytest.mark.parametrize("name", NAMES)
def test_is_public(name: str) -> None:
    """Each can be imported from `saywhy`, and stands in its list of names."""
    assert name in saywhy.__all__
    assert callable(getattr(saywhy, name))


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
