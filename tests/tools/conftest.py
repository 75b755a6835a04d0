"""What the tests of tools share: definitions made short, and one way to call."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from saywhy.clock import Clock
from saywhy.testing.clock import FakeClock
from saywhy.tools.answer import ToolAnswer
from saywhy.tools.call import CallContext, call_tool
from saywhy.tools.limit import MemoryLimiter
from saywhy.tools.registry import Registry
from saywhy.tools.tool import Tool, tool_from_definition

Define = Callable[..., Tool]
Call = Callable[..., ToolAnswer]


@pytest.fixture
def define() -> Define:
    """A local tool called Work on the function `work`; further keys as given."""

    def make(parameters: Mapping[str, Any] | None = None, **keys: Any) -> Tool:
        implementation = {"type": "local", "function": "work"} | keys.pop("implementation", {})
        raw: dict[str, Any] = {"id": "Work", "name": "Work", "implementation": implementation}
        if parameters is not None:
            raw["parameters"] = parameters
        return tool_from_definition(raw | keys)

    return make


@pytest.fixture
def call(define: Define) -> Call:
    """Call the tool Work on a function, on a fresh event loop and a fake clock."""

    def run(
        function: Callable[..., Any] | None = None,
        args: Mapping[str, Any] | None = None,
        *,
        tool: Tool | None = None,
        clock: Clock | None = None,
        **options: Any,
    ) -> ToolAnswer:
        clock = clock or FakeClock()
        return asyncio.run(
            call_tool(
                Registry([tool or define()]),
                "Work",
                args or {},
                CallContext(session_id="s-1", user_id="u-1", transaction_id="t-1", key="s-1:4:2"),
                functions={} if function is None else {"work": function},
                limiter=MemoryLimiter(clock),
                clock=clock,
                **options,
            )
        )

    return run
