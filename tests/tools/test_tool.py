"""Promise: a definition or a Python function becomes a tool that says all there is to know."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from saywhy.errors import DefinitionError, Place
from saywhy.tools.call import CallContext
from saywhy.tools.tool import RateLimit, tool_from_definition, tool_from_function

LOCAL = {"type": "local", "function": "work"}


def test_everything_an_author_may_say() -> None:
    """Each key of a definition is found on the tool."""
    raw = {
        "id": "charge-card",
        "name": "Charge",
        "description": "Takes the money",
        "parameters": {"type": "object", "properties": {"amount": {"type": "number"}}},
        "implementation": {"type": "local", "function": "charge", "timeout": 200, "retries": 2},
        "security": {"rateLimit": {"requests": 3, "window": 60_000}, "requiresAuth": True},
        "effect": "repeatable",
        "returns": {"type": "object"},
        "category": "money",
    }
    tool = tool_from_definition(raw, Place(file="t.json", line=3))
    assert (tool.id, tool.name, tool.description) == ("charge-card", "Charge", "Takes the money")
    assert (tool.style, tool.positional_order) == ("object", ())
    assert tool.properties == {"amount": {"type": "number"}}
    assert tool.required == ()
    implementation = tool.implementation
    assert (implementation.type, implementation.function) == ("local", "charge")
    assert (implementation.timeout_ms, implementation.retries) == (200, 2)
    assert tool.rate_limit == RateLimit(3, 60_000)
    assert tool.effect == "repeatable"
    assert tool.returns == {"type": "object"}
    assert tool.raw["category"] == "money"
    assert str(tool.place) == "t.json:3"


def test_the_shortest_definition() -> None:
    """Id and implementation are enough; the name is the id, and the other way round."""
    tool = tool_from_definition({"id": "Work", "implementation": LOCAL})
    assert (tool.id, tool.name, tool.description) == ("Work", "Work", "")
    assert (tool.implementation.timeout_ms, tool.implementation.retries) == (5000, 0)
    assert tool.rate_limit is None
    named = tool_from_definition({"name": "Work", "implementation": LOCAL})
    assert (named.id, named.name) == ("Work", "Work")


@pytest.mark.parametrize(
    ("implementation", "effect"),
    [
        (LOCAL, "once"),
        ({"type": "mock"}, "reads"),
        ({"type": "mcp", "server": {"command": ["s"]}, "tool": "t"}, "once"),
        ({"type": "http", "url": "https://a.example"}, "once"),
        ({"type": "http", "url": "https://a.example", "method": "get"}, "reads"),
        ({"type": "http", "url": "https://a.example", "method": "HEAD"}, "reads"),
        ({"type": "http", "url": "https://a.example", "method": "DELETE"}, "once"),
    ],
)
def test_the_effect_of_a_tool_that_does_not_say(
    implementation: dict[str, Any], effect: str
) -> None:
    """Where nothing is known, a repeat is assumed to do harm."""
    assert tool_from_definition({"id": "Work", "implementation": implementation}).effect == effect


def test_http_tools_have_their_own_time_limit() -> None:
    """Twenty seconds, where local functions have five."""
    implementation = {"type": "http", "url": "https://example.com"}
    tool = tool_from_definition({"id": "Work", "implementation": implementation})
    assert tool.implementation.timeout_ms == 20_000


def test_a_bad_definition_raises_all_its_problems() -> None:
    """The error renders every problem with its place and hint."""
    with pytest.raises(DefinitionError) as caught:
        tool_from_definition(
            {"id": "Work", "implementation": {"type": "locl", "timeout": -1}},
            Place(file="t.json", line=3, column=5, pointer="/0"),
        )
    assert str(caught.value) == (
        't.json:3:5  /0/implementation/type: error: tool Work is of the unknown type "locl"\n'
        '    did you mean "local"?\n'
        "    known here: local, http, mock, mcp\n"
        "t.json:3:5  /0/implementation/timeout: error: "
        "`timeout` of tool Work must be a number above 0, not -1\n"
        "    milliseconds; leave it out for 5000 (local) or 20000 (http, mcp)"
    )


def test_a_warning_stops_nobody() -> None:
    """A tool with a broken `returns` works."""
    raw = {"id": "Work", "implementation": LOCAL, "returns": {"type": "text"}}
    assert tool_from_definition(raw).returns == {"type": "text"}


def test_flat_parameters_that_are_no_schemas_are_still_parameters() -> None:
    """Hosts wrote them as documentation; what they say is kept, not enforced."""
    raw = {"id": "Work", "parameters": {"a": {"type": "text"}}, "implementation": LOCAL}
    tool = tool_from_definition(raw)
    assert (tool.style, tool.positional_order) == ("positional", ("a",))
    assert tool.checker.is_valid({"a": 1})


def test_the_definition_may_change_afterwards() -> None:
    """A tool keeps its own copy."""
    raw: dict[str, Any] = {"id": "Work", "implementation": dict(LOCAL)}
    tool = tool_from_definition(raw)
    raw["implementation"]["function"] = "other"
    assert tool.implementation.raw["function"] == "work"


def charge(amount: float, payee: str = "shop", *, context: CallContext) -> str:
    """Charges a card.

    More about it.
    """
    return f"{amount} to {payee} under {context.key}"


def test_a_function_as_a_tool() -> None:
    """Name, summary and schema come from the function; `context` is not a parameter."""
    tool, function = tool_from_function(charge)
    assert (tool.id, tool.name, tool.description) == ("charge", "charge", "Charges a card.")
    assert tool.schema == {
        "type": "object",
        "properties": {
            "amount": {"type": "number"},
            "payee": {"type": "string", "default": "shop"},
        },
        "required": ["amount"],
        "additionalProperties": False,
    }
    assert (tool.style, tool.effect, tool.implementation.function) == ("object", "once", "charge")
    assert function({"amount": 3}, context=CallContext(key="k")) == "3.0 to shop under k"


def test_a_function_as_a_tool_in_other_words() -> None:
    """Whatever the function says can be said otherwise."""
    limit = RateLimit(2, 1000)
    tool, function = tool_from_function(
        charge,
        name="pay",
        description="Pays",
        schema={"type": "object", "properties": {"amount": {"type": "string"}}},
        effect="repeatable",
        timeout_ms=100,
        retries=1,
        rate_limit=limit,
        returns={"type": "string"},
    )
    assert (tool.id, tool.description, tool.effect) == ("pay", "Pays", "repeatable")
    assert tool.properties == {"amount": {"type": "string"}}
    assert (tool.implementation.timeout_ms, tool.implementation.retries) == (100, 1)
    assert (tool.rate_limit, tool.returns) == (limit, {"type": "string"})
    assert function({"amount": "3"}, context=CallContext(key="k")) == "3 to shop under k"


def test_an_async_function_as_a_tool() -> None:
    """What is to be awaited gives something to await."""

    async def look(q: str) -> str:
        return q.upper()

    tool, function = tool_from_function(look, effect="reads")
    assert tool.effect == "reads"
    assert asyncio.run(function({"q": "x"})) == "X"


def test_tools_are_compared_by_identity() -> None:
    """Two tools are two, even when they are defined alike; so they can be keys."""
    raw = {"id": "Work", "implementation": LOCAL}
    assert tool_from_definition(raw) != tool_from_definition(raw)
    assert {tool_from_definition(raw): 1}
