"""Promise: who takes over a conversation goes on with all of it, and stays the one who talks."""

from __future__ import annotations

from typing import Any

import pytest

from saywhy.agent.tools import ask_human, define_tool
from saywhy.errors import DefinitionError
from saywhy.models.chat import problems_of
from saywhy.runtime.agents.agent import Agent
from saywhy.runtime.agents.conditional import Conditional
from saywhy.runtime.agents.swarm import Specialist
from saywhy.runtime.agents.team import Team
from saywhy.runtime.agents.wrappers import with_retry
from saywhy.stores.chat_memory import LocalChatMemory
from tests.runtime.agents.models import Replies, call, calls


def team(triage: Replies, billing: Replies, **options: Any) -> Team:
    return Team(
        [
            Specialist("triage", Agent(triage, system="Sort."), "Sorts requests."),
            Specialist("billing", Agent(billing, system="Bill."), "Knows invoices."),
        ],
        **options,
    )


def over(to: str, id: str = "1") -> Any:
    return calls(call(f"transfer_to_{to}", id, reason="theirs"))


async def test_the_whole_conversation_is_handed_over() -> None:
    """With the prompt of whoever takes over, and none of the one before."""
    triage, billing = Replies(over("billing")), Replies("It is 5.", "Still 5.")
    runner = team(triage, billing)
    result = await runner.run("my bill?")
    assert (result.content, result.active) == ("It is 5.", "billing")
    assert result.hand_overs == ({"from": "triage", "to": "billing"},)
    assert billing.asked[0].system == "Bill."
    assert [one["role"] for one in billing.messages[0]] == ["user", "assistant", "tool"]
    assert billing.messages[0][-1]["content"] == "Handed over to billing."
    assert not problems_of(billing.messages[0])
    offered = [
        [tool["name"] for tool in ask.tools or ()] for ask in (triage.asked[0], billing.asked[0])
    ]
    assert offered == [["transfer_to_billing"], ["transfer_to_triage"]]
    assert (await runner.run("sure?")).content == "Still 5."
    assert [one["content"] for one in billing.messages[1]][-2:] == ["It is 5.", "sure?"]
    assert not any(one["role"] == "system" for one in billing.messages[1])


async def test_who_talks_survives_the_checkpoint() -> None:
    """In another process the same one goes on."""
    runner = team(Replies(over("billing")), Replies("It is 5."))
    await runner.run("my bill?")
    other, billing = Replies(), Replies("Still 5.")
    again = team(other, billing)
    again.restore(runner.checkpoint())
    result = await again.run("sure?")
    assert (result.content, result.active, other.asked) == ("Still 5.", "billing", [])


@pytest.mark.parametrize("around", ["retry", "condition"])
async def test_who_talks_survives_what_stands_around(around: str) -> None:
    """A team may be part of something else."""
    billing = Replies("It is 5.", "Still 5.")
    inner = team(Replies(over("billing")), billing)
    runner: Any = (
        with_retry(inner)
        if around == "retry"
        else Conditional([("team", lambda context: True, inner), ("rest", None, len)])
    )
    await runner.run("my bill?")
    assert (await runner.run("sure?")).content == "Still 5."
    assert len(billing.messages[1]) > len(billing.messages[0]) - 1


async def test_other_calls_of_the_reply_are_made() -> None:
    """Whoever takes over finds what they came to; a second hand-over is refused."""
    look = define_tool("look", "Looks.", {}, lambda arguments: "seen")
    wanted = calls(
        call("look", "1"), call("transfer_to_b", "2"), call("transfer_to_c", "3"), call("look", "4")
    )
    b = Replies("b here")
    runner = Team(
        [
            Specialist("a", Agent(Replies(wanted), tools=[look])),
            Specialist("b", Agent(b)),
            Specialist("c", Agent(Replies())),
        ]
    )
    assert (await runner.run("x")).content == "b here"
    told = [one["content"] for one in b.messages[0] if one["role"] == "tool"]
    assert told == [
        "seen",
        "Handed over to b.",
        '{"error":true,"message":"The conversation is being handed over to b already"}',
        "seen",
    ]


async def test_hand_overs_are_bounded() -> None:
    """Two that hand over to each other for ever come to an end, which is told."""
    runner = team(
        Replies(*[over("billing", f"t{n}") for n in range(9)]),
        Replies(*[over("triage", f"b{n}") for n in range(9)]),
        max_hand_overs=3,
    )
    result = await runner.run("x")
    assert result.stop_reason == "max_hand_overs"
    assert len(result.hand_overs) == 4
    assert not problems_of([one for one in result.messages if one["role"] != "system"])


async def test_a_question_of_the_one_who_took_over() -> None:
    """The run rests at it, and goes on in another process."""
    asks = calls(call("ask_human", "q", question="Which?"))
    members = [
        Specialist("triage", Agent(Replies(over("billing")))),
        Specialist("billing", Agent(Replies(asks), tools=[ask_human()])),
    ]
    runner = Team(members)
    result = await runner.run("my bill?")
    assert result.paused
    assert dict(result.pause_data or {}) == {"question": "Which?", "tool_call_id": "q"}
    again = Team(
        [
            Specialist("triage", Agent(Replies())),
            Specialist("billing", Agent(Replies("It is 5."), tools=[ask_human()])),
        ]
    )
    again.restore(runner.checkpoint())
    result = await again.resume("the second")
    assert (result.content, result.active) == ("It is 5.", "billing")


def test_routes_say_who_may_hand_over_to_whom() -> None:
    """Without any everybody may to everybody."""
    assert team(Replies(), Replies(), routes={"billing": []}).targets("billing") == []
    assert team(Replies(), Replies()).targets("billing") == ["triage"]


def test_what_is_wrong_is_told_at_once() -> None:
    """Who they are, where it begins, who hands over to whom."""
    kept = Agent.create(Replies(), "kept").memory(LocalChatMemory()).build()
    with pytest.raises(DefinitionError) as caught:
        Team(
            [Specialist("a", kept), Specialist("b", len)],
            start="c",
            routes={"a": ["a", "d"], "x": []},
            max_hand_overs=0,
        )
    assert [one.message for one in caught.value.problems] == [
        'start is "c", which is no agent of the team',
        '"a" cannot hand over to "a"',
        '"a" cannot hand over to "d"',
        'routes speaks of "x", which is no agent of the team',
        "max_hand_overs is 0",
        'agent "a" has a memory, but the team keeps the conversation',
        '"b" of the team is builtin_function_or_method, not an Agent',
    ]
    with pytest.raises(DefinitionError, match='no model can call a tool "transfer_to_é"'):
        Team([Specialist("a", Agent(Replies())), Specialist("é", Agent(Replies()))])
    with pytest.raises(DefinitionError, match="at least two agents"):
        Team([Agent(Replies())])
