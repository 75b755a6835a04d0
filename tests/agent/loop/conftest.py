"""What the tests of the loop share: a model that follows a script, tools, and both forms."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from saywhy.agent.loop.build import build_agent_loop
from saywhy.agent.loop.config import AgentLoopConfig, AgentLoopSeedOptions
from saywhy.agent.loop.history import conversation_of
from saywhy.agent.loop.message_api import build_message_api_chart
from saywhy.agent.tools import AgentTool, define_tool
from saywhy.chart.built import Built, Result
from saywhy.models.provider import Ask, ModelReply, ToolCallPiece
from saywhy.values import thaw

Entry = str | Exception | ModelReply | list[tuple[str, str, Any]]


class Model:
    """Answers with a text, with calls `(id, name, arguments)`, or by raising; keeps the asks."""

    def __init__(self, *script: Entry) -> None:
        self.script = list(script)
        self.asked: list[Ask] = []

    async def ask(self, ask: Ask) -> ModelReply:
        self.asked.append(ask)
        entry = self.script.pop(0)
        if isinstance(entry, Exception):
            raise entry
        if isinstance(entry, ModelReply):
            return entry
        if isinstance(entry, str):
            return ModelReply(entry, "mock", 10, 20, stop="stop")
        pieces = tuple(ToolCallPiece(*one) for one in entry)
        return ModelReply("", "mock", 10, 20, pieces, "tool_calls")

    def handed(self, number: int = -1) -> list[Any]:
        """The messages of a call, the system prompt first."""
        ask = self.asked[number]
        system = [] if ask.system is None else [{"role": "system", "content": ask.system}]
        return [*system, *thaw(list(ask.messages))]


def tool(name: str, function: Callable[..., Any] | None = None, **more: Any) -> AgentTool:
    """A tool that gives its arguments back unless told."""
    schema = more.pop("schema", None)
    more.setdefault("effect", "reads")
    return define_tool(name, name.title(), schema, function or (lambda args: args), **more)


def config(model: Any, *tools: AgentTool, **fields: Any) -> AgentLoopConfig:
    return AgentLoopConfig(provider=model, tools=tools, **fields)


class Form:
    """One of the two forms of the loop."""

    def __init__(self, name: str) -> None:
        self.name = name

    def build(self, config: AgentLoopConfig, seed: AgentLoopSeedOptions | None = None) -> Built:
        if self.name == "loop":
            return build_agent_loop(config, seed).chart
        return build_message_api_chart(config, seed=seed, agent=True)

    async def run(
        self, config: AgentLoopConfig, message: Any = "go", args: Any = None, **options: Any
    ) -> Result:
        """Run the loop once."""
        given = {"message": message, **(args or {})}
        return await self.build(config).run(given, **options)


@pytest.fixture(params=["loop", "message-api"])
def form(request: pytest.FixtureRequest) -> Form:
    """Both forms: what a test promises holds for either."""
    return Form(request.param)


def talk(result: Result) -> list[Any]:
    """The conversation after a run."""
    return thaw(conversation_of(result.state))


def answers(messages: list[Any]) -> dict[str, str]:
    """What stands for each call, by its id."""
    return {one["tool_call_id"]: one["content"] for one in messages if one["role"] == "tool"}


def facts_of(result: Result, name: str) -> list[Mapping[str, Any]]:
    """Everything told under `name` in the facts of all steps."""
    return [one for commit in result.commits for one in commit.facts.get(name, [])]
