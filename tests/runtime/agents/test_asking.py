"""Promise: a runner can ask another model, and stays what it was; a pause says what is asked."""

from __future__ import annotations

from typing import Any

import pytest

from saywhy import Agent, LLMCall, ScriptedModel, Sequence, ask_human
from saywhy.errors import CallerError


def says(*replies: Any) -> ScriptedModel:
    return ScriptedModel([{"reply": one} if isinstance(one, str) else one for one in replies])


async def test_the_other_model_is_asked() -> None:
    """Everything else is the same, and the first runner and its conversation are untouched."""
    first, second = says("one", "two"), says("other")
    agent = Agent(first, name="clerk", system="Be brief.")
    await agent.run("hi")
    other = agent.asking(second)
    assert (await other.run("hi")).content == "other"
    assert second.asked[0].system == "Be brief."
    assert len(second.asked[0].messages) == 1
    assert (await agent.run("again")).content == "two"
    assert len(first.asked[1].messages) == 3


async def test_pieces_may_be_asked_for() -> None:
    """With `streaming` alone the model stays, and is asked for its answer in pieces."""
    model = says("one", "two")
    call = LLMCall(model)
    await call.run("hi")
    await call.asking(streaming=True).run("hi")
    assert [ask.stream for ask in model.asked] == [False, True]


async def test_a_checkpoint_goes_from_one_to_the_other() -> None:
    """The chart is the same, so a run that rests may go on with another model."""
    wants = {"tool_calls": [{"name": "ask_human", "arguments": {"question": "Which?"}}]}
    agent = Agent(says(wants), tools=[ask_human()])
    await agent.run("send it")
    other = agent.asking(says("To Rome."), streaming=True)
    talk = other.conversation(checkpoint=agent.checkpoint())
    assert talk.pause_data is not None
    assert talk.pause_data["question"] == "Which?"
    assert (await talk.resume("Rome")).content == "To Rome."
    assert talk.pause_data is None


async def test_a_builder_takes_it_before_it_builds() -> None:
    """The first model is never looked at, so its key need not be there."""
    builder = Agent.create("openai:NOBODY").system("Be brief.")
    assert (await builder.asking(says("yes")).build().run("hi")).content == "yes"


def test_what_is_made_of_others_has_no_model() -> None:
    """Which of them is meant nobody can know."""
    pair = Sequence(LLMCall(says("a")), LLMCall(says("b")), name="pair")
    with pytest.raises(
        CallerError, match='"pair" has no model of its own: it is made of other runners'
    ):
        pair.asking(says("c"))
