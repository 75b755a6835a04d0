"""CALL-TOOL: with which arguments, and what is kept of the call."""

from __future__ import annotations

from typing import Any

import pytest

from saywhy.testing import FakeClock
from saywhy.tools.invocation import CallContext
from tests.flows.conftest import NOW, ask, engine_of, flow, local_tool, put, say, talk, use


class Tool:
    """A function that remembers what it was called with, and may change it."""

    def __init__(self, change: Any = None, gives: Any = "ok") -> None:
        self.calls: list[Any] = []
        self.change = change
        self.gives = gives

    def __call__(self, args: dict[str, Any]) -> Any:
        self.calls.append(dict(args))
        if self.change is not None:
            self.change(args)
        return self.gives


def engine(tool: Tool, *steps: dict[str, Any], properties: Any = None, **options: Any) -> Any:
    definition = local_tool("t")
    definition["parameters"]["properties"] = properties or {}
    return engine_of(flow(*steps), tools=[definition], functions={"t": tool}, **options)


async def test_arguments_are_filled_from_paths() -> None:
    """Whole values keep their type; what is missing is empty text; functions get copies."""
    tool = Tool()
    args = {
        "n": "{{a}}",
        "text": "<{{a}}>",
        "missing": "{{ghost}}",
        "raw": 5,
        "deep": [{"x": "{{o.k}}"}],
    }
    made = engine(tool, put("a", "1"), put("o", "({k: [2]})"), use("t", args=args), ask("x"))
    await talk(made, "Main")
    assert tool.calls == [{"n": 1, "text": "<1>", "missing": "", "raw": 5, "deep": [{"x": [2]}]}]


@pytest.mark.parametrize("args", [None, {}])
async def test_arguments_nobody_wrote(args: Any) -> None:
    """Variables called like a parameter; else what can be read off the newest words."""
    tool = Tool()
    step = use("t", variable="r", **({} if args is None else {"args": args}))
    made = engine(tool, ask("amount"), step, properties={"amount": {"type": "number"}})
    await talk(made, "Main", "25")
    assert tool.calls == [{"amount": 25}]
    tool = Tool()
    made = engine(tool, ask("other"), step, properties={"city": {"type": "string"}})
    await talk(made, "Main", " Paris ")
    assert tool.calls == [{"city": "Paris"}]
    tool = Tool()
    await talk(engine(tool, ask("other"), step), "Main", "whatever")
    assert tool.calls == [{"userInput": "whatever"}]


async def test_the_record_of_a_call_names_what_it_read() -> None:
    """Asked with its arguments, answered with its result, stored under the variable."""
    made = engine(Tool(gives={"n": 1}), put("a", "1"), use("t", variable="r", args={"n": "{{a}}"}))
    session = await talk(made, "Main")
    asked, answered = (one for one in session.commits if one.kind == "CALL-TOOL")
    assert asked.reads[0][1:] == ("a",)
    assert asked.asked is not None
    assert (asked.asked.name, asked.asked.effect) == ("t", "once")
    assert [op.key[-1] for op in answered.ops] == ["calls", "r"]


async def test_every_attempt_is_told_to_the_host() -> None:
    """Name, kind, transaction and time, in order."""
    clock = FakeClock(NOW)
    tool = {**local_tool("t"), "name": "The tool"}
    made = engine_of(
        flow(use("t"), use("t"), ask("x")), tools=[tool], functions={"t": Tool()}, clock=clock
    )
    session = await talk(made, "Main")
    assert session.frame is not None
    record = {
        "tool": "The tool",
        "implementation": "local",
        "transactionId": session.frame.transaction["id"],
        "at": int(NOW),
    }
    assert session.last_turn_tool_calls == [record, record]
    assert (await talk(made, "1", session=session)).last_turn_tool_calls == []


def change_all(args: dict[str, Any]) -> None:
    args["c"]["added"] = 1
    args["c"].pop("gone", None)
    args["deep"]["list"][1]["k"] = 5
    args["g"]["n"] = 2
    args["text"] = "lost"


async def test_what_a_tool_changes_stays_changed() -> None:
    """In cargo, in variables, however deep in the arguments; a global becomes the flow's copy."""
    args = {
        "c": "{{cargo}}",
        "deep": {"list": [1, "{{o}}"]},
        "g": "{{glob.inner}}",
        "text": "{{a}}",
    }
    shown = say("{{cargo}} {{o}} {{glob}} {{a}}")
    made = engine(
        Tool(change_all),
        put("o", "({k: 1})"),
        put("a", "'kept'"),
        use("t", args=args),
        shown,
        globals={"glob": {"inner": {"n": 1}, "other": 1}},
    )
    session = made.init_session("user-1", "c1")
    session.cargo.update({"gone": 1, "kept": 2})
    session = await talk(made, "Main", session=session)
    said = '{"kept":2,"added":1} {"k":5} {"inner":{"n":2},"other":1} kept'
    assert session.response == said
    assert session.cargo == {"kept": 2, "added": 1}


async def test_what_a_tool_changes_in_arguments_nobody_wrote() -> None:
    """The variable of the parameter's name is changed."""
    made = engine(
        Tool(lambda args: args["o"].update(z=9)),
        put("o", "({k: 1})"),
        use("t"),
        say("{{o}}"),
        properties={"o": {"type": "object"}},
    )
    assert (await talk(made, "Main")).response == '{"k":1,"z":9}'


async def test_a_failed_call_changes_nothing_it_was_handed() -> None:
    """What a failing tool left half changed is not kept."""

    def fail(args: dict[str, Any]) -> None:
        args["c"]["half"] = 1
        raise RuntimeError("no")

    made = engine(Tool(fail), use("t", args={"c": "{{cargo}}"}), say("x"))
    assert (await talk(made, "Main")).cargo == {}


async def test_an_unusable_answer_is_a_failure() -> None:
    """The flow hears of it as of any other."""
    made = engine(Tool(gives=object()), use("t", variable="r"))
    session = await talk(made, "Main")
    assert session.response is not None
    assert session.response.startswith("t did not work: Tool t gave no usable answer")


async def test_all_attempts_share_one_key_and_the_next_call_has_another() -> None:
    """The other side can tell a repetition from a second act."""
    keys: list[str] = []

    def note(args: dict[str, Any], *, context: CallContext) -> None:
        keys.append(context.key)
        if len(keys) < 3:
            raise RuntimeError("timeout")

    made = engine_of(
        flow(use("t"), use("t"), say("x")), tools=[local_tool("t")], functions={"t": note}
    )
    await talk(made, "Main")
    assert keys[0] == keys[1] == keys[2] != keys[3]
