"""Promise: a swarm hands out one task at a time, and every call has exactly one result."""

from __future__ import annotations

from typing import Any

import pytest

from saywhy.agent.tools import define_tool
from saywhy.errors import CallerError, DefinitionError, ModelError
from saywhy.models.chat import problems_of
from saywhy.runtime.agents.agent import Agent
from saywhy.runtime.agents.swarm import Specialist, Swarm
from tests.runtime.agents.models import Replies, call, calls

DEFERRED = "Deferred — will be handled in next iteration."


def results(messages: Any) -> list[tuple[str, str]]:
    return [(one["tool_call_id"], one["content"]) for one in messages if one["role"] == "tool"]


def echo(message: str) -> str:
    return f"did {message}"


async def test_one_at_a_time() -> None:
    """The first call that names a specialist decides; others are put off, and asked for again."""
    model = Replies(
        calls(call("a", "1", message="m1"), call("b", "2", message="m2"), call("zap", "3")),
        calls(call("b", "4", message="m3")),
        "end",
    )
    runner = Swarm(model, [Specialist("a", echo, "A"), Specialist("b", echo, "B")])
    result = await runner.run("x")
    assert results(result.messages) == [
        ("1", "did m1"),
        ("2", DEFERRED),
        ("3", "Unknown tool: zap"),
        ("4", "did m3"),
    ]
    assert result.agents == ("a", "b")
    assert [(one.message, one.content) for one in result.delegated] == [
        ("m1", "did m1"),
        ("m3", "did m3"),
    ]
    assert not problems_of(list(result.messages))
    decided = [
        one.decision.chosen
        for one in runner.trace
        if one.decision and one.node == "route-specialist"
    ]
    assert decided == ["a", "b", "final"]


async def test_further_tools_run_together() -> None:
    """In order, when the first call names one; a specialist waits then."""
    ran: list[str] = []

    def tool(id: str) -> Any:
        def handler(arguments: Any) -> str:
            ran.append(id)
            if id == "bad":
                raise RuntimeError("oops")
            return id

        return define_tool(id, "A tool.", {}, handler)

    model = Replies(
        calls(call("good", "1"), call("a", "2", message="m"), call("bad", "3"), call("zap", "4")),
        "end",
    )
    runner = Swarm(model, [Specialist("a", echo)], tools=[tool("good"), tool("bad")])
    result = await runner.run("x")
    assert ran == ["good", "bad"]
    assert results(result.messages) == [
        ("1", "good"),
        ("2", DEFERRED),
        ("3", "Error: oops"),
        ("4", "Unknown tool: zap"),
    ]
    assert result.delegated == ()


async def test_a_known_tool_waits_for_a_specialist() -> None:
    """It is put off, and not called unknown."""
    tool = define_tool("good", "A tool.", {}, lambda arguments: "good")
    model = Replies(calls(call("a", "1", message="m"), call("good", "2")), "end")
    result = await Swarm(model, [Specialist("a", echo)], tools=[tool]).run("x")
    assert results(result.messages) == [("1", "did m"), ("2", DEFERRED)]


async def test_only_unknown_names_end_it() -> None:
    """Each call is answered, so that the next turn can go on from there."""
    model = Replies(calls(call("zap", "1"), call("zop", "2"), text="I tried"), "fine")
    runner = Swarm(model, [Specialist("a", echo)])
    result = await runner.run("x")
    assert result.content == "I tried"
    assert results(result.messages) == [("1", "Unknown tool: zap"), ("2", "Unknown tool: zop")]
    assert (await runner.run("y")).content == "fine"
    assert not problems_of(model.messages[1])


async def test_a_specialist_that_fails_is_told_to_the_model() -> None:
    """It may ask somebody else."""
    model = Replies(calls(call("a", "1", message="m")), "sorry")
    broken = Agent(Replies(ModelError("down")))
    result = await Swarm(model, [Specialist("a", broken)]).run("x")
    assert results(result.messages) == [("1", "Agent error: down")]
    assert result.delegated[0].error == "down"


async def test_a_long_message_is_cut() -> None:
    """A model cannot hand over more than there is room for."""
    heard: list[str] = []
    model = Replies(calls(call("a", "1", message="x" * 100_001)), "end")
    await Swarm(model, [Specialist("a", lambda message: heard.append(message) or "ok")]).run("x")
    assert len(heard[0]) == 100_000


async def test_wrong_arguments_are_told() -> None:
    """The specialist is not run without a task."""
    model = Replies(calls(call("a", "1")), "end")
    result = await Swarm(model, [Specialist("a", echo)]).run("x")
    assert results(result.messages) == [
        ("1", "Error: Invalid arguments for 'a': message: Required field 'message' is missing.")
    ]
    assert result.agents == ()


async def test_the_rounds_are_bounded() -> None:
    """A model that only ever delegates comes to an end."""
    model = Replies(*[calls(call("a", str(n), message="m")) for n in range(4)])
    result = await Swarm(model, [Specialist("a", echo)], max_iterations=3).run("x")
    assert (result.iterations, result.stop_reason) == (3, "max_iterations")


def test_step_by_step() -> None:
    """As an agent is written."""
    swarm = Swarm.create(Replies()).specialist("a", echo, "A").system("P").build()
    assert swarm.definition.system.startswith("P\n\nYou have access")
    assert [tool.id for tool in swarm.definition.tools] == ["a"]


def test_what_is_wrong_is_told_at_once() -> None:
    """Ids, runners, and options that a swarm fills itself."""
    with pytest.raises(DefinitionError) as caught:
        Swarm(Replies(), [Specialist("1", 3)], tool_concurrency=2)
    assert [one.message for one in caught.value.problems] == [
        "'1' is no id of a specialist",
        'the specialist "1" is int, which cannot be run',
        "a swarm takes no tool_concurrency",
    ]
    with pytest.raises(CallerError, match="3 is no specialist"):
        Swarm(Replies(), [3])  # type: ignore[list-item]
