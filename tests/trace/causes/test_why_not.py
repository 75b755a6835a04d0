"""Why something did not happen: what was considered, and what failed with which values."""

from __future__ import annotations

import json
from typing import Any

import pytest

from saywhy import Agent, define_tool, fact, memory
from saywhy.agent.instructions.agent_rule import AgentInstruction
from saywhy.agent.instructions.rule import LLMInstruction
from saywhy.errors import CallerError
from saywhy.models.provider import ModelReply, ToolCallPiece


class Scripted:
    def __init__(self, *replies: ModelReply) -> None:
        self.replies = list(replies)

    async def ask(self, ask: Any) -> ModelReply:
        return self.replies.pop(0)


async def asked() -> Agent:
    """An agent that was asked for a refund, and looked up the order instead."""
    quiet = LLMInstruction("late", when=lambda ctx: ctx.content == "late", text="Say sorry.")
    look_up = define_tool("look_up", "Looks orders up", {}, lambda _: "sent", instructions=[quiet])
    refund = define_tool("refund", "Pays money back", {}, lambda _: "paid")
    angry = AgentInstruction(id="angry", active_when=lambda d: d["angry"], prompt="Be calm.")
    agent = Agent(
        Scripted(
            ModelReply("", tool_calls=(ToolCallPiece("c1", "look_up", {}),), stop="tool_calls"),
            ModelReply("It was sent."),
        ),
        system="You help.",
        tools=[look_up, refund],
        instructions=[angry],
        decision={"angry": False},
    )
    await agent.run("My money back!")
    return agent


def test_a_branch_that_was_not_taken(payment: Any) -> None:
    """The condition that failed, with the values it read; and the one that was never looked at."""
    answer = payment.trace.why_not("branch:fee.total > limit")
    (one,) = answer.considered
    assert one.ref == "decision:Pay/check-fee"
    assert not one.happened
    assert "`fee.total > limit` was false (fee.total = 8, limit = 100)" in answer.text()
    later = payment.trace.why_not("branch:Pay/check-fee/default")
    assert later.text().endswith("before it was looked at")
    taken = payment.trace.why_not("branch:fee.total > 5")
    assert taken.considered[0].happened


def test_a_branch_that_is_none(payment: Any) -> None:
    """An unknown branch is told with one that is like it."""
    with pytest.raises(CallerError) as error:
        payment.trace.why_not("branch:Pay/check-fee/defualt")
    assert 'did you mean "Pay/check-fee/default"?' in error.value.hint


def test_a_kind_that_is_none(payment: Any) -> None:
    """An unknown kind is told with those there are."""
    with pytest.raises(CallerError, match='why not does not know the kind "tol"') as error:
        payment.trace.why_not("tol:quote_fee")
    assert 'did you mean "tool"?' in error.value.hint


async def test_an_instruction_and_a_rule() -> None:
    """Both are told with what their condition looked at."""
    trace = (await asked()).trace
    told = trace.why_not("instruction:angry").text()
    assert told.splitlines()[0] == (
        'instruction "angry" in turn 1: its condition was false (angry = false)'
    )
    told = trace.why_not("rule:late").text()
    assert 'instruction "late" about look_up in turn 1: its condition was false' in told
    with pytest.raises(CallerError, match='this record knows no instruction "angri"') as error:
        trace.why_not("instruction:angri")
    assert 'did you mean "angry"?' in error.value.hint


async def test_what_was_put_before_the_model_or_not() -> None:
    """Facts and memories have conditions of their own, and go by the name that `why` gives them."""
    agent = Agent(
        Scripted(ModelReply("Yes.")),
        system="You help.",
        injections=[
            fact("We are open.", id="hours"),
            fact("We are closed.", id="closed", when=lambda _: False),
            memory(lambda _: "", id="tea"),
        ],
    )
    await agent.run("Open?")
    told = {name: agent.trace.why_not(f"instruction:{name}") for name in ("hours", "closed", "tea")}
    assert told["hours"].text() == (
        'it did happen: "hours" was put into the system prompt in turn 1'
    )
    assert told["hours"].considered[0].happened
    assert told["closed"].text() == (
        '"closed" was not put into the system prompt: its condition was false (turn 1)'
    )
    assert told["tea"].text() == '"tea" was not put into the messages: nothing to say (turn 1)'
    with pytest.raises(CallerError) as error:
        agent.trace.why_not("instruction:hour")
    assert error.value.hint == 'did you mean "hours"?'


async def test_a_tool_that_was_offered_and_not_wanted() -> None:
    """What the model wanted, or said, in its place."""
    answer = (await asked()).trace.why_not("tool:refund")
    assert not any(one.happened for one in answer.considered)
    assert 'refund was offered in turn 1, but the model answered "It was sent."' in answer.text()
    data = json.loads(json.dumps(answer.to_json()))
    assert (data["kind"], data["name"]) == ("tool", "refund")
    assert data["considered"][0]["ref"].startswith("model:")


def test_a_tool_of_a_step_that_did_not_run(payment: Any) -> None:
    """How far its flow came."""
    talk = payment
    fresh = type(talk)(*[talk.charts.find("Pay"), talk.charts.find("Charge")])
    fresh.says("pay")
    told = fresh.trace.why_not("tool:quote_fee").text()
    assert 'CALL-TOOL "get-fee" of Pay did not run' in told
    assert talk.trace.why_not("tool:quote_fee").considered[0].happened


async def test_what_did_happen_is_said_to() -> None:
    """A tool that was called, an instruction that fired: no word against it beside that."""
    answer = (await asked()).trace.why_not("tool:look_up")
    assert answer.text() == "look_up was called in turn 1"
    assert answer.considered[0].happened


async def test_what_nobody_knows_is_refused() -> None:
    """A tool or a turn that is none, and a name whose kind was forgotten, with what was meant."""
    trace = (await asked()).trace
    with pytest.raises(CallerError, match='this record knows no tool "refnd"') as error:
        trace.why_not("tool:refnd")
    assert error.value.hint == 'did you mean "refund"?'
    with pytest.raises(CallerError, match="there is no turn 9 in this record") as error:
        trace.why_not("tool:refund", 9)
    assert error.value.hint == "turns 1 to 1 are recorded"
    with pytest.raises(CallerError, match='this record knows no flow "angry"') as error:
        trace.why_not("angry")
    assert error.value.hint == 'did you mean "instruction:angry"?'


def test_flows_of_which_the_record_has_no_chart(payment: Any) -> None:
    """Are known where the asker knows them."""
    with pytest.raises(CallerError, match='this record knows no flow "Cancel"'):
        payment.trace.why_not("flow:Cancel")
    assert payment.trace.why_not("flow:Cancel", flows=["Cancel"]).text()


def test_a_flow_that_another_one_called(payment: Any) -> None:
    """It did run, though no words started it."""
    answer = payment.trace.why_not("flow:Charge")
    assert answer.text().startswith('Charge was called by FLOW "')
    assert answer.text().endswith(" of Pay in turn 3")
    assert answer.considered[0].happened
