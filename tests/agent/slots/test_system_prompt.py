"""Promise: the system prompt is its pieces joined, each recorded; one that stays costs nothing."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from saywhy.agent.receipts.canon import Salt
from saywhy.agent.slots.context import SlotContext
from saywhy.agent.slots.injected import (
    BudgetPressure,
    ContextEvaluated,
    SlotComposed,
    context_events,
    injections_of,
)
from saywhy.agent.slots.injection import fact, memory, skill
from saywhy.agent.slots.system_prompt import system_prompt_slot
from saywhy.errors import CallerError
from tests.agent.slots.conftest import Run


async def composed(slot: Any, **state: Any) -> Any:
    """The prompt that a slot alone gives."""
    return (await slot.run(state=state)).state["systemPrompt"]


async def test_pieces_are_joined() -> None:
    """Provider, injections, instructions stand one below the other; an empty base leaves no gap."""
    slot = system_prompt_slot("Base.", injections=[fact("A fact.")])
    assert await composed(slot, promptInjections=["Rule."]) == "Base.\n\nA fact.\n\nRule."
    assert await composed(system_prompt_slot(), promptInjections=["Rule."]) == "Rule."
    assert await composed(system_prompt_slot()) == ""


async def test_each_piece_has_a_record(run: Run) -> None:
    """A record says where a piece comes from, why it is there, and where it stands."""
    result = await run(prompt={"prompt": "Base.", "injections": [fact("x" * 90, id="long")]})
    first, second = (one.record for one in injections_of(result.commits))
    assert (first.source, first.reason, first.position) == ("base", "the agent's system prompt", 0)
    assert first.raw_content == "Base."
    assert second.content_summary == "x" * 80 + "…"
    assert (second.source, second.source_id, second.chars) == ("fact", "long", 90)
    assert second.expires_after == "iteration"


async def test_the_chart_stands_alone() -> None:
    """The chart has the id and the stage that loops know it by, and says what it chose."""
    slot = system_prompt_slot(lambda context: f"Round {context.loop_iteration} {context.message}")
    assert slot.chart.id == "sf-system-prompt"
    assert list(slot.chart.nodes) == ["resolve-prompt"]
    messages = [{"role": "user", "content": "hi"}]
    result = await slot.run(state={"messages": messages, "loopCount": 2})
    assert result.state["systemPrompt"] == "Round 2 hi"
    assert result.state["promptSummary"] == "10 characters in 1 piece"


async def test_an_unchanged_prompt_is_not_written_again(run: Run) -> None:
    """In later rounds an equal prompt leaves one small note, and no record."""
    result = await run(3, prompt={"prompt": "Base."})
    assert len(injections_of(result.commits)) == 1
    written = [op for one in result.commits for op in one.ops if op.key[1] == "systemPrompt"]
    assert len(written) == 2  # in the slot and in the loop
    notes = [one for one in context_events(result.commits) if isinstance(one, SlotComposed)]
    assert [(one.iteration, one.unchanged, one.budget.used) for one in notes] == [
        (0, False, 5),
        (1, True, 5),
        (2, True, 5),
    ]


async def test_a_changed_prompt_is(run: Run) -> None:
    """A prompt that changes is recorded in the round in which it does."""
    prompt = {"prompt": lambda context: f"Round {context.loop_iteration}."}
    result = await run(2, prompt=prompt)
    assert [one.key[:3] for one in injections_of(result.commits)] == [
        ("system-prompt", 0, 0),
        ("system-prompt", 1, 0),
    ]
    assert result.state["systemPrompt"] == "Round 1."


async def test_too_much_is_warned_of(run: Run) -> None:
    """A prompt beyond its budget is handed over, with a warning and an event."""
    result = await run(prompt={"prompt": "x" * 12, "budget_chars": 10})
    [pressure] = [one for one in context_events(result.commits) if isinstance(one, BudgetPressure)]
    assert (pressure.overflow_by, pressure.cap, pressure.plan_action) == (2, 10, "warn")
    warned = [text for one in result.commits for text in one.warnings]
    assert warned == ["the system-prompt has 12 characters, 2 more than its budget of 10"]
    assert result.state["systemPrompt"] == "x" * 12


async def test_why_something_is_not_there(run: Run) -> None:
    """What did not apply is named with its reason."""
    result = await run(prompt={"injections": [skill("tax", "T", lambda context: False)]})
    [told] = [one for one in context_events(result.commits) if isinstance(one, ContextEvaluated)]
    assert (told.active, told.skipped) == ((), (("tax", "predicate-false"),))


async def test_async_parts_are_awaited() -> None:
    """An async provider and async injections make the stage a task, all or nothing."""

    async def base(context: SlotContext) -> str:
        await asyncio.sleep(0)
        return "Base."

    async def later(context: SlotContext) -> str:
        return "Later."

    assert await composed(system_prompt_slot(base, injections=[fact(later)])) == "Base.\n\nLater."
    assert await composed(system_prompt_slot("B", injections=[fact(later)])) == "B\n\nLater."


async def test_hashes_are_salted(run: Run) -> None:
    """With a salt the same text has another hash in every run; without, it has the same."""
    hashes: list[str] = []
    for salt in (None, None, Salt("run-1"), Salt("run-2")):
        finder = None if salt is None else (lambda s, found=salt: found)
        result = await run(prompt={"prompt": "Base.", "salt": finder})
        hashes.append(injections_of(result.commits)[0].record.content_hash)
    assert hashes[0] == hashes[1]
    assert len(set(hashes)) == 3
    assert hashes[2] == Salt("run-1").of("system", "Base.")


def test_an_injection_for_another_slot() -> None:
    """An injection that belongs to the messages is refused."""
    told = "injection memory is for the slot messages, not for the system prompt"
    with pytest.raises(CallerError, match=told):
        system_prompt_slot("x", injections=[memory("y")])
