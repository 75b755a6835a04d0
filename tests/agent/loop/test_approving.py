"""Calls that a person has to approve: the run rests, the word counts once, for what was shown."""

from __future__ import annotations

from typing import Any

import pytest

from saywhy import Agent, ScriptedModel, tool
from saywhy.testing.clock import FakeClock

DAY_MS = 86_400_000


def wants(call: str, amount: float = 5) -> dict[str, Any]:
    """A reply that wants to pay."""
    made = {"id": call, "name": "pay", "arguments": {"amount": amount}}
    return {"for": "chat", "reply": "", "tool_calls": [made]}


def bank(paid: list[float], *replies: dict[str, Any], **options: Any) -> Agent:
    """An agent that may pay when somebody says so."""

    @tool(approval={"by": "the boss"}, effect="once")
    def pay(amount: float) -> dict[str, bool]:
        """Pay."""
        paid.append(amount)
        return {"ok": True}

    script = [*replies, {"for": "chat", "reply": "Done."}]
    return Agent(ScriptedModel(script), name="bank", tools=[pay], **options)


async def test_the_run_rests_and_says_what_is_to_be_approved() -> None:
    """Nothing was called; tool, arguments and whom to ask are in the data of the pause."""
    paid: list[float] = []
    result = await bank(paid, wants("1")).run("pay 5")
    assert result.paused
    assert result.pause_data == {
        "question": 'May pay be called with {"amount":5}?',
        "tool_call_id": "1",
        "approval": {"tool": "pay", "arguments": {"amount": 5}, "by": "the boss"},
    }
    assert paid == []


@pytest.mark.parametrize("word", [True, {"approved": True}])
async def test_a_yes_lets_the_call_be_made_in_another_process_too(word: Any) -> None:
    """The checkpoint holds what was shown."""
    paid: list[float] = []
    agent = bank(paid, wants("1"))
    await agent.run("pay 5")
    other = bank(paid)
    other.restore(agent.checkpoint())
    assert (await other.resume(word)).content == "Done."
    assert paid == [5]


@pytest.mark.parametrize(
    ("word", "told"),
    [
        (False, "not approved"),
        ("yes", "not approved: yes"),
        (1, "not approved"),
        ({"approved": False, "note": "too much"}, "not approved: too much"),
        ({"approved": False, "reason": "too much"}, "not approved: too much"),
        ({"approved": "true"}, "not approved"),
    ],
)
async def test_all_but_a_plain_yes_is_a_no(word: Any, told: str) -> None:
    """The model reads that nobody approved, and why."""
    paid: list[float] = []
    agent = bank(paid, wants("1"))
    await agent.run("pay 5")
    result = await agent.resume(word)
    answers = [one["content"] for one in result.messages if one["role"] == "tool"]
    assert answers == [f'{{"error":true,"message":"{told}"}}']
    assert paid == []


async def test_a_word_counts_for_one_call() -> None:
    """The same call again needs another one."""
    paid: list[float] = []
    agent = bank(paid, wants("1"), wants("2"))
    await agent.run("pay 5")
    again = await agent.resume(True)
    assert again.paused
    assert again.pause_data is not None
    assert again.pause_data["tool_call_id"] == "2"
    await agent.resume(False)
    assert paid == [5]


async def test_a_word_that_comes_too_late_is_none() -> None:
    """An approval holds for a day unless its tool says otherwise."""
    paid: list[float] = []
    clock = FakeClock()
    agent = bank(paid, wants("1"), clock=clock)
    await agent.run("pay 5")
    clock.advance(DAY_MS / 1000)
    result = await agent.resume(True)
    answers = [one["content"] for one in result.messages if one["role"] == "tool"]
    assert answers == ['{"error":true,"message":"not approved in time"}']
    assert paid == []


async def test_calls_side_by_side_wait_for_their_turn() -> None:
    """Where calls run at the same time, one to be approved is still asked about."""
    paid: list[float] = []
    calls = [*wants("1")["tool_calls"], *wants("2", 7)["tool_calls"]]
    both = {"for": "chat", "reply": "", "tool_calls": calls}
    agent = bank(paid, both, tool_concurrency=4)
    assert (await agent.run("pay")).paused
    assert (await agent.resume(True)).paused
    assert (await agent.resume(True)).content == "Done."
    assert paid == [5, 7]
