"""Promise: the offered tools are the provider's, then those of instructions, each recorded once."""

from __future__ import annotations

from typing import Any

import pytest

from saywhy.agent.slots.injected import SlotComposed, context_events, injections_of
from saywhy.agent.slots.mounting import mount_slot
from saywhy.agent.slots.offers import composite_tools, gated_tools
from saywhy.agent.slots.tool_slot import tools_slot
from saywhy.agent.tools import define_tool
from saywhy.chart.build import Builder
from saywhy.errors import CallerError
from saywhy.values import thaw
from tests.agent.slots.conftest import Run


def made(name: str) -> Any:
    return define_tool(name, name.upper(), None, lambda arguments: name)


def shown(name: str, description: str = "") -> dict[str, Any]:
    return {"name": name, "description": description or name.upper(), "input_schema": {}}


async def test_base_first() -> None:
    """A tool of an instruction never takes the place of one the agent has."""
    slot = tools_slot([made("a")])
    assert slot.chart.id == "sf-tools"
    assert list(slot.chart.nodes) == ["resolve-tools"]
    injected = [shown("a", "Other."), shown("b"), shown("b", "Again.")]
    result = await slot.run(state={"toolInjections": injected, "loopCount": 0})
    assert thaw(result.state["toolDescriptions"]) == [shown("a"), shown("b")]
    assert result.state["resolvedTools"] == "2 tools: a, b"
    assert [(one.record.source, one.record.source_id) for one in injections_of(result.commits)] == [
        ("registry", "a"),
        ("instructions", "b"),
    ]


async def test_unchanged_tools_are_not_written_again(run: Run) -> None:
    """Tools that stay the same are written and recorded once."""
    result = await run(3, tools={"tools": [made("a"), made("b")]})
    assert len(injections_of(result.commits)) == 2
    notes = [one for one in context_events(result.commits) if isinstance(one, SlotComposed)]
    assert [one.unchanged for one in notes] == [False, True, True]
    assert notes[0].budget.headroom_chars is None


async def test_changed_tools(run: Run) -> None:
    """A provider that offers others in a later round is recorded in that round."""

    def by_round(context: Any) -> list[Any]:
        return [made("late" if context.loop_iteration else "early")]

    result = await run(2, tools={"tools": by_round})
    assert thaw(result.state["toolDescriptions"]) == [shown("late")]
    assert [one.key[:3] for one in injections_of(result.commits)] == [
        ("tools", 0, 0),
        ("tools", 1, 0),
    ]


async def test_who_offered_what(run: Run) -> None:
    """The state says through which provider each tool was offered; only composites need that."""
    provider = composite_tools([made("a")], gated_tools([made("b"), made("c")], ["b"]))
    result = await run(tools={"tools": provider})
    assert thaw(result.state["toolRoutes"]) == {"a": [0], "b": [1]}
    assert "toolRoutes" not in (await run(tools={"tools": [made("a")]})).state


async def test_async_providers(run: Run) -> None:
    """A provider may be awaited."""

    async def later(context: Any) -> list[Any]:
        return [made("a")]

    result = await run(tools={"tools": later})
    assert thaw(result.state["toolDescriptions"]) == [shown("a")]


async def test_no_tools(run: Run) -> None:
    """Without tools an empty list is given."""
    result = await run(tools={})
    assert thaw(result.state["toolDescriptions"]) == []


def test_only_slots_are_mounted_as_slots() -> None:
    """A chart that is no slot is not mounted as if it were one."""
    other = Builder("other")
    other.stage(id="x")(lambda s: None)
    with pytest.raises(CallerError, match="other is no slot"):
        mount_slot(Builder("loop"), other.build())
