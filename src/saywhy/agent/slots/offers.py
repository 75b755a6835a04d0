"""Which tools a model is offered, and who carries out a call of one.

A provider resolves to tools, and finds the one a call names. What it finds is called in the one way
of all tools, so arguments are checked and results are treated alike wherever a tool comes from. A
provider that does not know a name says so by None: then the agent's own registry is asked.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, Protocol, TypeAlias

import msgspec

from saywhy.agent.slots.awaiting import all_of
from saywhy.agent.slots.context import SlotContext, is_async
from saywhy.agent.slots.permission import PermissionPolicy
from saywhy.agent.slots.resolved import STATIC, Resolved, resolved_of
from saywhy.agent.tool_reply import ToolReply
from saywhy.agent.tools import AgentTool, LLMToolDescription, agent_tool, define_tool
from saywhy.errors import CallerError
from saywhy.values import thaw

Route = tuple[int, ...]
"""Through which members of composites a tool was offered, outermost first."""

DENIED: Final = (
    'Permission denied: tool "{}" is not available. Available tools are listed in the system'
    " prompt."
)
UNKNOWN: Final = "Unknown tool: {}"


class Offer(msgspec.Struct, frozen=True):
    """A tool that is offered, and who offers it."""

    description: LLMToolDescription
    tool: AgentTool | None = None
    """None: it is only described here, and the registry carries it out."""
    route: Route = ()

    @property
    def name(self) -> str:
        """What the model calls it by."""
        return self.description.name


Found: TypeAlias = AgentTool | ToolReply | None
"""A tool to call, the reply in place of a call, or None: nobody here knows the name."""


class ToolProvider(Protocol):
    """Offers tools for a moment, and finds the one that is called."""

    @property
    def is_async(self) -> bool: ...

    def resolve(self, context: SlotContext, /) -> Any:
        """A `Resolved` tuple of `Offer`; where `is_async`, something to await that gives one."""
        ...

    def find(self, name: str, route: Route = (), /) -> Found:
        """Who carries out a call of `name`, that was offered along `route`."""
        ...


class NoTools:
    """Offers nothing."""

    is_async = False

    def resolve(self, context: SlotContext, /) -> Resolved[tuple[Offer, ...]]:
        """Nothing."""
        return Resolved((), "none")

    def find(self, name: str, route: Route = (), /) -> Found:
        """Nobody."""
        return None


class StaticTools:
    """Offers the same tools always."""

    is_async = False

    def __init__(self, tools: Iterable[Any]) -> None:
        self._tools: dict[str, AgentTool] = {}
        for one in tools:
            tool = agent_tool(one)
            if tool.id in self._tools:
                raise CallerError(
                    f"two tools of a provider have the id '{tool.id}'",
                    hint="give one of them another id",
                )
            self._tools[tool.id] = tool
        offers = tuple(Offer(tool.describe(), tool) for tool in self._tools.values())
        self.resolved = Resolved(offers, STATIC, f"{len(offers)} tools")

    def resolve(self, context: SlotContext, /) -> Resolved[tuple[Offer, ...]]:
        """All of them."""
        return self.resolved

    def find(self, name: str, route: Route = (), /) -> Found:
        """The tool, or the reply that there is none."""
        return self._tools.get(name) or refused(UNKNOWN.format(name))


class DynamicTools:
    """Offers what a function gives for the context. Calls are carried out by the registry.

    What it gives with a handler, an `AgentTool` for instance, it only describes: a run that is
    resumed elsewhere has the registry and not the moment.
    """

    def __init__(self, function: Callable[[SlotContext], Any]) -> None:
        self._function = function
        self.is_async = is_async(function)

    def resolve(self, context: SlotContext, /) -> Any:
        """What the function gives."""
        given = self._function(context)
        return self._later(given) if self.is_async else self._offered(given)

    async def _later(self, given: Awaitable[Any]) -> Resolved[tuple[Offer, ...]]:
        return self._offered(await given)

    def _offered(self, given: Any) -> Resolved[tuple[Offer, ...]]:
        resolved = resolved_of(given, "dynamic")
        offers = tuple(Offer(description_of(one)) for one in resolved.value or ())
        told = resolved.rationale or f"{len(offers)} tools"
        return Resolved(offers, resolved.chosen, told)

    def find(self, name: str, route: Route = (), /) -> Found:
        """Nobody here: the registry is asked."""
        return None


class CustomTools:
    """A provider of the host's own: `resolve(context)`, and `execute(name, arguments)` if it can.

    `execute` is called like the handler of any tool; a parameter `context` gets the call's.
    """

    def __init__(self, provider: Any) -> None:
        self._provider = provider
        self._execute = getattr(provider, "execute", None)
        self.is_async = is_async(provider)

    def resolve(self, context: SlotContext, /) -> Any:
        """What the provider gives."""
        given = self._provider.resolve(context)
        return self._later(given) if self.is_async else self._offered(given)

    async def _later(self, given: Awaitable[Any]) -> Resolved[tuple[Offer, ...]]:
        return self._offered(await given)

    def _offered(self, given: Any) -> Resolved[tuple[Offer, ...]]:
        resolved = resolved_of(given, "custom")
        offers = tuple(
            Offer(description_of(one), one if isinstance(one, AgentTool) else None)
            for one in resolved.value or ()
        )
        self._described = {one.name: one for one in offers}
        told = resolved.rationale or f"{len(offers)} tools"
        return Resolved(offers, resolved.chosen, told, resolved.blocked)

    def find(self, name: str, route: Route = (), /) -> Found:
        """A tool that `execute` carries out; None where the provider only resolves."""
        if self._execute is None:
            return None
        offer = getattr(self, "_described", {}).get(name)
        schema = offer.description.input_schema if offer else None
        shown = offer.description.description if offer else ""
        return define_tool(name, shown, thaw(schema), partial(self._execute, name))


@dataclass(frozen=True, slots=True)
class CompositeTools:
    """Several providers in one. Of two tools with one name the later counts, at the first's place.

    A call goes to the provider that offered the name.
    """

    providers: tuple[ToolProvider, ...]
    is_async: bool = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "is_async", any(one.is_async for one in self.providers))

    def resolve(self, context: SlotContext, /) -> Any:
        """What all of them offer."""
        given = [one.resolve(context) for one in self.providers]
        return self._later(given) if self.is_async else self._merged(given)

    async def _later(self, given: Iterable[Any]) -> Resolved[tuple[Offer, ...]]:
        return self._merged(await all_of(given))

    def _merged(self, given: Sequence[Resolved[tuple[Offer, ...]]]) -> Resolved[tuple[Offer, ...]]:
        offers: dict[str, Offer] = {}
        for number, resolved in enumerate(given):
            for offer in resolved.value:
                offers[offer.name] = Offer(offer.description, offer.tool, (number, *offer.route))
        labels = [one.chosen for one in given if one.chosen != STATIC]
        chosen = f"composite: {' + '.join(labels)}" if labels else "composite"
        told = f"{len(offers)} tools of {len(given)} providers"
        blocked = tuple(name for one in given for name in one.blocked if name not in offers)
        return Resolved(tuple(offers.values()), chosen, told, blocked)

    def find(self, name: str, route: Route = (), /) -> Found:
        """What the provider says that offered the name; without a route, the last that knows it."""
        if route and 0 <= route[0] < len(self.providers):
            return self.providers[route[0]].find(name, route[1:])
        reply: Found = None
        for provider in reversed(self.providers):
            found = provider.find(name)
            if isinstance(found, AgentTool):
                return found
            reply = reply or found
        return reply


@dataclass(frozen=True, slots=True)
class GatedTools:
    """Another provider's tools, as far as they are allowed: when offered, and again when called."""

    inner: ToolProvider
    allows: Callable[[str], Any]
    on_blocked: Callable[[str, str], object] | None = None
    """Told the name, and `resolve` or `execute`."""
    is_async: bool = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "is_async", self.inner.is_async)

    def resolve(self, context: SlotContext, /) -> Any:
        """What is allowed of what the other one offers."""
        given = self.inner.resolve(context)
        return self._later(given) if self.is_async else self._filtered(given)

    async def _later(self, given: Awaitable[Any]) -> Resolved[tuple[Offer, ...]]:
        return self._filtered(await given)

    def _filtered(self, given: Resolved[tuple[Offer, ...]]) -> Resolved[tuple[Offer, ...]]:
        allowed = tuple(offer for offer in given.value if self.allows(offer.name))
        names = {offer.name for offer in allowed}
        blocked = tuple(offer.name for offer in given.value if offer.name not in names)
        for name in blocked:
            self._tell(name, "resolve")
        told = f"{len(allowed)} allowed, {len(blocked)} blocked"
        told = f"{told}: {', '.join(blocked)}" if blocked else told
        return Resolved(allowed, "gated", told, (*given.blocked, *blocked))

    def find(self, name: str, route: Route = (), /) -> Found:
        """What the other one finds; the reply that it is denied, where it is."""
        if self.allows(name):
            return self.inner.find(name, route)
        self._tell(name, "execute")
        return refused(DENIED.format(name))

    def _tell(self, name: str, when: str) -> None:
        if self.on_blocked is not None:
            self.on_blocked(name, when)


# ------------------------------------------------------------------ making one


def no_tools() -> NoTools:
    """A provider that offers nothing."""
    return NoTools()


def static_tools(tools: Iterable[Any]) -> StaticTools:
    """A provider that always offers these tools, and carries them out."""
    return StaticTools(tools)


def dynamic_tools(function: Callable[[SlotContext], Any]) -> DynamicTools:
    """A provider that offers what `function(context)` gives: tools or descriptions of tools."""
    return DynamicTools(function)


def composite_tools(*providers: Any) -> CompositeTools:
    """Several providers in one."""
    return CompositeTools(tuple(tools_of(one) for one in providers))


def gated_tools(
    inner: Any, allow: Any, on_blocked: Callable[[str, str], object] | None = None
) -> GatedTools:
    """A provider that only lets through what `allow` does.

    `allow` is a `PermissionPolicy`, a collection of names (`*` for all), or a function of the name.
    """
    if isinstance(allow, PermissionPolicy):
        allows: Callable[[str], Any] = allow.allows
    elif callable(allow):
        allows = allow
    elif isinstance(allow, str):
        raise CallerError(
            "gated_tools takes a collection of names, not one text",
            hint=f'write ["{allow}"]',
        )
    else:
        allows = PermissionPolicy(allow).allows
    return GatedTools(tools_of(inner), allows, on_blocked)


def tools_of(given: Any) -> ToolProvider:
    """Whatever may stand for a provider of tools: None, a list of tools, a function, a provider."""
    if given is None:
        return NoTools()
    if callable(getattr(given, "resolve", None)):
        return given if callable(getattr(given, "find", None)) else CustomTools(given)
    if isinstance(given, Iterable) and not isinstance(given, str | Mapping):
        return StaticTools(given)
    if callable(given):
        return DynamicTools(given)
    raise CallerError(
        f"a provider of tools is no {type(given).__name__}",
        hint="hand in a list of tools, a function of the context, or gated_tools(…)",
    )


def description_of(given: Any) -> LLMToolDescription:
    """What a model is shown of whatever stands for a tool."""
    if isinstance(given, LLMToolDescription):
        return given
    if isinstance(given, Mapping):
        name = given.get("name") or given.get("id")
        if not isinstance(name, str) or not name:
            raise CallerError(
                f"a tool was described without a name: {given!r}",
                hint='write {"name": …, "description": …, "input_schema": …}',
            )
        shown = given.get("description") or ""
        return LLMToolDescription(name, shown, given.get("input_schema") or {})
    return agent_tool(given).describe()


def refused(content: str) -> ToolReply:
    """The reply in place of a call that is not made; it counts as an error."""
    return ToolReply(content, {"message": content})
