"""A runner as a tool of an agent."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import partial
from inspect import isawaitable
from typing import Any, Final

from saywhy.agent.runners.as_tool import failure_reply, runner_tool
from saywhy.agent.runners.outside import can_run
from saywhy.agent.runners.part import MESSAGE
from saywhy.agent.tool_reply import content_of
from saywhy.agent.tools import AgentTool
from saywhy.chart.failure import failure_text
from saywhy.errors import CallerError
from saywhy.runtime.agents.parts import part_of
from saywhy.tools.tool_result import ToolResult

_UNFIT: Final = re.compile(r"[^A-Za-z0-9_-]+")


def agent_as_tool(
    runner: Any, *, description: str, name: str = "", instructions: Iterable[Any] = ()
) -> AgentTool:
    """A tool that hands its `message` to another runner and gives back what that answers.

    The other runner runs as a part of the same run: one record, its receipts among those of the
    run, and where it asks a person the whole run rests at the question. Where it fails the model
    reads `Agent error: …`. `name` is the runner's own unless given; `instructions` speak about what
    it gives. Raises `CallerError` for what cannot be run.
    """
    if not can_run(runner):
        hint = "call build() first" if hasattr(runner, "build") else "an Agent, or anything like it"
        raise CallerError(f"{type(runner).__name__} cannot be run", hint=hint)
    own = _UNFIT.sub("_", name or str(getattr(runner, "name", "") or "agent"))
    part = part_of(runner, own, description)
    return runner_tool(part, partial(run_alone, runner), instructions=instructions)


async def run_alone(runner: Any, arguments: Mapping[str, Any]) -> ToolResult:
    """What the runner answers in a run of its own: where its chart could not come along."""
    run = getattr(runner, "run", None) or runner
    try:
        made = run(arguments.get(MESSAGE, ""))
        if isawaitable(made):
            made = await made
    except Exception as error:
        return ToolResult(failure_reply(failure_text(error)).content, error=True)
    return ToolResult(content_of(getattr(made, "content", made)))
