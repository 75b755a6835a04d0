"""Promise: a Python function becomes a tool as it is, and can still be called."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from saywhy import Engine, tool
from saywhy.errors import CallerError
from saywhy.tools.call import CallContext

CALL = {
    "id": "call",
    "type": "CALL-TOOL",
    "tool": "double",
    "args": {"amount": 4},
    "variable": "r",
    "onFail": [{"id": "f", "type": "SAY", "value": "failed: {{r}}"}],
}
FLOW = {
    "id": "go",
    "name": "Go",
    "version": "1.0",
    "prompt": "go",
    "description": "Goes",
    "steps": [
        CALL,
        {"id": "say", "type": "SAY", "value": "{{r}}"},
    ],
}


def run(*tools: Any, **options: Any) -> Any:
    async def turn() -> Any:
        engine = Engine(flows=[FLOW], tools=list(tools), strict=True, **options)
        return await engine.update_activity("go", engine.init_session("ann"))

    return asyncio.run(turn())


def double(amount: float, times: int = 2) -> float:
    """Makes more of an amount.

    A second paragraph is for programmers.
    """
    return amount * times


def test_the_definition_is_read_off_the_function() -> None:
    """Name, parameters, defaults, description; it acts once unless it says otherwise."""
    made = tool(double)
    assert made.raw["id"] == made.raw["name"] == "double"
    assert made.raw["description"] == "Makes more of an amount."
    assert made.raw["effect"] == "once"
    assert made.raw["parameters"]["required"] == ["amount"]
    assert made.raw["parameters"]["properties"]["times"] == {"type": "integer", "default": 2}
    assert made(3) == 6
    assert made.__doc__ == double.__doc__
    assert repr(made) == "<tool double>"


def test_further_keys_are_those_of_a_tool_file() -> None:
    """What a file can say, a function can say."""
    made = tool(effect="reads", name="twice", cache={"ttl": "5m"}, riskLevel="low")(double)
    assert made.raw["id"] == "twice"
    assert made.raw["cache"] == {"ttl": "5m"}
    assert made.raw["riskLevel"] == "low"


@pytest.mark.parametrize("given", [double, tool(double), tool(effect="reads")(double)])
def test_an_engine_takes_functions(given: Any) -> None:
    """Bare or decorated, beside definitions and files, with nothing to register."""
    session = run(given)
    assert session.response == "8"
    assert session.last_turn_tool_calls[0]["tool"] == "double"


def test_a_tool_of_the_same_name_as_an_approved_function() -> None:
    """What expressions call is another thing: each is called in its own way."""
    session = run(tool(double), functions={"double": lambda: "expressions call this"})
    assert session.response == "8"


def test_a_wrong_argument_is_refused_by_its_schema() -> None:
    """The function is not called."""
    flow = {**FLOW, "steps": [{**CALL, "args": {"amount": "{{userInput}}"}}]}

    async def turn() -> Any:
        engine = Engine(flows=[flow], tools=[double])
        return await engine.update_activity("go", engine.init_session("ann"))

    assert asyncio.run(turn()).response == (
        "failed: Tool argument validation failed: amount must be a number, not text"
    )


def test_who_calls_and_under_which_key() -> None:
    """A parameter called `context` is ours, and no argument."""
    seen: list[CallContext] = []

    @tool(name="double")
    async def charge(amount: float, context: CallContext) -> str:
        seen.append(context)
        return "paid"

    assert run(charge).response == "paid"
    assert "context" not in charge.raw["parameters"]["properties"]
    assert (seen[0].user_id, seen[0].attempt) == ("ann", 1)
    assert seen[0].key.startswith(seen[0].session_id)


def test_a_schema_given() -> None:
    """Then the signature is not read, and arguments arrive by name as they are."""
    schema = {"type": "object", "properties": {"amount": {"type": "number", "maximum": 3}}}
    made = tool(schema=schema, name="double")(double)
    assert run(made).response.startswith(
        "failed: Tool argument validation failed: amount must be at most 3"
    )


def test_what_is_no_function() -> None:
    """`@tool("name")` is a slip that would else fail much later."""
    with pytest.raises(CallerError) as caught:
        tool("charge")  # pyright: ignore[reportCallIssue, reportArgumentType]
    assert caught.value.message == "a tool is made of a function, not of str"
    assert caught.value.hint == '@tool(name="charge") names it'
