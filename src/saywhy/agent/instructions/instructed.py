"""Tools and results that speak to the model. They are the ordinary ones, under these names too."""

from __future__ import annotations

from saywhy.agent.tools import AgentTool as InstructedToolDefinition
from saywhy.tools.tool_result import ToolResult as InstructedToolResult

__all__ = ["InstructedToolDefinition", "InstructedToolResult"]
