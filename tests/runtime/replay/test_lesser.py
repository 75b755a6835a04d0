"""Promise: an agent with a piece less is another agent, and the one it was made of stays."""

from __future__ import annotations

import pytest

from saywhy import (
    Agent,
    InstructionOverride,
    LLMInstruction,
    ScriptedModel,
    define_instruction,
    define_tool,
    steering,
)
from saywhy.runtime.replay.lesser import Lesser

RULE = LLMInstruction("tax", text="Name the tax.")
MORE = LLMInstruction("more", text="Offer more.")
TOOL = define_tool("price", "The price.", {}, lambda given: 80, instructions=[RULE])
MANNERS = define_instruction("manners", prompt="Be kind.", on_tool_result=[MORE])


def agent() -> Agent:
    return Agent(
        ScriptedModel([]),
        tools=[TOOL],
        instructions=[MANNERS],
        injections=[steering("Be short.", id="short")],
        instruction_overrides={"price": InstructionOverride(add=[LLMInstruction("own", text="!")])},
    )


@pytest.mark.parametrize("name", ["tax", "manners", "more", "manners/more", "short", "own"])
def test_an_instruction_wherever_it_stands(name: str) -> None:
    """Of the agent, of a tool, about results, added for this agent, or injected."""
    lesser, whole = Lesser("instruction", name), agent()
    made = lesser.agent(whole)
    assert lesser.found
    assert made is not whole
    assert made.definition != whole.definition
    again = Lesser("instruction", name)
    again.agent(made)
    assert not again.found


def test_what_it_does_not_have() -> None:
    """The very agent comes back."""
    lesser, whole = Lesser("instruction", "nothing"), agent()
    assert lesser.agent(whole) is whole
    assert lesser.hint == "there are manners, manners/more, short, tax, own"
    near = Lesser("instruction", "manner/more")
    near.agent(whole)
    assert near.hint == 'did you mean "manners/more"?'
    tool = Lesser("tool", "prize")
    tool.agent(whole)
    assert tool.hint == 'did you mean "price"?'
    assert not lesser.found


def test_a_tool() -> None:
    """It is offered no more; the agent it was made of has it still."""
    lesser, whole = Lesser("tool", "price"), agent()
    made = lesser.agents({"clerk": whole})["clerk"]
    assert lesser.found
    assert [tool.id for tool in made.definition.tools] == []
    assert [tool.id for tool in whole.definition.tools] == ["price"]
