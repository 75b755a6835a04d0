"""Promise: a loop runs until its answer is good, and never more often than it may."""

from __future__ import annotations

from typing import Any

import pytest

from saywhy.errors import DefinitionError
from saywhy.runtime.agents.agent import Agent
from saywhy.runtime.agents.llm_call import LLMCall
from saywhy.runtime.agents.repeat import Loop
from tests.runtime.agents.models import Replies


async def test_until_it_is_good() -> None:
    """Each round is given the answer of the one before."""
    model = Replies("a", "b", "good", "never")
    runner = Loop(LLMCall(model), until=lambda one: one.content == "good")
    result = await runner.run("start")
    assert (result.content, result.rounds, result.stop_reason) == ("good", 3, "final")
    assert [ask.user for ask in model.asked] == ["start", "a", "b"]


async def test_what_follows_may_be_made() -> None:
    """Of the answer, its number and what the loop was given."""
    model = Replies("a", "b")
    runner = Loop(
        LLMCall(model),
        following=lambda one: f"{one.number}/{one.message}/{one.content}",
        max_rounds=2,
    )
    assert (await runner.run("start")).stop_reason == "final"
    assert [ask.user for ask in model.asked] == ["start", "1/start/a"]


async def test_it_is_bounded() -> None:
    """A condition that never holds ends it all the same, and the result says so."""
    runner = Loop(Agent(Replies(*"abc")), until=lambda one: False, max_rounds=3)
    result = await runner.run("x")
    assert (result.content, result.rounds, result.stop_reason) == ("c", 3, "max_rounds")


async def test_a_condition_that_raises_ends_the_run() -> None:
    """It is a mistake, and not a no."""
    with pytest.raises(ZeroDivisionError):
        await Loop(LLMCall(Replies("a")), until=lambda one: 1 / 0).run("x")


@pytest.mark.parametrize("rounds", [0, -1, True, 1001, "3"])
def test_a_bound_is_a_number(rounds: Any) -> None:
    """From 1 to 1000."""
    with pytest.raises(DefinitionError) as caught:
        Loop(Agent(Replies()), until="x", max_rounds=rounds)  # type: ignore[arg-type]
    assert [one.message for one in caught.value.problems] == [
        f"max_rounds is {rounds!r}",
        "until is no plain function",
    ]
