"""Promise: each step of a sequence is given the answer of the one before."""

from __future__ import annotations

import pytest

from saywhy.errors import DefinitionError, ModelError
from saywhy.runtime.agents.agent import Agent
from saywhy.runtime.agents.llm_call import LLMCall
from saywhy.runtime.agents.sequence import Sequence
from tests.runtime.agents.models import Replies


async def test_answers_are_handed_on() -> None:
    """Agents and calls of models as well as functions, in one record."""
    draft, polish = Replies("draft"), Replies("polished")
    runner = Sequence(
        ("draft", Agent(draft, system="Write.")),
        ("polish", LLMCall(polish)),
        ("shout", lambda message: message.upper()),
    )
    result = await runner.run("topic")
    assert result.content == "POLISHED"
    assert result.steps == (
        {"id": "draft", "content": "draft"},
        {"id": "polish", "content": "polished"},
        {"id": "shout", "content": "POLISHED"},
    )
    assert polish.messages == [[{"role": "user", "content": "draft"}]]
    assert result.usage.calls == 2
    nodes = [one.node for one in runner.trace if one.depth == 0]
    assert list(dict.fromkeys(nodes)) == ["seed", "draft", "polish", "shout", "finish"]


async def test_a_failure_ends_it() -> None:
    """With the error of the step; those after it do not run."""
    last = Replies("never")
    runner = Sequence(LLMCall(Replies(ModelError("down"))), LLMCall(last))
    with pytest.raises(ModelError, match="down"):
        await runner.run("x")
    assert not last.asked


async def test_nothing_is_remembered() -> None:
    """A run is handed nothing of the one before."""
    model = Replies("a", "b")
    runner = Sequence(Agent(model))
    await runner.run("one")
    result = await runner.run("two")
    assert model.messages[1] == [{"role": "user", "content": "two"}]
    assert [one["content"] for one in result.messages] == ["two", "b"]


def test_one_step_at_least() -> None:
    """Without any there is nothing to run."""
    with pytest.raises(DefinitionError) as caught:
        Sequence()
    assert caught.value.problems[0].message == "FlowChart requires at least one agent"


def test_what_is_wrong_is_told_at_once() -> None:
    """What cannot be run, and ids that are none."""
    with pytest.raises(DefinitionError) as caught:
        Sequence(("a b", 3), ("x", Agent.create(Replies())), ("y", Replies()), ("z", [str]))
    assert [(one.message, one.hint) for one in caught.value.problems] == [
        ("'a b' is no id of a step", "write text without spaces, /, # and ~"),
        ('the step "a b" is int, which cannot be run', "an object with `run`"),
        ('the step "x" is AgentBuilder, which cannot be run', "call build()"),
        ('the step "y" is Replies, which cannot be run', "a model is asked by LLMCall(model)"),
        ('the step "z" is list, which cannot be run', "give them one by one, not as a list"),
    ]


async def test_a_name_that_is_taken_gets_a_number() -> None:
    """The same runner may stand in it twice."""
    same = LLMCall(Replies("1", "2"), name="call")
    result = await Sequence(same, same).run("x")
    assert [one["id"] for one in result.steps] == ["call", "call-2"]
