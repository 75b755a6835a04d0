"""The slot of the tools, as a chart: what the provider offers, and what instructions add.

Given are `messages`, `loopCount` and `toolInjections`; it gives `toolDescriptions` and, where
providers are composed, `toolRoutes`: through which of them each tool was offered.
"""

from __future__ import annotations

from typing import Any, Final

from saywhy.agent.own import OWN
from saywhy.agent.slots.composed import (
    SaltOf,
    compose,
    counted,
    frozen_in,
    list_in,
    number_in,
    put,
    salt_in,
    unchanged,
)
from saywhy.agent.slots.mounting import context_of
from saywhy.agent.slots.offers import Offer, StaticTools, ToolProvider, tools_of
from saywhy.agent.slots.record import tool_record
from saywhy.agent.slots.resolved import Resolved
from saywhy.chart.build import Builder
from saywhy.chart.built import Built
from saywhy.chart.view import View, sight_of
from saywhy.values import FrozenDict, FrozenList, same

SLOT: Final = "tools"
ID: Final = "sf-tools"


def tools_slot(tools: Any = None, *, salt: SaltOf | None = None) -> Built:
    """The chart of the tools: what `tools` offers, and then those of `toolInjections`.

    `tools` is a list of tools, a function of the `SlotContext`, or a provider. Of two tools with
    one name the first counts, so what is injected never takes the place of a tool.
    """
    made = _Slot(tools_of(tools), salt)
    chart = Builder("Tools", id=ID, describe="Finds out which tools are offered.", own=OWN)
    stage = made.resolve_later if made.provider.is_async else made.resolve
    chart.stage(
        id="resolve-tools", name="ResolveTools", describe="Asks the provider for the tools."
    )(stage)
    return chart.build()


class _Slot:
    def __init__(self, provider: ToolProvider, salt: SaltOf | None) -> None:
        self.provider = provider
        self.salt = salt
        self.fixed = provider.resolved if isinstance(provider, StaticTools) else None
        self.shown = FrozenList(_described(self.fixed.value)) if self.fixed else FrozenList([])

    def resolve(self, s: View) -> None:
        if self.fixed is not None:
            self._put(s, self.fixed, self.shown)
        else:
            self._shown(s, self.provider.resolve(context_of(s)))

    async def resolve_later(self, s: View) -> None:
        self._shown(s, await self.provider.resolve(context_of(s)))

    def _shown(self, s: View, resolved: Resolved[tuple[Offer, ...]]) -> None:
        self._put(s, resolved, FrozenList(_described(resolved.value)))

    def _put(self, s: View, resolved: Resolved[tuple[Offer, ...]], shown: FrozenList) -> None:
        if resolved.blocked:
            sight_of(s).scope.facts["blocked"] = list(resolved.blocked)
        base = len(shown)
        tools = _with(shown, list_in(s, "toolInjections"))
        iteration = number_in(s, "loopCount", 0)
        if iteration and same(frozen_in(s, "toolDescriptions"), tools):
            unchanged(s, SLOT, iteration)
            return
        salt = salt_in(self.salt, s)
        reason = "offered by the tool provider" + (
            f": {resolved.chosen}" if resolved.chosen != "static" else ""
        )
        records = [
            tool_record(one, "registry", reason, at, salt)
            if at < base
            else tool_record(one, "instructions", "offered by an active instruction", at, salt)
            for at, one in enumerate(tools.raw)
        ]
        put(s, "toolDescriptions", tools)
        if self.fixed is None:
            routes = {one.name: list(one.route) for one in resolved.value if one.route}
            put(s, "toolRoutes", FrozenDict(routes))
        put(s, "resolvedTools", _told(resolved, tools))
        put(s, "toolsInjections", FrozenList(records))
        compose(s, SLOT, iteration, counted(records, {}), None)


def _described(offers: tuple[Offer, ...]) -> list[Any]:
    """What a model is shown, the first of each name."""
    shown: dict[str, Any] = {}
    for one in offers:
        shown.setdefault(one.name, one.description.to_value().raw)
    return list(shown.values())


def _with(shown: FrozenList, injected: FrozenList) -> FrozenList:
    if not len(injected):
        return shown
    names = {one["name"] for one in shown.raw}
    more: list[Any] = []
    for one in injected.raw:
        if one["name"] not in names:
            names.add(one["name"])
            more.append(one)
    return FrozenList([*shown.raw, *more]) if more else shown


def _told(resolved: Resolved[Any], tools: FrozenList) -> str:
    names = ", ".join(str(one["name"]) for one in tools.raw)
    size = f"{len(tools)} {'tool' if len(tools) == 1 else 'tools'}"
    told = f"{size}: {names}" if names else size
    return f"{told}; {resolved.told}" if resolved.told else told
