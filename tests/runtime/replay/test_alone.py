"""Promise: the run of an agent that runs alone runs again, as it was or with a piece less."""

from __future__ import annotations

from typing import Any

import pytest

from saywhy import (
    Agent,
    LLMInstruction,
    ScriptedModel,
    define_instruction,
    define_tool,
    memory,
    rag,
)
from saywhy.agent.agent import AgentMemory
from saywhy.agent.tools import ask_human
from saywhy.errors import CallerError
from saywhy.stores.retriever import Chunk


class Outside:
    """What an agent looks up and calls."""

    def __init__(self) -> None:
        self.gone = False

    def price(self, arguments: Any) -> Any:
        assert not self.gone, "nobody may be called any more"
        return {"price": 80}

    def recall(self, context: Any) -> str:
        assert not self.gone, "nobody may be called any more"
        return "The customer wants a window seat."

    def retrieve(self, query: str, **ignored: Any) -> list[Chunk]:
        assert not self.gone, "nobody may be called any more"
        return [
            Chunk("Syrup: three a day.", 0.9, id="syrup"),
            Chunk("Cream: two.", 0.5, id="cream"),
        ]

    def load(self, conversation_id: str) -> Any:
        assert not self.gone, "nobody may be called any more"

    def save(self, conversation_id: str, messages: Any) -> None:
        assert not self.gone, "nobody may be called any more"


SCRIPT = [
    {"when": {"last": "[INSTRUCTION] Name the tax"}, "reply": "80, with tax."},
    {"when": {"last": '"price":80'}, "reply": "80."},
    {
        "when": {"tools": "price", "user": "price"},
        "tool_calls": [{"name": "price", "arguments": {}}],
    },
    {"when": {"messages": "window seat"}, "reply": "By the window."},
    {"when": {"messages": "Syrup"}, "reply": "Three a day."},
    {"when": {"messages": "Cream"}, "reply": "Two a day."},
    {"when": {"system": "Be short"}, "reply": "No."},
    {"when": {}, "reply": "I do not know."},
]


def agent_of(outside: Outside, **options: Any) -> Agent:
    """An agent with a tool that has a rule."""
    rule = LLMInstruction("tax", text="Name the tax.")
    tool = define_tool("price", "The price.", {}, outside.price, instructions=[rule])
    return Agent(ScriptedModel(SCRIPT), tools=[tool], **{"system": "You help.", **options})


def model() -> ScriptedModel:
    return ScriptedModel(SCRIPT)


async def test_a_run_runs_again_to_the_same_commits() -> None:
    """Model, tool, history and what was looked up come from the record."""
    outside = Outside()
    agent = agent_of(
        outside,
        memory=AgentMemory(outside, "c1"),
        injections=[memory(outside.recall, id="seat"), rag(outside, id="docs", top_k=2)],
    )
    await agent.run("the price?")
    outside.gone = True
    found = await agent.replay()
    assert found.same, found.text()
    assert found.commits == len(agent.get_snapshot().commits)


async def test_a_paused_run_and_what_came_after_the_answer() -> None:
    """Both halves run again, each from where it began."""
    script = [
        {"tool_calls": [{"name": "ask_human", "arguments": {"question": "Sure?"}}]},
        {"reply": "Done."},
    ]
    agent = Agent(ScriptedModel(script), tools=[ask_human()])
    await agent.run("delete it")
    assert (await agent.replay()).same
    await agent.resume("yes")
    found = await agent.replay()
    assert found.same, found.text()
    assert found.commits > 0


async def test_without_a_rule_about_a_tools_results() -> None:
    """The model is asked what it was never asked, and the tool is not called again."""
    outside = Outside()
    agent = agent_of(outside)
    await agent.run("the price?")
    outside.gone = True
    found = await agent.counterfactual("instruction:tax", model=model())
    assert (found.reply, found.reply_without) == ("80, with tax.", "80.")
    assert found.asked == 1
    assert found.certain


async def test_without_an_answer_of_a_tool() -> None:
    """It told nothing, and no error either."""
    outside = Outside()
    agent = agent_of(outside)
    await agent.run("the price?")
    outside.gone = True
    number = next(
        one.seq
        for one in agent.get_snapshot().commits
        if one.answered and one.answered.kind == "tool"
    )
    script = [{"when": {"last": "80"}, "reply": "80."}, {"when": {}, "reply": "I do not know."}]
    found = await agent.counterfactual(f"tool_result:{number}", model=ScriptedModel(script))
    assert found.changed
    assert found.reply_without == "I do not know."


async def test_without_what_was_recalled_or_found() -> None:
    """The memory is in no request any more; of what was found, one piece may be left out."""
    outside = Outside()
    agent = agent_of(outside, injections=[memory(outside.recall, id="seat")])
    await agent.run("which seat?")
    found = await agent.counterfactual("memory:seat", model=model())
    assert (found.reply, found.reply_without) == ("By the window.", "I do not know.")
    agent = agent_of(outside, injections=[rag(outside, id="docs", top_k=2)])
    await agent.run("how often?")
    outside.gone = True
    found = await agent.counterfactual("retrieval:syrup", model=model())
    assert (found.reply, found.reply_without) == ("Three a day.", "Two a day.")
    found = await agent.counterfactual("retrieval:docs", model=model())
    assert found.reply_without == "I do not know."


async def test_without_an_instruction_a_tool_or_the_words() -> None:
    """Each is as if it had never been there."""
    outside = Outside()
    agent = agent_of(outside, instructions=[define_instruction("short", prompt="Be short")])
    await agent.run("well?")
    found = await agent.counterfactual("instruction:short", model=model())
    assert (found.reply, found.reply_without) == ("No.", "I do not know.")
    agent = agent_of(outside)
    await agent.run("the price?")
    found = await agent.counterfactual("tool:price", model=model())
    assert (found.reply, found.reply_without) == ("80, with tax.", "I do not know.")
    found = await agent.counterfactual("message:1", model=model())
    assert found.reply_without == "I do not know."


async def test_without_a_model_the_recorded_answer_is_assumed() -> None:
    """Nobody is there to answer the changed request, so nothing is certain."""
    agent = agent_of(Outside())
    await agent.run("the price?")
    found = await agent.counterfactual("instruction:tax")
    assert not found.changed
    assert not found.certain
    assert found.assumed[0].startswith("model:")


async def test_what_an_agent_does_not_have_is_told() -> None:
    """Unknown pieces, pieces of flows, and a runner that has none of its own."""
    agent = agent_of(Outside())
    await agent.run("the price?")
    with pytest.raises(CallerError, match='the agent "agent" has no instruction "nothing"'):
        await agent.counterfactual("instruction:nothing")
    with pytest.raises(CallerError, match='"global:x" is a piece of a flow'):
        await agent.counterfactual("global:x")
    with pytest.raises(CallerError, match="there is no record"):
        await agent_of(Outside()).replay()
