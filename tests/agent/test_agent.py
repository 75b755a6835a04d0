"""Promise: everything wrong with an agent is told at once, before it runs."""

from __future__ import annotations

from typing import Any

import pytest

from saywhy.agent.agent import AgentDefinition, AgentMemory, OutputSchema, tools_of
from saywhy.agent.instructions.agent_rule import AgentInstruction
from saywhy.agent.instructions.follow_up import follow
from saywhy.agent.instructions.rule import InstructionOverride, LLMInstruction
from saywhy.agent.tools import AgentTool, define_tool
from saywhy.errors import CallerError, DefinitionError


def tool(id: str, *rules: LLMInstruction) -> AgentTool:
    return define_tool(id, "A tool.", {}, lambda arguments: "ok", instructions=rules)


def problems(**fields: Any) -> list[str]:
    """The messages of all errors, in order."""
    try:
        AgentDefinition(**fields).check()
    except DefinitionError as error:
        return [problem.message for problem in error.problems]
    return []


def test_an_agent_needs_nothing() -> None:
    """What is left out has a default that is right."""
    definition = AgentDefinition()
    assert definition.check() == ()
    assert (definition.name, definition.max_iterations, definition.tools) == ("agent", 10, ())


def test_all_problems_are_told_at_once() -> None:
    """One error has them all, in the order of the fields."""
    a, other = tool("a"), tool("a")
    unsafe = LLMInstruction("pii", safety=True, text="Hide it.")
    lost = LLMInstruction("why", follow_up=follow("explian", lambda ctx: {}, "Explain"))
    found = problems(
        name=" ",
        max_iterations=-1,
        tool_concurrency=0,
        tools=(a, other, tool("b", unsafe, lost), tool("explain")),
        instructions=(AgentInstruction("u"), AgentInstruction("u")),
        output_schema=OutputSchema({"type": "objekt"}, injection="nowhere"),
        decision={"when": object()},
        memory=AgentMemory(object(), durability="never"),
        overrides={"b": InstructionOverride(suppress=["pii"])},
    )
    assert found == [
        "max_iterations is -1",
        "tool_concurrency is 0",
        "the agent has no name",
        'injection of the output schema is "nowhere"',
        'output_schema is no JSON schema: "objekt" is not valid under any of the schemas listed in '
        "the 'anyOf' keyword (at type)",
        "decision.when is a object, which a conversation cannot hold",
        "object is no memory store: it has no load and no save",
        'durability of the memory is "never"',
        "ToolRegistry: tool 'a' already registered",
        'several of the instructions have the id "u"',
        'the override of tool "b" reaches the safety instruction "pii": it takes it away',
        'the instruction "why" of tool "b" offers the tool "explian", '
        "which the agent does not have",
    ]


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"max_iterations": True}, "max_iterations is True"),
        ({"max_iterations": 2.5}, "max_iterations is 2.5"),
        ({"system": None}, "system is NoneType, not text"),
        ({"output_schema": OutputSchema([])}, "output_schema is list, not a JSON schema"),  # type: ignore[arg-type]
        ({"decision": []}, "the decision begins with list, not a mapping"),
    ],
)
def test_each_problem(fields: dict[str, Any], problem: str) -> None:
    """Each value of the wrong kind is named."""
    assert problems(**fields) == [problem]


def test_no_rounds_are_fine() -> None:
    """An agent that may not call tools is an agent."""
    assert problems(max_iterations=0) == []


def test_safety_is_disarmed_on_purpose_only() -> None:
    """`allow_unsafe` lets pass what reaches a safety rule."""
    rule = LLMInstruction("pii", safety=True, text="Hide it.")
    fields: dict[str, Any] = {
        "tools": (tool("b", rule),),
        "overrides": {"b": InstructionOverride(replace={"pii": {"safety": False}})},
    }
    assert problems(**fields) == [
        'the override of tool "b" reaches the safety instruction "pii": it clears the flag `safety`'
    ]
    assert problems(**fields, allow_unsafe=True) == []


def test_tools_of_instructions_do_not_clash() -> None:
    """A tool of an instruction needs an id of its own, unless it is the very same tool."""
    a, other = tool("a"), tool("a")
    once = AgentInstruction("u", tools=[a])
    assert problems(tools=(a,), instructions=(once,)) == []
    clash = AgentInstruction("v", tools=[other])
    assert problems(tools=(a,), instructions=(clash,)) == [
        'instruction "v" brings another tool with the id "a" of the agent'
    ]
    assert problems(instructions=(once, clash)) == [
        'instruction "v" brings another tool with the id "a" of instruction "u"'
    ]
    assert problems(tools=(a,), instructions=(clash,), allow_clashes=True) == []


def test_follow_ups_lead_somewhere() -> None:
    """The target is a tool of the agent or of an instruction; a provider may have any."""
    rule = LLMInstruction("why", follow_up=follow("explain", lambda ctx: {}, "Explain"))
    asking = tool("a", rule)
    expected = [
        'the instruction "why" of tool "a" offers the tool "explain", which the agent does not have'
    ]
    assert problems(tools=(asking,)) == expected
    assert problems(tools=(asking,), allow_unknown_targets=True) == []
    assert problems(tools=(asking,), tool_provider=object()) == []
    brought = AgentInstruction("u", tools=[tool("explain")])
    assert problems(tools=(asking,), instructions=(brought,)) == []
    assert problems(instructions=(AgentInstruction("u", on_tool_result=[rule]),)) == [
        'the instruction "why" of "u" offers the tool "explain", which the agent does not have'
    ]


def test_doubts_are_warnings() -> None:
    """What may be meant is told and does not stop anybody."""
    definition = AgentDefinition(overrides={"gone": InstructionOverride(suppress=["x"])})
    assert [one.message for one in definition.check()] == [
        'the override is for tool "gone", which the agent does not have'
    ]


def test_tools_are_a_list() -> None:
    """A mapping or a text in place of the list is told as such."""
    with pytest.raises(CallerError, match=r"^tools are a list, not dict"):
        tools_of({"a": tool("a")})
    with pytest.raises(CallerError, match=r"^5 is no tool"):
        tools_of([5])


def test_the_form_of_an_answer() -> None:
    """The setting that asks for it has only what was said."""
    assert OutputSchema({"type": "object"}).response_format() == {
        "type": "json_schema",
        "schema": {"type": "object"},
    }
    assert OutputSchema({}, "order", "user").response_format() == {
        "type": "json_schema",
        "schema": {},
        "name": "order",
        "injection": "user",
    }
