"""Promise: all calls of a reply are made in order and answered once each; people are asked last."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from saywhy.agent.instructions.rule import LLMInstruction
from saywhy.agent.tools import ask_human
from saywhy.chart.outcome import Need
from saywhy.models.chat import problems_of
from saywhy.models.provider import ModelReply, ToolCallPiece
from saywhy.tools.tool_result import ToolResult
from saywhy.values import FrozenDict
from tests.agent.loop.conftest import Form, Model, answers, config, facts_of, talk, tool

NUMBER = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


class Refused(Exception):
    code = "E7"


def refuse(args: Any) -> Any:
    raise Refused("not today")


async def test_every_way_a_call_may_end_is_one_message(form: Form) -> None:
    """A value, a raised error, an unknown name, wrong arguments, an error as a result."""
    tools = [
        tool("value", lambda args: {"ok": args["n"]}, schema=NUMBER),
        tool("raise", refuse),
        tool("wrong", lambda args: ToolResult("no such order", error=True)),
    ]
    model = Model(
        [
            ("1", "value", {"n": 3}),
            ("2", "raise", {}),
            ("3", "nope\n", {}),
            ("4", "value", {"n": "three"}),
            ("5", "wrong", {}),
        ],
        "done",
    )
    result = await form.run(config(model, *tools))
    assert answers(model.handed()) == {
        "1": '{"ok":3}',
        "2": '{"error":true,"message":"not today"}',
        "3": '{"error":true,"message":"Tool \'nope\' not found"}',
        "4": '{"error":true,"message":"Invalid arguments for \'value\': n: Expected integer for '
        "'n', got string.\"}",
        "5": "no such order",
    }
    told = [(one["callId"], one["error"], one.get("code")) for one in facts_of(result, "calls")]
    assert told == [
        ("1", False, None),
        ("2", True, "E7"),
        ("3", True, "NOT_FOUND"),
        ("4", True, "INVALID_INPUT"),
        ("5", True, None),
    ]
    assert problems_of(talk(result)) == []
    assert result.state["loopCount"] == 1


async def test_rules_of_the_result_see_the_code_of_an_error(form: Form) -> None:
    """What a handler raised has its code in the context; wrong arguments are no result at all."""
    rule = LLMInstruction(
        "sorry", when=lambda ctx: ctx.error.code == "E7", text="Say you are sorry."
    )
    always = LLMInstruction("always", text="Never for wrong arguments.")
    tools = [
        tool("raise", refuse, instructions=[rule]),
        tool("value", schema=NUMBER, instructions=[always]),
    ]
    model = Model([("1", "raise", {}), ("2", "value", {})], "done")
    await form.run(config(model, *tools))
    said = answers(model.handed())
    assert said["1"].endswith("\n\n[INSTRUCTION] Say you are sorry.")
    assert "Never" not in said["2"]


async def test_side_by_side_gives_what_one_after_the_other_gives(form: Form) -> None:
    """Order, instructions and decisions are those of the calls, however long each took."""
    running, most = 0, 0

    async def slow(args: Any) -> Any:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.02 - args["n"] / 200)
        running -= 1
        return {"n": args["n"]}

    def note(decision: Any, ctx: Any) -> None:
        decision.seen = [*decision.get("seen", []), ctx.content["n"]]

    rule = LLMInstruction("note", text="Noted.", decide=note)
    tools = [tool("slow", slow, schema=NUMBER, instructions=[rule])]
    calls = [(str(n), "slow", {"n": n}) for n in range(4)] + [("x", "nope", {})]
    seen: list[Any] = []
    for concurrency in (1, 2):
        running, most = 0, 0
        model = Model(calls, "done")
        made = config(model, *tools, tool_concurrency=concurrency)
        result = await form.run(made)
        seen.append((talk(result), dict(result.state["decision"]), result.state["loopCount"]))
        assert most == concurrency
    assert seen[0] == seen[1]
    assert list(seen[0][1]["seen"]) == [0, 1, 2, 3]


async def test_people_are_asked_last_and_one_after_the_other(form: Form) -> None:
    """The other calls are made before; each question rests the run, through JSON; order is kept."""
    made: list[str] = []

    def work(args: Any) -> str:
        made.append("work")
        return "worked"

    first = Model(
        [
            ("h1", "ask_human", {"question": "Sure?"}),
            ("w", "work", {}),
            ("h2", "ask_human", {"question": "Really?"}),
        ]
    )
    tools = [ask_human(), tool("work", work)]
    paused = await form.run(config(first, *tools))
    assert paused.need == Need(
        "user", "ask_human", FrozenDict({"question": "Sure?", "toolCallId": "h1"}), "reads"
    )
    assert made == ["work"]
    later = Model("Done.")
    again = form.build(config(later, *tools))  # as in another process
    second = await again.resume(paused.checkpoint(), "yes")
    assert second.need is not None
    assert second.need.args["question"] == "Really?"
    result = await again.resume(second.checkpoint(), "yes, really")
    assert (made, result.value, result.state["loopCount"]) == (["work"], "Done.", 1)
    handed = [one for one in later.handed() if one["role"] == "tool"]
    assert [(one["tool_call_id"], one["content"]) for one in handed] == [
        ("h1", "yes"),
        ("w", "worked"),
        ("h2", "yes, really"),
    ]


async def test_the_same_call_for_ever_ends_at_the_limit(form: Form) -> None:
    """So many rounds and one call more; the answer says why it ends."""
    model = Model(*[[("c", "again", {})] for _ in range(9)])
    result = await form.run(config(model, tool("again"), max_iterations=3))
    assert len(model.asked) == 4
    assert (result.state["stopReason"], result.state["loopCount"]) == ("max_iterations", 3)


async def test_without_rounds_no_tool_runs(form: Form) -> None:
    """With a limit of 0 the first reply is the answer, whatever it asks for."""
    made: list[str] = []
    model = Model([("c", "work", {})])
    result = await form.run(config(model, tool("work", made.append), max_iterations=0))
    assert (made, result.state["stopReason"], result.value) == ([], "max_iterations", "")


@pytest.mark.parametrize("concurrency", [1, 3])
async def test_too_many_calls_are_not_made(form: Form, concurrency: int) -> None:
    """A reply may ask for a hundred calls and some; those beyond get an error as answer."""
    made: list[Any] = []
    pieces = tuple(ToolCallPiece(str(n), "work", {"n": n}) for n in range(130))
    model = Model(ModelReply("", tool_calls=pieces), "done")
    work = tool("work", made.append)
    result = await form.run(config(model, work, tool_concurrency=concurrency))
    assert len(made) == 128
    said = answers(talk(result))
    assert said["129"] == '{"error":true,"message":"More than 128 calls in one reply"}'
    assert len(said) == 130


async def test_a_run_that_is_cancelled_in_a_tool_leaves_nothing_running(form: Form) -> None:
    """The handler is cancelled; what it is told by is the token of the run."""
    from saywhy.cancel import CancelToken
    from saywhy.chart.built import RunCancelled

    token, seen = CancelToken(), list[Any]()

    async def hang(args: Any, context: Any) -> Any:
        seen.append(context.signal)
        token.cancel("enough")
        await asyncio.Event().wait()

    model = Model([("1", "hang", {})])
    with pytest.raises(RunCancelled, match="enough") as caught:
        await form.run(config(model, tool("hang", hang)), signal=token)
    assert seen == [token]
    assert asyncio.all_tasks() == {asyncio.current_task()}
    last = caught.value.result.commits[-1]
    assert last.facts == {"how": "cancelled", "reason": "enough"}
