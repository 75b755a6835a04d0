"""Promise: a run begins with the conversation so far, made whole, and with what is due."""

from __future__ import annotations

from typing import Any

from saywhy.agent.instructions.follow_up import quick_bind
from saywhy.agent.instructions.rule import LLMInstruction
from saywhy.agent.loop.config import AgentLoopSeedOptions
from saywhy.agent.loop.history import NOT_MADE
from saywhy.models.chat import problems_of
from saywhy.values import thaw
from tests.agent.loop.conftest import Form, Model, answers, config, talk, tool


def why(strict: bool = True) -> Any:
    """An order whose denial can be explained."""
    bind = quick_bind("explain", "trace", "Explain it", "User asks why", strict=strict)
    return tool(
        "order",
        lambda args: {"trace": "tr_9"},
        instructions=[LLMInstruction("why", text="Denied.", follow_up=bind)],
    )


def explain(args: Any) -> str:
    return f"because of {args['trace']}"


async def test_calls_left_open_are_closed_before_the_next_turn(form: Form) -> None:
    """A run that ended at its limit leaves calls unanswered; vendors refuse such a conversation."""
    history = [
        {"role": "user", "content": "go"},
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"id": "a", "name": "x", "arguments": {}}],
        },
    ]
    model = Model("done")
    result = await form.run(config(model), "next", {"history": history})
    assert problems_of(model.handed()) == []
    assert NOT_MADE in answers(model.handed())["a"]
    assert talk(result)[3] == {"role": "user", "content": "next"}


async def test_an_empty_message_adds_none(form: Form) -> None:
    """The model is asked all the same."""
    model = Model("hm")
    await form.run(config(model, system_prompt="S"), "")
    assert model.handed() == [{"role": "system", "content": "S"}]


async def test_a_seed_is_what_a_run_begins_with(form: Form) -> None:
    """Without arguments the conversation of the seed is gone on with."""
    seed = AgentLoopSeedOptions(messages=[{"role": "user", "content": "hello"}])
    model = Model("hi")
    result = await form.build(config(model), seed).run()
    assert model.handed() == [{"role": "user", "content": "hello"}]
    assert result.state["userMessage"] == "hello"


async def test_a_system_prompt_of_before_is_replaced(form: Form) -> None:
    """There is one system message, the newest; without a prompt the history stays as it is."""
    history = [{"role": "system", "content": "old"}, {"role": "user", "content": "a"}]
    model = Model("x")
    result = await form.run(config(model, system_prompt="new"), "b", {"history": history})
    assert [one["content"] for one in talk(result)] == ["new", "a", "b", "x"]
    model = Model("x")
    await form.run(config(model), "b", {"history": history})
    assert [one["content"] for one in model.handed()] == ["old", "a", "b"]


async def test_a_strict_follow_up_is_carried_out_before_the_model_is_asked(form: Form) -> None:
    """With its exact arguments, through the same calls as all others; ids count from 1."""
    model = Model([("1", "order", {})], "Denied.")
    tools = [why(), tool("explain", explain)]
    first = await form.run(config(model, *tools))
    pending = thaw(first.state["strictFollowUp"])
    assert pending["follow_up"]["params"] == {"trace": "tr_9"}
    signals: list[str] = []
    model = Model("Because.")
    args = {"history": talk(first), "pending": pending, "strictCalls": 4}
    result = await form.run(
        config(model, *tools), "why?", args, listener=lambda one: signals.append(one.kind)
    )
    assert model.handed()[-3:] == [
        {"role": "user", "content": "why?"},
        {
            "role": "assistant",
            "content": "Using Explain it.",
            "tool_calls": [
                {"id": "auto-strict-5", "name": "explain", "arguments": {"trace": "tr_9"}}
            ],
        },
        {"role": "tool", "content": "because of tr_9", "tool_call_id": "auto-strict-5"},
    ]
    assert signals[:4] == ["turn_start", "tool_start", "tool_end", "llm_start"]
    assert (result.state["strictCalls"], result.state["loopCount"]) == (5, 0)
    seed = result.commits[0]
    assert seed.facts["strict"]["words"] == ["why"]
    assert seed.facts["strict"]["rule"] == pending["rule_id"] == "why"


async def test_a_message_that_asks_for_something_else_takes_the_offer_away(form: Form) -> None:
    """Nothing is called; what was tried stands in the record."""
    first = await form.run(config(Model([("1", "order", {})], "Denied."), why(), tool("explain")))
    model = Model("Welcome.")
    args = {"pending": first.state["strictFollowUp"]}
    result = await form.run(config(model, why(), tool("explain", explain)), "thanks", args)
    assert model.handed() == [{"role": "user", "content": "thanks"}]
    assert result.commits[0].facts["strict"]["matched"] is False
    assert "strictFollowUp" not in result.state


async def test_a_strict_follow_up_with_wrong_arguments_or_a_raising_tool_is_told(
    form: Form,
) -> None:
    """It takes the way of all calls: checked, and an error is data."""
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}

    def broken(args: Any) -> Any:
        raise RuntimeError("no")

    for target, text in (
        (tool("explain", schema=schema), "Required field 'n' is missing."),
        (tool("explain", broken), '"message":"no"'),
    ):
        model = Model("hm")
        follow_up = {"tool_id": "explain", "params": {}, "description": "Explain"}
        await form.run(config(model, target), "why?", {"followUp": follow_up})
        assert text in answers(model.handed())["auto-strict-1"]


async def test_an_unknown_target_changes_nothing(form: Form) -> None:
    """The record says so."""
    model = Model("hm")
    args = {"followUp": {"tool_id": "gone", "params": {}}}
    result = await form.run(config(model), "why?", args)
    assert model.handed() == [{"role": "user", "content": "why?"}]
    assert result.commits[0].facts["strictTarget"] == "gone is not known"
