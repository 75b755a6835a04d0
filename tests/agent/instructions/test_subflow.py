"""Promise: the sub-chart gives what is active, as JSON, and the trace says what decided."""

from __future__ import annotations

import json
from typing import Any

import pytest

from saywhy.agent.instructions.agent_rule import AgentInstruction, define_instruction
from saywhy.agent.instructions.book import RuleBook
from saywhy.agent.instructions.rule import LLMInstruction
from saywhy.agent.instructions.subflow import (
    INPUTS,
    OUTPUTS,
    STAGE,
    build_instructions_to_llm_subflow,
)
from saywhy.agent.tools import define_tool
from saywhy.chart.build import Builder
from saywhy.values import dumps

REFUND = define_tool(
    "refund", "Refunds it.", {"type": "object", "properties": {"id": {"type": "string"}}}, str
)
DENIED = define_instruction(
    "denied",
    active_when=lambda d: d.order.status == "denied",
    prompt="Show empathy.",
    tools=[REFUND],
    on_tool_result=[LLMInstruction("soft", text="Be soft.", decide=lambda d, c: None)],
)
GUARD = define_instruction("guard", active_when=lambda d: d["x"], prompt="Hide.", safety=True)

NOTHING = {
    "promptInjections": [],
    "toolInjections": [],
    "responseRules": [],
    "matchedInstructions": "none matched",
    "activeInstructions": [],
}


async def run(instructions: list[AgentInstruction], **args: Any) -> Any:
    return await build_instructions_to_llm_subflow(instructions).run(args)


async def test_what_it_writes() -> None:
    """Prompts, descriptions of tools, names of rules: JSON, functions left out."""
    result = await run([DENIED], decision={"order": {"status": "denied"}})
    assert json.loads(dumps(result.state)) == {
        "promptInjections": ["Show empathy."],
        "toolInjections": [
            {
                "name": "refund",
                "description": "Refunds it.",
                "input_schema": {"type": "object", "properties": {"id": {"type": "string"}}},
            }
        ],
        "responseRules": ["denied/soft"],
        "matchedInstructions": "1 matched: denied",
        "activeInstructions": ["denied"],
    }
    assert set(result.state) == set(OUTPUTS)


async def test_what_decided_is_in_the_trace() -> None:
    """The commit has the reads of the conditions, no more, and a line for each instruction."""
    decision = {"order": {"status": "denied", "id": 1}, "x": True}
    (commit, _) = (await run([DENIED, GUARD], decision=decision)).commits
    assert commit.node == STAGE
    paths = {key[1:] for key in commit.reads}
    assert paths == {("decision", "order", "status"), ("decision", "x")}
    assert commit.facts["instructions"] == [
        {
            "id": "denied",
            "outcome": "fired",
            "fired": True,
            "read": [["order.status", "denied"]],
        },
        {"id": "guard", "outcome": "fired", "fired": True, "safety": True, "read": [["x", True]]},
    ]


@pytest.mark.parametrize("args", [{}, {"decision": {}}])
async def test_without_a_decision(args: dict[str, Any]) -> None:
    """Behaviour is skipped, safety fires; an empty decision is one, and says as little."""
    result = await run([DENIED, GUARD], **args)
    assert result.state["matchedInstructions"] == "1 matched: guard"
    assert result.state["promptInjections"] == ["Hide."]


async def test_an_empty_list_passes_through() -> None:
    """Nothing is active, and the run goes on."""
    assert (await run([], decision={"a": 1})).state == NOTHING


async def test_the_list_is_taken_as_it_is() -> None:
    """What is done to the list afterwards changes nothing."""
    tools, rules = [REFUND], [LLMInstruction("one", text="1")]
    given = [DENIED, AgentInstruction("more", tools=tools, on_tool_result=rules)]
    built = build_instructions_to_llm_subflow(given)
    given.clear()
    tools.append(define_tool("late", "Too late.", {}, str))
    rules.append(LLMInstruction("late", text="late"))
    result = await built.run({"decision": {"order": {"status": "denied"}}})
    assert result.state["activeInstructions"] == ["denied", "more"]
    assert result.state["responseRules"] == ["denied/soft", "more/one"]
    assert [tool["name"] for tool in result.state["toolInjections"]] == ["refund"]


async def test_mounted_in_a_loop() -> None:
    """What is no longer active is gone, and nothing piles up; an empty decision stays one."""
    seen: list[Any] = []
    always = define_instruction(
        "always", active_when=lambda d: isinstance(d, dict), prompt="Always."
    )
    outer = Builder("outer")

    @outer.stage
    def seed(s: Any) -> None:
        s.decision, s.n = {}, 0

    outer.mount(
        build_instructions_to_llm_subflow([DENIED, always]),
        id="sf-instructions-to-llm",
        inputs=INPUTS,
        outputs=OUTPUTS,
    )

    @outer.stage
    def work(s: Any) -> None:
        seen.append(s.promptInjections.copy())
        s.n += 1
        s.decision = {"order": {"status": "denied" if s.n == 1 else "paid"}}

    @outer.decider
    def route(s: Any) -> str:
        return "again" if s.n < 3 else "done"

    route.branch("again", lambda s: None, loop_to="sf-instructions-to-llm", max_iter=9)
    route.branch("done", lambda s: None)
    await outer.build().run()
    assert seen == [["Always."], ["Show empathy.", "Always."], ["Always."]]


def test_the_book_gives_the_objects() -> None:
    """From the names in the state back to the rules, in another process as well."""
    assert RuleBook([DENIED]).rules(["denied/soft"]) == DENIED.on_tool_result
