"""A runner as a tool of an agent: its chart carries out the calls, in the same run.

So there is one record, its receipts are among those of the run, and where it asks a person the
whole run rests at the question.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from saywhy.agent.runners.part import MESSAGE, Part
from saywhy.agent.tool_reply import ToolReply, content_of
from saywhy.agent.tools import AgentTool, ChartRun, define_tool
from saywhy.values import FrozenDict

ALONE_MS: Final = 3_600_000
"""So long a run of its own may take, where the chart could not come along."""

MOST_CHARS: Final = 100_000
"""So much of a message is handed on."""

_TASK: Final = {"type": "string", "description": "The task or question to delegate."}

MESSAGE_SCHEMA: Final = FrozenDict(
    {"type": "object", "properties": {MESSAGE: _TASK}, "required": [MESSAGE]}
)
"""What a model hands to a runner; pinned by the case `swarm-default-prompt`."""


def failure_reply(text: str) -> ToolReply:
    """What the model reads of a runner that failed."""
    return ToolReply(f"Agent error: {text}", {"message": text})


def runner_tool(
    part: Part, alone: Callable[..., Any], *, instructions: Iterable[Any] = ()
) -> AgentTool:
    """The tool whose calls `part` carries out; `alone` does where its chart is not at hand."""
    made = define_tool(
        part.id,
        part.description,
        MESSAGE_SCHEMA,
        alone,
        instructions=instructions,
        timeout_ms=ALONE_MS,
    )
    run = ChartRun(part.id, _reply, _given, part.build, failure=failure_reply, inner=part.runner)
    return AgentTool(made.tool, made.instructions, made.input_schema, runs=run)


def _given(arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    return {MESSAGE: str(arguments.get(MESSAGE, ""))[:MOST_CHARS]}


def _reply(value: Any) -> ToolReply:
    return ToolReply(content_of(value))
