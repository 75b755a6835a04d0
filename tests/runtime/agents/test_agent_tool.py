"""Promise: an agent that is a tool of another one runs in the same run, with one record."""

from __future__ import annotations

from typing import Any

import pytest

from saywhy.agent.events import ToolEnd
from saywhy.agent.instructions.agent_rule import AgentInstruction
from saywhy.agent.receipts.served import receipts_of, served_all
from saywhy.agent.slots.offers import static_tools
from saywhy.agent.tools import ask_human
from saywhy.errors import CallerError, ModelError
from saywhy.runtime.agents.agent import Agent
from saywhy.runtime.agents.agent_tool import agent_as_tool
from saywhy.runtime.agents.llm_call import LLMCall
from tests.runtime.agents.models import Replies, call, calls


def asks(id: str = "1", name: str = "helper", message: str = "do it") -> Any:
    return calls(call(name, id, message=message))


async def test_one_run_one_record() -> None:
    """Its steps, its receipts and what it used are among those of the run."""
    helper = Replies("helped")
    outer = Agent(
        Replies(asks(), "done"),
        name="outer",
        tools=[agent_as_tool(LLMCall(helper, name="helper", system="Help."), description="Helps.")],
    )
    heard: list[Any] = []
    result = await outer.run("go", on_event=heard.append)
    assert helper.messages == [[{"role": "user", "content": "do it"}]]
    assert [one["content"] for one in result.messages if one["role"] == "tool"] == ["helped"]
    assert result.usage.calls == 3
    snapshot = outer.get_snapshot()
    assert {one.basis.run_id for one in receipts_of(snapshot)} == {result.run_id}
    assert [one.verdict for one in served_all(snapshot)] == ["verified"] * 3
    assert {one.flow for one in outer.trace} >= {"outer", "helper"}
    ends = [one for one in heard if isinstance(one, ToolEnd)]
    assert [(one.tool_name, one.result, one.error) for one in ends] == [("helper", "helped", False)]


def test_what_the_model_is_shown() -> None:
    """One message, that has to be there."""
    tool = agent_as_tool(Agent(Replies(), name="My helper!"), description="Helps.")
    shown = tool.describe()
    assert (shown.name, shown.description) == ("My_helper_", "Helps.")
    assert shown.to_value()["input_schema"]["required"] == ["message"]


async def test_a_failure_is_told_to_the_model() -> None:
    """And the run goes on; recorders learn that it was an error."""
    model = Replies(asks(), "sorry")
    broken = Agent(Replies(ModelError("down", code="server")), name="helper")
    heard: list[Any] = []
    outer = Agent(model, tools=[agent_as_tool(broken, description="Helps.")])
    result = await outer.run("go", on_event=heard.append)
    assert result.content == "sorry"
    told = model.messages[1][-1]["content"]
    assert told == "Agent error: LLM call failed: [server] down"
    assert [one.error for one in heard if isinstance(one, ToolEnd)] == [True]


async def test_its_question_pauses_the_whole_run() -> None:
    """The answer finds its way, in another process too."""
    question = calls(call("ask_human", "q", question="Sure?"))

    def made(outer: Replies, inner: Replies) -> Agent:
        helper = Agent(inner, name="helper", tools=[ask_human()])
        return Agent(outer, name="outer", tools=[agent_as_tool(helper, description="Helps.")])

    first = made(Replies(asks()), Replies(question))
    result = await first.run("go")
    assert result.paused
    assert dict(result.pause_data or {}) == {"question": "Sure?", "tool_call_id": "q"}
    assert result.messages[-1]["content"] == '[Waiting for human response to: "Sure?"]'
    inner = Replies("helped")
    second = made(Replies("done"), inner)
    second.restore(first.checkpoint())
    result = await second.resume("yes")
    assert result.content == "done"
    assert inner.messages[0][-1] == {"role": "tool", "content": "yes", "tool_call_id": "q"}
    assert result.usage.calls == 4


async def test_agents_within_agents() -> None:
    """To any depth; two calls of one reply are two runs of its chart."""
    inmost = LLMCall(Replies("x", "y"), name="inmost")
    middle = Agent(
        Replies(asks(name="inmost"), "m1", asks(name="inmost"), "m2"),
        name="middle",
        tools=[agent_as_tool(inmost, description="Deep.")],
    )
    wanted = calls(call("middle", "1", message="a"), call("middle", "2", message="b"))
    outer = Agent(Replies(wanted, "done"), tools=[agent_as_tool(middle, description="Middle.")])
    result = await outer.run("go")
    told = [one["content"] for one in result.messages if one["role"] == "tool"]
    assert told == ["m1", "m2"]
    assert result.usage.calls == 8


async def test_the_same_tool_of_two_agents() -> None:
    """Each has a chart of it under an id of its own."""
    helper = agent_as_tool(LLMCall(Replies("1", "2"), name="helper"), description="Helps.")
    inner = Agent(Replies(asks(), "inner"), name="inner", tools=[helper])
    both = [helper, agent_as_tool(inner, description="Inner.")]
    outer = Agent(Replies(asks(), asks("2", "inner"), "done"), tools=both)
    assert (await outer.run("go")).content == "done"


async def test_as_a_tool_of_an_instruction() -> None:
    """Offered while that is active."""
    helper = agent_as_tool(LLMCall(Replies("helped"), name="helper"), description="Helps.")
    rule = AgentInstruction("help", tools=(helper,))
    outer = Agent(Replies(asks(), "done"), instructions=[rule])
    result = await outer.run("go")
    assert [one["content"] for one in result.messages if one["role"] == "tool"] == ["helped"]
    assert {one.flow for one in outer.trace} >= {"helper"}


async def test_of_a_provider_it_runs_by_itself() -> None:
    """Nobody knew it when the chart was built; the model reads the same."""
    good = agent_as_tool(LLMCall(Replies("helped"), name="good"), description="Helps.")
    bad = agent_as_tool(LLMCall(Replies(ModelError("down")), name="bad"), description="Fails.")
    wanted = calls(call("good", "1", message="a"), call("bad", "2", message="b"))
    model = Replies(wanted, "done")
    await Agent(model, tool_provider=static_tools([good, bad])).run("go")
    told = [one["content"] for one in model.messages[1] if one["role"] == "tool"]
    assert told == ["helped", "Agent error: down"]


def test_what_cannot_be_run_is_told() -> None:
    """A builder, for instance."""
    with pytest.raises(CallerError, match="AgentBuilder cannot be run") as caught:
        agent_as_tool(Agent.create(Replies()), description="x")
    assert caught.value.hint == "call build() first"
