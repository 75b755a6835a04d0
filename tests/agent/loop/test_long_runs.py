"""Promise: a long run keeps its whole record, in a fraction of the memory."""

from __future__ import annotations

import asyncio
from typing import Any

from saywhy.agent.loop.history import conversation_of
from saywhy.agent.receipts.served import receipts_of, served_all
from saywhy.chart.commit import Commit
from saywhy.chart.commits import CommitLog, Commits
from saywhy.models.provider import Ask, ModelReply, ToolCallPiece
from saywhy.runtime.agents.agent import Agent
from tests.agent.loop.conftest import Form, config, tool

ROUNDS = 40
TEXT = "what the model thinks about its next step; " * 50


class Waiting:
    """A model that takes its time, says much and calls a tool so many times."""

    def __init__(self, rounds: int = ROUNDS) -> None:
        self.left = rounds

    async def ask(self, ask: Ask) -> ModelReply:
        await asyncio.sleep(0)
        self.left -= 1
        if self.left < 0:
            return ModelReply("done")
        piece = ToolCallPiece(f"c{self.left}", "work", {"n": self.left})
        return ModelReply(f"{self.left} {TEXT}", "mock", 10, 20, (piece,))


def packed(log: CommitLog) -> int:
    return len(log._kept[0])  # pyright: ignore[reportPrivateUsage]


async def test_the_record_is_what_was_reported(form: Form) -> None:
    """Unpacked, each commit equals the one that was reported when it happened."""
    reported: list[Commit] = []
    given: Any = {"runId": "r1"}
    result = await form.run(
        config(Waiting(), tool("work"), max_iterations=100), args=given, record=reported.append
    )
    await asyncio.sleep(0)
    assert isinstance(result.commits, Commits)
    assert packed(result.commits._log) > 3  # pyright: ignore[reportPrivateUsage]
    assert result.commits == tuple(reported)
    assert [one.seq for one in reversed(result.commits)][::-1] == [one.seq for one in reported]


async def test_receipts_of_a_long_run_can_be_checked(form: Form) -> None:
    """Each request is rebuilt from the packed record, and its receipt verified."""
    setting = config(Waiting(), tool("work"), max_iterations=100, get_run_id=lambda: "r1")
    result = await form.run(setting)
    await asyncio.sleep(0)
    assert len(receipts_of(result)) == ROUNDS + 1
    assert {one.verdict for one in served_all(result)} == {"verified"}


async def test_texts_are_not_held_twice(form: Form) -> None:
    """What a packed record holds of a long text is the text of the conversation."""
    result = await form.run(config(Waiting(), tool("work"), max_iterations=100))
    await asyncio.sleep(0)
    said = {id(one["content"]) for one in conversation_of(result.state)}
    assert isinstance(result.commits, Commits)
    chunks = result.commits._log._kept[0]  # pyright: ignore[reportPrivateUsage]
    texts = [text for chunk in chunks for text in getattr(chunk, "texts", ())]
    assert len(texts) > ROUNDS // 2
    assert {id(text) for text in texts} <= said


async def test_an_agent_after_a_long_run() -> None:
    """Its trace, its receipts and its replay are those of a short one."""
    agent = Agent(Waiting(), tools=[tool("work")], new_id=lambda: "r1", max_iterations=100)
    result = await agent.run("go")
    await asyncio.sleep(0)
    assert result.content == "done"
    snapshot = agent.get_snapshot()
    numbers = [one.seq for one in snapshot.commits]
    assert numbers == list(range(1, len(numbers) + 1))
    assert {one.verdict for one in served_all(agent.trace)} == {"verified"}
    assert (await agent.replay()).same
