"""Promise: a follow-up leads to a tool that the agent has, or the author is told before it runs."""

from __future__ import annotations

from typing import Any

from saywhy.agent.instructions.agent_rule import define_instruction
from saywhy.agent.instructions.check import check_follow_ups, check_rules
from saywhy.agent.instructions.follow_up import follow, quick_bind
from saywhy.agent.instructions.rule import InstructionOverride, LLMInstruction
from saywhy.agent.tools import AgentTool, define_tool
from saywhy.tools.function_tool import tool


def tool_of(id: str, *targets: str) -> AgentTool:
    rules = [
        LLMInstruction(f"to-{target}", follow_up=quick_bind(target, "id")) for target in targets
    ]
    return define_tool(id, "A tool.", {}, str, instructions=rules)


def told(*args: Any, **options: Any) -> list[tuple[str, str]]:
    return [(one.message, one.hint) for one in check_follow_ups(*args, **options)]


def test_an_unknown_target() -> None:
    """The place, the name, and the nearest one that there is."""
    assert told(
        [tool_of("loan", "explain", "get_trase"), tool_of("get_trace", "loan", "loan")]
    ) == [
        (
            'the instruction "to-explain" of tool "loan" offers the tool "explain", '
            "which the agent does not have",
            "give the agent that tool, or take it out",
        ),
        (
            'the instruction "to-get_trase" of tool "loan" offers the tool "get_trase", '
            "which the agent does not have",
            'did you mean "get_trace"?',
        ),
    ]


def test_tools_of_instructions_count() -> None:
    """They may be offered, and offer; so may those that come from elsewhere."""
    refund = tool_of("refund", "loan", "audit")
    rule = define_instruction(
        "denied",
        tools=[refund],
        on_tool_result=[LLMInstruction("r", follow_up=quick_bind("gone", "id"))],
    )
    found = told([tool_of("loan", "refund")], [rule])
    assert [message.split(" offers")[0] for message, _ in found] == [
        'the instruction "to-audit" of tool "refund"',
        'the instruction "r" of "denied"',
    ]
    assert told([tool_of("loan", "refund")], [rule], also=["audit", "gone"]) == []
    assert told([refund, tool_of("loan")], [rule], also=["audit", "gone"]) == []


def test_as_the_overrides_leave_it() -> None:
    """A follow-up that is taken out is no problem; one that is added may be."""
    loan = tool_of("loan", "gone")
    without = {"loan": InstructionOverride(suppress=["to-gone"])}
    assert told([loan], overrides=without) == []
    added = LLMInstruction("new", follow_up=quick_bind("lone", "id"))
    found = told([tool_of("loan")], overrides={"loan": InstructionOverride(add=[added])})
    assert found[0][1] == 'did you mean "loan"?'


def test_functions_are_tools() -> None:
    """A decorated function has an id and no instructions."""

    @tool
    def explain(id: str) -> str:
        """Explains."""
        return id

    assert told([tool_of("loan", "explain"), explain]) == []


async def later(ctx: Any) -> bool:
    return True


def test_fields_that_cannot_be_used() -> None:
    """A rule that could do nothing once it fires is told of before it has to."""
    no_function: Any = {"id": 1}
    no_text: Any = 5
    waits: Any = later
    rules = [
        LLMInstruction("a", text=no_text),
        LLMInstruction("b", when=no_function),
        LLMInstruction("c", decide=waits),
        LLMInstruction("d", follow_up=no_function),
        LLMInstruction("e", follow_up=follow("loan", no_function, "Asks")),
        LLMInstruction("f", when=lambda ctx: True, text="t", follow_up=quick_bind("loan", "id")),
    ]
    assert [(one.message, one.severity) for one in check_rules(rules, 'of tool "loan"')] == [
        ('the text of instruction "a" of tool "loan" is int, not text', "error"),
        ('when of instruction "b" of tool "loan" is dict, not a function', "error"),
        (
            'decide of instruction "c" of tool "loan" is an async function, which is never called',
            "warning",
        ),
        (
            'the follow_up of instruction "d" of tool "loan" is dict, not a FollowUpBinding',
            "error",
        ),
        (
            'the params of the follow-up of instruction "e" of tool "loan" are dict, '
            "not a function",
            "error",
        ),
    ]
