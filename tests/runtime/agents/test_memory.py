"""Promise: a memory keeps each conversation under its id, whole turns only."""

from __future__ import annotations

from typing import Any

import pytest

from saywhy.agent.agent import AgentMemory
from saywhy.agent.slots.strategies import sliding_window
from saywhy.agent.tools import ask_human, define_tool
from saywhy.errors import ModelError
from saywhy.runtime.agents.agent import Agent
from saywhy.stores.chat_memory import LocalChatMemory
from tests.runtime.agents.models import Replies, call, calls


def texts(messages: Any) -> list[str]:
    return [message["content"] for message in messages]


async def test_each_conversation_under_its_id() -> None:
    """Users do not mix, and another agent on the same memory goes on where one stopped."""
    store = LocalChatMemory()
    agent = Agent(Replies("1", "2"), memory=AgentMemory(store))
    await agent.conversation("ann").run("I am Ann")
    await agent.conversation("bob").run("I am Bob")
    assert sorted(store.ids()) == ["ann", "bob"]
    model = Replies("3")
    again = Agent(model, memory=AgentMemory(store)).conversation("ann")
    await again.run("who am I?")
    assert texts(model.messages[0]) == ["I am Ann", "1", "who am I?"]
    assert texts(store.load("ann") or []) == ["I am Ann", "1", "who am I?", "3"]
    assert texts(again.get_messages()) == ["I am Ann", "1", "who am I?", "3"]


async def test_the_agents_own_conversation_has_the_id_of_the_memory() -> None:
    """Whoever talks to the agent alone names the conversation once."""
    store = LocalChatMemory()
    agent = Agent.create(Replies("1")).memory(store, "c9").build()
    await agent.run("one")
    assert store.ids() == ["c9"]
    assert agent.conversation().id != "c9"


async def test_a_failed_run_saves_nothing() -> None:
    """What is kept are whole turns: neither the message nor the tools of a failed run."""
    store = LocalChatMemory()
    tool = define_tool("a", "A.", {}, lambda arguments: "ra")
    model = Replies("1", calls(call("a")), ModelError("down"), "2")
    agent = Agent(model, tools=[tool], memory=AgentMemory(store, "c9"))
    await agent.run("one")
    with pytest.raises(ModelError):
        await agent.run("lost")
    assert texts(store.load("c9") or []) == ["one", "1"]
    await agent.run("two")
    assert texts(store.load("c9") or []) == ["one", "1", "two", "2"]


async def test_a_window_hides_and_does_not_forget() -> None:
    """The model is handed what the strategy keeps; the memory keeps everything."""
    store = LocalChatMemory()
    model = Replies("1", "2", "3")
    agent = Agent(model, system="S", memory=AgentMemory(store, "c9", sliding_window(2)))
    for message in ("one", "two", "three"):
        await agent.run(message)
    assert len(model.messages[2]) <= 3
    assert model.messages[2][-1]["content"] == "three"
    assert texts(store.load("c9") or []) == ["S", "one", "1", "two", "2", "three", "3"]


async def test_the_usual_window() -> None:
    """Of a long history the newest 100 messages are handed over, unless something else is said."""
    store = LocalChatMemory()
    long = [{"role": "user" if n % 2 == 0 else "assistant", "content": f"{n}"} for n in range(300)]
    store.save("c9", long)
    model = Replies("x")
    await Agent(model, memory=AgentMemory(store, "c9")).run("now")
    assert len(model.messages[0]) == 100
    assert model.messages[0][-1]["content"] == "now"
    assert len(store.load("c9") or []) == 302


async def test_a_question_that_stays_open_is_kept() -> None:
    """Whoever says something else instead of answering loses nothing of what was said before."""
    store = LocalChatMemory()
    question = calls(call("ask_human", "h1", question="Sure?"))
    model = Replies("1", question, "As you like.")
    agent = Agent(model, system="S", tools=[ask_human()], memory=AgentMemory(store, "c9"))
    await agent.run("one")
    assert (await agent.run("two")).paused
    assert texts(store.load("c9") or []) == ["S", "one", "1"]
    await agent.run("never mind")
    waiting = '[Waiting for human response to: "Sure?"]'
    everything = ["S", "one", "1", "two", "", waiting, "never mind", "As you like."]
    assert texts(store.load("c9") or []) == everything
    assert texts(agent.get_messages()) == everything


async def test_resuming_with_a_memory() -> None:
    """The turn is saved as a whole once the person has answered."""
    store = LocalChatMemory()
    question = calls(call("ask_human", "h1", question="Sure?"))
    agent = Agent(Replies(question, "Done."), tools=[ask_human()], memory=AgentMemory(store, "c9"))
    await agent.run("go")
    assert store.ids() == []
    await agent.resume("yes")
    assert texts(store.load("c9") or []) == ["go", "", "yes", "Done."]
