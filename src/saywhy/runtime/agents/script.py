"""Agents in scripts that know nothing of asyncio."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from saywhy.errors import CallerError
from saywhy.runtime.agents.result import AgentResult

if TYPE_CHECKING:
    from saywhy.runtime.agents.runner import Runner


def run_to_end(agent: Runner[Any], begin: Callable[[], Awaitable[AgentResult]]) -> AgentResult:
    """What a run comes to, on a loop of its own. Raises `CallerError` where one runs already."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(_whole(agent, begin))
    raise CallerError(
        "run_sync cannot wait where an event loop runs: it would stop that loop",
        hint="write: await agent.run(…)",
    )


async def _whole(agent: Runner[Any], begin: Callable[[], Awaitable[AgentResult]]) -> AgentResult:
    try:
        return await begin()
    finally:
        await agent.settled()  # the loop ends here, and what recorders still do would end with it
