"""Promise: a model is offered what a provider resolves, and a call goes to who offered the tool."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from saywhy.agent.slots.context import SlotContext
from saywhy.agent.slots.offers import (
    CompositeTools,
    composite_tools,
    description_of,
    dynamic_tools,
    gated_tools,
    no_tools,
    static_tools,
    tools_of,
)
from saywhy.agent.slots.permission import PermissionPolicy
from saywhy.agent.tool_reply import ToolReply
from saywhy.agent.tools import AgentTool, define_tool
from saywhy.errors import CallerError
from tests.agent.test_tools import called

NOW = SlotContext("hi", loop_iteration=2)


def made(name: str, says: str = "") -> AgentTool:
    return define_tool(name, says or name.upper(), None, lambda arguments: says or name)


def offered(provider: Any, context: SlotContext = NOW) -> list[str]:
    """What is offered, as name and description."""
    value = provider.resolve(context).value
    return [f"{one.name}: {one.description.description}" for one in value]


def test_nothing() -> None:
    """No tools are a choice of their own."""
    resolved = no_tools().resolve(NOW)
    assert (resolved.value, resolved.chosen) == ((), "none")
    assert no_tools().find("a") is None


async def test_static() -> None:
    """Static tools are offered always and found by name; another name gets an error as reply."""
    provider = static_tools([made("a"), made("b")])
    assert offered(provider) == ["a: A", "b: B"]
    assert provider.resolve(NOW).rationale == "2 tools"
    assert (await called(provider.find("b"))).content == "b"
    assert provider.find("c") == ToolReply("Unknown tool: c", {"message": "Unknown tool: c"})
    with pytest.raises(CallerError, match="two tools of a provider have the id 'a'"):
        static_tools([made("a"), made("a")])


def test_dynamic() -> None:
    """A function of the context offers tools or descriptions; the registry carries them out."""
    provider = dynamic_tools(
        lambda context: [made("a"), {"name": "b", "description": context.message}]
    )
    assert offered(provider) == ["a: A", "b: hi"]
    assert provider.resolve(NOW).chosen == "dynamic"
    assert provider.find("a") is None
    assert offered(dynamic_tools(lambda context: None)) == []


async def test_async_providers() -> None:
    """A provider may be awaited, and what contains one is awaited as well."""

    async def later(context: SlotContext) -> list[Any]:
        return [made("late")]

    provider = gated_tools(composite_tools(later, [made("a")]), ["late"])
    assert provider.is_async
    resolved = await provider.resolve(NOW)
    assert [one.name for one in resolved.value] == ["late"]
    assert resolved.rationale == "1 allowed, 1 blocked: a"


async def test_a_call_goes_to_who_offered_it() -> None:
    """Of two tools with one name the later is offered, at the first's place, and is called."""
    one, other = static_tools([made("a", "first"), made("b")]), static_tools([made("a", "second")])
    provider = composite_tools(one, composite_tools(other))
    assert offered(provider) == ["a: second", "b: B"]
    routes = {offer.name: offer.route for offer in provider.resolve(NOW).value}
    assert routes == {"a": (1, 0), "b": (0,)}
    assert (await called(provider.find("a", routes["a"]))).content == "second"
    assert (await called(provider.find("a", (0,)))).content == "first"


async def test_a_call_without_a_route() -> None:
    """Where it is not known who offered a tool, the last who knows it is called."""
    provider = composite_tools([made("a", "first")], [made("b")], no_tools())
    assert (await called(provider.find("a"))).content == "first"
    assert provider.find("c") == ToolReply("Unknown tool: c", {"message": "Unknown tool: c"})
    assert composite_tools(no_tools()).find("c") is None
    assert isinstance(provider, CompositeTools)


async def test_a_provider_of_the_hosts_own() -> None:
    """`execute` carries out whatever its provider resolved, through the one way of all calls."""

    class Remote:
        def resolve(self, context: SlotContext) -> list[Any]:
            schema = {"properties": {"k": {"type": "string"}}, "required": ["k"]}
            return [{"name": "far", "description": "Far.", "input_schema": schema}]

        async def execute(self, name: str, arguments: Mapping[str, Any]) -> str:
            return f"{name} got {arguments['k']}"

    provider = tools_of(Remote())
    assert offered(provider) == ["far: Far."]
    found = provider.find("far")
    assert isinstance(found, AgentTool)
    assert found.input_schema["required"] == ["k"]
    assert (await called(found, k="x")).content == "far got x"


def test_a_provider_that_only_resolves() -> None:
    """Without `execute` nobody is found, and the registry is asked."""

    class Shown:
        def resolve(self, context: SlotContext) -> list[Any]:
            return [made("a")]

    provider = tools_of(Shown())
    assert offered(provider) == ["a: A"]
    assert provider.find("a") is None


async def test_gated() -> None:
    """What is not allowed is not offered, and is denied when it is called all the same."""
    told: list[tuple[str, str]] = []
    policy = PermissionPolicy(["safe"])
    inner = static_tools([made("safe"), made("danger")])
    provider = gated_tools(inner, policy, lambda name, when: told.append((name, when)))
    assert offered(provider) == ["safe: SAFE"]
    assert provider.resolve(NOW).told == "Chose: gated (1 allowed, 1 blocked: danger)"
    text = (
        'Permission denied: tool "danger" is not available. Available tools are listed in the'
        " system prompt."
    )
    assert provider.find("danger") == ToolReply(text, {"message": text})
    assert (await called(provider.find("safe"))).content == "safe"
    policy.grant("danger")
    assert isinstance(provider.find("danger"), AgentTool)
    assert told == [("danger", "resolve"), ("danger", "resolve"), ("danger", "execute")]


def test_what_allows() -> None:
    """Names, a function and a policy allow; one text is no collection of names."""
    inner = [made("a"), made("b")]
    assert offered(gated_tools(inner, {"a"})) == ["a: A"]
    assert offered(gated_tools(inner, ["*"])) == ["a: A", "b: B"]
    assert offered(gated_tools(inner, lambda name: name == "b")) == ["b: B"]
    with pytest.raises(CallerError, match="takes a collection of names, not one text"):
        gated_tools(inner, "a")


def test_roles() -> None:
    """A role allows what it lists; an unknown one is refused; each change is told once."""
    policy = PermissionPolicy.from_roles({"guest": ["a"], "admin": ["*"]}, "guest")
    told: list[frozenset[str]] = []
    end = policy.on_change(lambda changed: told.append(changed.allowed))
    assert policy.allows("a")
    assert not policy.allows("b")
    policy.set_role("admin")
    assert policy.role == "admin"
    assert policy.allows("b")
    policy.grant("*")
    policy.revoke("*")
    assert not policy.allows("a")
    end()
    policy.grant("x")
    assert told == [frozenset("*"), frozenset()]
    with pytest.raises(CallerError, match="there is no role 'admn' in this policy") as caught:
        policy.set_role("admn")
    assert "admin" in caught.value.hint
    assert policy.allowed == frozenset("x")


def test_what_is_no_provider() -> None:
    """What cannot be a provider, and a description without a name, are refused."""
    with pytest.raises(CallerError, match="a provider of tools is no str"):
        tools_of("a")
    with pytest.raises(CallerError, match="a tool was described without a name"):
        description_of({"description": "x"})
    assert offered(tools_of(None)) == []
