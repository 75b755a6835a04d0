"""Promise: the selector says which slots are filled anew, and what had changed."""

from __future__ import annotations

from typing import Any

import pytest

from saywhy.agent.instructions.agent_rule import AgentInstruction
from saywhy.agent.instructions.rule import LLMInstruction
from saywhy.agent.loop.config import AgentLoopConfig, AgentPattern
from saywhy.agent.loop.message_api import build_message_api_chart
from saywhy.agent.receipts.served import receipt_at, served_at
from saywhy.agent.slots.offers import dynamic_tools
from saywhy.chart.commit import Decision
from saywhy.errors import CallerError
from tests.agent.loop.conftest import Model, config, tool


def choices(result: Any) -> list[Decision]:
    return [one.decision for one in result.commits if one.node == "context" and one.decision]


def lit(result: Any) -> list[tuple[str, ...]]:
    return [decision.selected for decision in choices(result)]


PROMPT, MESSAGES, TOOLS = "sf-system-prompt", "sf-messages", "sf-tools"


async def test_regular_fills_the_messages_only_after_the_first_pass() -> None:
    """The evidence has a line for each slot, lit or not, with its label and what was looked at."""
    model = Model([("1", "work", {})], "done")
    result = await build_message_api_chart(config(model, tool("work"))).run({"message": "go"})
    assert lit(result) == [(PROMPT, MESSAGES, TOOLS), (MESSAGES,)]
    again = choices(result)[1]
    assert [(one.label, one.text, one.result) for one in again.conditions] == [
        ("engineer system-prompt", "first entry", False),
        ("engineer messages", "messages changed", True),
        ("engineer tools", "first entry", False),
    ]
    assert again.conditions[1].read == ((("state", "messages"), 3),)


async def test_dynamic_fills_what_has_changed() -> None:
    """An instruction that comes in lights the prompt; a provider that is a function may always."""

    def note(decision: Any, ctx: Any) -> None:
        decision.n = ctx.content["n"]

    rules = [LLMInstruction("note", decide=note)]
    kind = AgentInstruction("kind", active_when=lambda d: d.n == 1, prompt="Be kind.")
    calls = [[("a", "work", {"n": n})] for n in (0, 1, 1)]
    model = Model(*calls, "done")
    made = config(
        model,
        tool("work", instructions=rules),
        pattern=AgentPattern.DYNAMIC,
        instructions=[kind],
        decision={"n": 0},
    )
    result = await build_message_api_chart(made).run({"message": "go"})
    assert lit(result) == [
        (PROMPT, MESSAGES, TOOLS),
        (MESSAGES,),
        (PROMPT, MESSAGES),
        (MESSAGES,),
    ]
    text = choices(result)[2].conditions[0].text
    assert text == "promptInjections changed"


async def test_a_provider_that_is_a_function_is_asked_in_every_round() -> None:
    """Nobody knows what it looks at."""
    model = Model([("a", "work", {})], "done")
    made = config(
        model,
        tool("work"),
        pattern=AgentPattern.DYNAMIC,
        tool_provider=dynamic_tools(lambda ctx: [tool("work")] if not ctx.loop_iteration else []),
    )
    result = await build_message_api_chart(made).run({"message": "go"})
    assert lit(result) == [(PROMPT, MESSAGES, TOOLS), (MESSAGES, TOOLS)]
    assert [len(ask.tools or ()) for ask in model.asked] == [1, 0]


async def test_one_call_of_a_model() -> None:
    """Without anything to loop for there is no way back; the request is visible state."""
    run_id = "run-42"
    chart = build_message_api_chart(
        provider=Model("hello"),
        model="m",
        system_prompt="Be brief.",
        get_run_id=lambda: run_id,
    )
    assert list(chart.chart.nodes) == ["seed", "context", "message-api", "call-llm", "answer"]
    result = await chart.run({"message": "hi"})
    state = result.state
    assert (result.value, state["answer"]) == ("hello", "hello")
    assert state["assembledSystem"] == "Be brief."
    assert state["assembledMessages"] == [{"role": "user", "content": "hi"}]
    assert state["settings"] == {"model": "m"}
    receipt = receipt_at(result, 1)
    assert receipt is not None
    assert receipt.basis.run_id == run_id
    assert served_at(result, 1).verdict == "verified"


async def test_without_a_run_id_there_is_no_receipt() -> None:
    """The absence is told with its cause."""
    chart = build_message_api_chart(provider=Model("hello"), get_run_id=lambda: None)
    result = await chart.run({"message": "hi"})
    assert receipt_at(result, 1) is None
    absence = served_at(result, 1).absence
    assert absence is not None
    assert (absence.code, absence.cause) == ("no-receipt-on-chart", "no-receipt-committed")


class Recorder:
    def __init__(self) -> None:
        self.told: list[tuple[str, Any]] = []

    def on_stage_added(self, stage: Any) -> None:
        self.told.append(("stage", stage["subflow_path"] + "/" + stage["stage_id"]))

    def on_loop_edge_added(self, edge: Any) -> None:
        self.told.append(("back", (edge["from"], edge["to"])))

    def on_decider_complete(self, decider: Any) -> None:
        self.told.append((decider["decider"], decider["branch_ids"]))


def test_recorders_are_told_of_the_structure() -> None:
    """Stages with the sub-charts they stand in, branches, and ways back."""
    recorder, charts = Recorder(), list[Any]()
    built = build_message_api_chart(
        config(None, tool("work")), structure_recorders=[recorder, charts.append]
    )
    assert charts == [built.chart]
    assert ("stage", "/seed") in recorder.told
    assert ("stage", "sf-messages/apply-strategy") in recorder.told
    assert ("context", [PROMPT, MESSAGES, TOOLS]) in recorder.told
    assert ("sf-route", ["tool-calls", "final"]) in recorder.told
    assert ("back", ("tool-calls", "context")) in recorder.told


def test_a_field_that_is_none_is_told() -> None:
    """With the one that was meant."""
    with pytest.raises(CallerError, match='has no "system_promt"') as caught:
        build_message_api_chart(system_promt="x")
    assert caught.value.hint == 'did you mean "system_prompt"?'


def test_a_configuration_is_changed_by_fields() -> None:
    """They come on top of it."""
    made = AgentLoopConfig(name="one", id="one")
    assert build_message_api_chart(made, id="two").chart.id == "two"
