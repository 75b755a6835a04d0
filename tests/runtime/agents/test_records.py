"""Promise: what a run did can be asked afterwards: steps, reasons, what the model was handed."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from saywhy.agent.receipts.served import receipt_at, receipts_of, served_at
from saywhy.agent.tools import ask_human, define_tool
from saywhy.errors import CallerError, DamagedSession, ModelError
from saywhy.models.provider import Ask, Piece, TextPiece
from saywhy.runtime.agents.agent import Agent
from saywhy.runtime.agents.result import AgentResult
from saywhy.trace.masking.redact import Policy
from tests.runtime.agents.models import Replies, call, calls


def look_up(arguments: dict[str, Any]) -> dict[str, Any]:
    return {"status": "denied", "pin": "4711-0815"}


LOOK_UP = define_tool("look_up", "Looks up.", {}, look_up)


async def test_each_call_has_a_receipt() -> None:
    """One for each call of the model, under the run's id, and they say what was handed over."""
    ids = iter(["r1", "r2"])
    model = Replies(calls(call("look_up")), "denied", "bye")
    agent = Agent(model, system="S", tools=[LOOK_UP], new_id=lambda: next(ids))
    result = await agent.run("go")
    snapshot = agent.get_snapshot()
    assert [one.basis.run_id for one in receipts_of(snapshot)] == ["r1", "r1"]
    for number in (1, 2):
        served = served_at(snapshot, number)
        assert served.verdict == "verified"
        assert served.view.system == "S"
        assert list(served.view.messages) == list(model.asked[number - 1].messages)
        assert served_at(agent.trace, number).verdict == "verified"
    assert result.run_id == "r1"
    assert (await agent.run("and?")).run_id == "r2"
    first = receipt_at(agent.get_snapshot(), 1)
    assert first is not None
    assert first.basis.run_id == "r2"


async def test_without_ids_there_are_no_receipts() -> None:
    """No id, no salt, no receipt: its absence is stated with its cause."""
    agent = Agent(Replies("hello"), new_id=None)
    result = await agent.run("hi")
    assert result.run_id == ""
    assert receipt_at(agent.get_snapshot(), 1) is None
    absence = served_at(agent.get_snapshot(), 1).absence
    assert absence is not None
    assert (absence.code, absence.cause) == ("no-receipt-on-chart", "no-receipt-committed")


async def test_one_record_over_a_pause_and_another_process() -> None:
    """Calls before and after the pause are one run, with one id and one numbering."""
    tools = [ask_human()]
    question = calls(call("ask_human", "h1", question="Sure?"))
    agent = Agent(Replies(question), tools=tools)
    paused = await agent.run("go")
    other = Agent(Replies("done"), tools=tools)
    other.restore(agent.checkpoint())
    assert len(other.trace) == len(agent.trace)
    result = await other.resume("yes")
    assert (
        result.run_id == paused.run_id == other.conversation(checkpoint=other.checkpoint()).run_id
    )
    snapshot = other.get_snapshot()
    assert [one.basis.call for one in receipts_of(snapshot)] == [1, 2]
    assert [served_at(snapshot, number).verdict for number in (1, 2)] == ["verified"] * 2


async def test_resuming_as_a_stream() -> None:
    """The answer of a person, then events as they come, then the result."""
    question = calls(call("ask_human", "h1", question="Sure?"))
    conversation = Agent(Replies(question, "done"), tools=[ask_human()]).conversation()
    pieces = [piece async for piece in conversation.stream("go")]
    assert pieces[-1].paused  # type: ignore[union-attr]
    assert conversation.paused
    pieces = [piece async for piece in conversation.resume_stream("yes")]
    assert isinstance(pieces[-1], AgentResult)
    assert pieces[-1].content == "done"
    assert not conversation.paused


async def test_a_pause_belongs_to_its_chart() -> None:
    """An agent whose loop is another one refuses a run that rests in the old one."""
    question = calls(call("ask_human", "h1", question="Sure?"))
    agent = Agent(Replies(question), tools=[ask_human()])
    await agent.run("go")
    other = Agent(Replies("x"), tools=[ask_human()], tool_concurrency=4)
    with pytest.raises(
        DamagedSession, match=r"^the run rests in version [0-9a-f]{12} of the agent"
    ):
        other.restore(agent.checkpoint())
    assert other.get_messages() == []


async def test_why() -> None:
    """The reply leads back to the result that the model read."""
    agent = Agent(Replies(calls(call("look_up")), "It was denied."), tools=[LOOK_UP])
    await agent.run("go")
    chain = agent.trace.why()
    assert chain.causes[0].value == "It was denied."
    assert any("look_up" in cause.sentence for cause in chain.causes)
    told = agent.get_narrative().splitlines()
    assert told[0].startswith("Turn 1 (")
    assert told[-1] == '  Reply: "It was denied."'


async def test_traces_are_masked() -> None:
    """What the policy names is masked in the record, and real for the model."""
    model = Replies(calls(call("look_up")), "Your pin is 4711-0815.")
    agent = Agent(model, tools=[LOOK_UP], redact=Policy(secrets=("4711-0815",)))
    result = await agent.run("go")
    assert "4711-0815" in result.content
    assert "4711-0815" in model.messages[1][-1]["content"]
    assert "4711-0815" not in agent.get_narrative()
    assert all("4711-0815" not in repr(commit) for commit in agent.trace)
    assert all("4711-0815" not in repr(commit) for commit in agent.get_snapshot().commits)
    assert served_at(agent.trace, 2).verdict == "unverifiable"


def test_nothing_to_look_at_yet() -> None:
    """Before the first run there is no record, and that is what is said."""
    agent = Agent(Replies("x"))
    for look in (agent.get_snapshot, agent.get_narrative, lambda: agent.trace):
        with pytest.raises(CallerError, match=r"^there is no record: nothing has run here yet"):
            look()
    assert agent.get_messages() == []


class Half:
    """Breaks off in the midst of its answer."""

    async def ask(self, ask: Ask) -> AsyncIterator[Piece]:
        yield TextPiece("I was just")


async def test_half_an_answer_is_none() -> None:
    """A stream that breaks off fails the run, which leaves the history as it was."""
    agent = Agent(Half(), streaming=True)
    tokens: list[str] = []
    with pytest.raises(ModelError) as caught:
        await agent.run("hi", on_event=lambda event: tokens.append(event.type))
    assert caught.value.code == "network"
    assert tokens == ["turn_start", "llm_start", "token", "error"]
    assert agent.get_messages() == []


def test_the_chart_as_data() -> None:
    """The loop can be drawn, compared and mounted."""
    agent = Agent(Replies("x"), tools=[LOOK_UP], name="shop")
    spec = agent.get_spec()
    assert spec["name"] == "shop"
    assert {"seed", "context", "message-api", "call-llm", "sf-route"} <= spec["nodes"].keys()
    assert agent.to_flow_chart().chart is agent.chart


async def test_what_depended_on_the_words_of_a_run() -> None:
    """Calls, what they gave, and the answer, side by side or one after the other."""

    def gone(arguments: dict[str, Any]) -> None:
        raise ValueError("no such order")

    for together in (1, 2):
        model = Replies(calls(call("look_up", "c1"), call("find", "c2")), "denied")
        tools = [LOOK_UP, define_tool("find", "Finds.", {}, gone)]
        agent = Agent(model, tools=tools, tool_concurrency=together)
        await agent.run("go")
        changed = agent.trace.what_changed()
        told = [one.sentence for one in changed.changes]
        assert "look_up() was called" in told
        assert "tool find failed: no such order" in told
        assert any(one.startswith("tool look_up gave") and "denied" in one for one in told)
        assert told[-1] == 'the reply said "denied"'
        assert not any(one.startswith(("item", "index")) for one in told)
        assert changed.exact


async def test_the_words_of_a_run_that_rests_come_along() -> None:
    """In another process it is known what was said, masked as in the one that heard it."""
    question = calls(call("ask_human", "h1", question="Sure?"))
    redact = Policy(secrets=("4711",))
    agent = Agent(Replies(question), tools=[ask_human()], redact=redact)
    await agent.run("delete 4711")
    talk = agent.conversation(checkpoint=agent.checkpoint())
    here, there = agent.trace.messages(), talk.trace.messages()
    assert here == there
    assert "4711" not in there[0].text
    assert talk.trace.what_changed().to_json() == agent.trace.what_changed().to_json()
    assert talk.trace.what_changed().changes
