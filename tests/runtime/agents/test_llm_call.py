"""Promise: a single call of a model remembers nothing and calls no tools."""

from __future__ import annotations

import pytest

from saywhy.agent.events import LLMStart, TurnEnd
from saywhy.agent.receipts.served import served_at
from saywhy.errors import DefinitionError, ModelError
from saywhy.runtime.agents.llm_call import LLMCall
from saywhy.runtime.agents.result import AgentResult
from tests.runtime.agents.models import Replies, call, calls


async def test_every_run_stands_alone() -> None:
    """The second run is handed nothing of the first."""
    model = Replies("one", "two")
    runner = LLMCall.create(model).system("Be brief.").settings(temperature=0).build()
    assert (await runner.run("a")).content == "one"
    result = await runner.run("b")
    assert model.messages == [[{"role": "user", "content": one}] for one in "ab"]
    assert [ask.system for ask in model.asked] == ["Be brief."] * 2
    assert dict(model.asked[1].settings) == {"temperature": 0}
    assert [one["role"] for one in result.messages] == ["system", "user", "assistant"]
    assert result.iterations == 0


async def test_requests_for_tools_are_not_carried_out() -> None:
    """They stand in the last message, for whoever asked."""
    result = await LLMCall(Replies(calls(call("x"), text="t"))).run("a")
    assert result.content == "t"
    assert [one["name"] for one in result.messages[-1]["tool_calls"]] == ["x"]


async def test_it_streams_and_has_receipts() -> None:
    """As an agent does."""
    runner = LLMCall(Replies("fine"))
    told = [one async for one in runner.stream("a")]
    assert isinstance(told[-1], AgentResult)
    assert [type(one) for one in told if isinstance(one, LLMStart | TurnEnd)] == [LLMStart, TurnEnd]
    assert served_at(runner.get_snapshot(), 1).verdict == "verified"


async def test_a_failure_is_raised() -> None:
    """With the model's own error."""
    with pytest.raises(ModelError, match="down"):
        await LLMCall(Replies(ModelError("down"))).run("a")


def test_in_a_script() -> None:
    """Without asyncio as well."""
    assert LLMCall(Replies("fine")).run_sync("a").content == "fine"


def test_all_that_is_wrong_is_told_at_once() -> None:
    """Name and form of the answer, for instance."""
    with pytest.raises(DefinitionError) as caught:
        LLMCall(Replies(), name=" ", output_schema={"type": "nonsense"})
    assert len(caught.value.problems) == 2
