"""A loop of slots without a model: what the tests of their charts share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from saywhy.agent.slots.messages_slot import messages_slot
from saywhy.agent.slots.mounting import mount_slot
from saywhy.agent.slots.system_prompt import system_prompt_slot
from saywhy.agent.slots.tool_slot import tools_slot
from saywhy.chart.build import Builder
from saywhy.chart.built import Built, Result

Loop = Callable[..., Built]
Run = Callable[..., Any]


@pytest.fixture
def loop() -> Loop:
    """A chart that fills the slots, says something, and goes round so many times."""

    def make(
        rounds: int = 1,
        *,
        prompt: dict[str, Any] | None = None,
        messages: dict[str, Any] | None = None,
        tools: dict[str, Any] | None = None,
    ) -> Built:
        chart = Builder("loop")

        @chart.stage
        def seed(s: Any) -> None:
            s.messages = [{"role": "user", "content": "hi"}]
            s.loopCount = 0

        chart.stage(id="top")(lambda s: None)
        if prompt is not None:
            mount_slot(chart, system_prompt_slot(**prompt))
        if messages is not None:
            mount_slot(chart, messages_slot(**messages))
        if tools is not None:
            mount_slot(chart, tools_slot(**tools))

        @chart.stage
        def say(s: Any) -> None:
            s.messages.append({"role": "assistant", "content": f"answer {s.loopCount}"})
            s.loopCount += 1

        @chart.decider
        def route(s: Any) -> str:
            return "again" if s.loopCount < rounds else "done"

        route.branch("again", loop_to="top", max_iter=10_000)
        route.branch("done", lambda s: None)
        return chart.build()

    return make


@pytest.fixture
def run(loop: Loop) -> Run:
    """The result of such a chart, run once."""

    async def go(rounds: int = 1, *, state: Any = None, env: Any = None, **slots: Any) -> Result:
        return await loop(rounds, **slots).run(state=state, env=env or {})

    return go


@pytest.fixture
def texts() -> Callable[[Any], list[str]]:
    """The contents of messages."""
    return lambda messages: [one["content"] for one in messages]
