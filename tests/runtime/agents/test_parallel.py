"""Promise: branches run side by side, and their answers stand in the order they were written in."""

from __future__ import annotations

import asyncio
from itertools import permutations
from typing import Any

import pytest

from saywhy.agent.runners.parallel import BranchResult
from saywhy.cancel import CancelToken
from saywhy.chart.built import RunCancelled
from saywhy.errors import DefinitionError, ModelError
from saywhy.models.provider import Ask, ModelReply
from saywhy.runtime.agents.agent import Agent
from saywhy.runtime.agents.llm_call import LLMCall
from saywhy.runtime.agents.parallel import Parallel
from tests.runtime.agents.models import Replies, says


class Turns:
    """Lets whoever waits go on, in a given order."""

    def __init__(self, order: tuple[str, ...]) -> None:
        self.order = list(order)
        self.here: set[str] = set()
        self.changed = asyncio.Condition()

    async def wait(self, name: str) -> None:
        async with self.changed:
            self.here.add(name)
            await self.changed.wait_for(lambda: self.order[0] == name)
            self.order.pop(0)
            self.changed.notify_all()


class InTurn:
    """A model that answers when it is its turn."""

    def __init__(self, name: str, turns: Turns, *, fails: bool = False) -> None:
        self.name, self.turns, self.fails = name, turns, fails

    async def ask(self, ask: Ask) -> ModelReply:
        await self.turns.wait(self.name)
        if self.fails:
            raise RuntimeError(f"{self.name} is down")
        return says(f"{self.name} says {ask.user}")


def joined(branches: tuple[BranchResult, ...]) -> str:
    return ";".join(f"{one.id}={one.content}" for one in branches)


async def test_the_order_of_finishing_changes_nothing() -> None:
    """Result and record are the same whoever comes first, a failing one included."""
    records: list[list[tuple[str, ...]]] = []
    for order in permutations("abc"):
        turns = Turns(order)
        models = {one: InTurn(one, turns, fails=one == "b") for one in "abc"}
        runner = Parallel({one: Agent(model) for one, model in models.items()}, merge=joined)
        result = await runner.run("go")
        assert result.content == "a=a says go;b=[Error: b is down];c=c says go"
        assert [(one.id, one.status, one.error) for one in result.branches] == [
            ("a", "fulfilled", None),
            ("b", "rejected", "b is down"),
            ("c", "fulfilled", None),
        ]
        records.append([(one.flow, one.node, one.phase) for one in runner.trace])
    assert records.count(records[0]) == 6
    assert ("parallel/branches/b", "b", "answered") in records[0]


async def test_a_model_merges() -> None:
    """It is told how, and reads the answers in sections."""
    model = Replies("merged")
    runner = Parallel(
        {"p": lambda message: "x < y", "q": LLMCall(Replies("ok"))},
        merge_model=model,
        merge_prompt="Combine.",
    )
    result = await runner.run("go")
    assert result.content == "merged"
    assert str(model.asked[0].system).startswith("Combine.\n\nMerge")
    assert model.asked[0].user == (
        '<branch id="p">\nx &lt; y\n</branch>\n\n<branch id="q">\nok\n</branch>'
    )


async def test_a_function_that_merges_may_be_async() -> None:
    """And what it gives may be any value."""

    async def merge(branches: Any) -> dict[str, int]:
        await asyncio.sleep(0)
        return {"branches": len(branches)}

    runner = Parallel([lambda message: "1", lambda message: "2"], merge=merge)
    assert (await runner.run("go")).content == '{"branches":2}'


async def test_all_are_cancelled() -> None:
    """No model is asked any longer, and no task is left."""
    turns = Turns(("nobody",))
    signal = CancelToken()
    runner = Parallel({one: Agent(InTurn(one, turns)) for one in "ab"}, merge=joined)
    before = asyncio.all_tasks()
    running = asyncio.ensure_future(runner.run("go", signal=signal))
    while turns.here != {"a", "b"}:
        await asyncio.sleep(0)
    signal.cancel("enough")
    with pytest.raises(RunCancelled, match="enough"):
        await running
    assert asyncio.all_tasks() - before == set()
    assert list(runner.trace)[-1].phase == "closed"


async def test_all_may_fail() -> None:
    """Then all are rejected, and the merging function sees that."""
    runner = Parallel(
        {one: Agent(Replies(ModelError("down"))) for one in "ab"},
        merge=lambda found: ", ".join(one.status for one in found),
    )
    assert (await runner.run("go")).content == "rejected, rejected"


@pytest.mark.parametrize(
    "options", [{}, {"merge": joined, "merge_model": Replies()}, {"merge": "x"}]
)
def test_one_way_to_merge(options: dict[str, Any]) -> None:
    """By a function or by a model, and never by both."""
    with pytest.raises(DefinitionError, match="either by a function or by a model"):
        Parallel({"a": Agent(Replies()), "b": Agent(Replies())}, **options)


def test_what_is_wrong_is_told_at_once() -> None:
    """Too few, and no way to merge."""
    with pytest.raises(DefinitionError) as caught:
        Parallel([("a", 1)])
    assert [one.message for one in caught.value.problems] == [
        "Parallel requires at least 2 branches.",
        "branches are merged either by a function or by a model",
        'the branch "a" is int, which cannot be run',
    ]
