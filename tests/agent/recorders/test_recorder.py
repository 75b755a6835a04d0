"""Promise: a recorder made of stored records has the figures of one that was told live."""

from __future__ import annotations

from typing import Any

import pytest

from saywhy.agent.instructions.recorder import InstructionRecorder
from saywhy.agent.recorders.composite import AgentObservability
from saywhy.agent.recorders.costs import CostRecorder
from saywhy.agent.recorders.explains import ExplainRecorder
from saywhy.agent.recorders.follow_ups import FollowUpRecorder
from saywhy.agent.recorders.guardrails import GuardrailRecorder
from saywhy.agent.recorders.permissions import PermissionRecorder
from saywhy.agent.recorders.quality import QualityRecorder
from saywhy.agent.recorders.recorder import AgentRecorder
from saywhy.agent.recorders.tokens import TokenRecorder
from saywhy.agent.recorders.tool_usage import ToolUsageRecorder
from saywhy.agent.recorders.turns import TurnRecorder
from saywhy.trace.record import decode, encode
from saywhy.trace.trace import Trace
from tests.agent.recorders.conftest import all_runs

PRICES = {"big": {"input": 10, "output": 20}}


async def judge(event: Any) -> dict[str, Any]:
    return {"score": len(event.content) / 100, "label": "long" if len(event.content) > 9 else "s"}


def check(event: Any) -> Any:
    return {"rule": "no-looking", "message": event.content} if "look" in event.content else None


MADE: list[tuple[type[AgentRecorder], dict[str, Any]]] = [
    (TurnRecorder, {}),
    (TokenRecorder, {"pricing": PRICES}),
    (CostRecorder, {"pricing": PRICES}),
    (ToolUsageRecorder, {}),
    (QualityRecorder, {"judge": judge}),
    (GuardrailRecorder, {"check": check}),
    (PermissionRecorder, {}),
    (ExplainRecorder, {}),
    (FollowUpRecorder, {}),
    (InstructionRecorder, {}),
    (AgentObservability, {"pricing": PRICES}),
]


@pytest.mark.parametrize(("kind", "options"), MADE, ids=lambda one: getattr(one, "__name__", ""))
async def test_live_and_stored_are_the_same(
    kind: type[AgentRecorder], options: dict[str, Any]
) -> None:
    """Told live, made of records, made of records that went through JSON; empty after `clear`."""
    live, empty = kind(**options), kind(**options).to_snapshot()
    records = await all_runs([live])
    shown = live.to_snapshot()
    assert shown != empty
    stored = [Trace([decode(encode(commit)) for commit in record]) for record in records]
    for given in (records, stored):
        made = kind.of(*given, **options)
        if isinstance(made, QualityRecorder):
            await made.settled()
        assert made.to_snapshot() == shown
    live.clear()
    assert live.to_snapshot() == empty


async def test_turns() -> None:
    """Each turn has its number, its words and its end; a paused one is one turn."""
    recorder = TurnRecorder()
    await all_runs([recorder])
    told = [(one.turn_number, one.message, one.status) for one in recorder.get_entries()]
    assert told == [
        (1, "Where is order 7?", "completed"),
        (2, "Thanks", "completed"),
        (3, "And now?", "error"),
        (4, "Delete it", "completed"),
        (5, "Really", "completed"),
    ]
    first, _, failed, *_ = recorder.get_entries()
    assert (first.content, first.total_loop_iterations) == ("Denied in line 7.", 2)
    assert first.message_count == 10
    assert (failed.error, failed.phase) == ("LLM call failed: [server] down", "llm")
    assert (recorder.get_completed_count(), recorder.get_error_count()) == (4, 1)


async def test_tokens_and_costs() -> None:
    """Every call has its own latency, turn and round; a model without a price is free."""
    tokens, costs = TokenRecorder(pricing=PRICES), CostRecorder(PRICES)
    await all_runs([tokens, costs])
    calls = [(one.turn_number, one.loop_iteration, one.latency_ms) for one in tokens.get_entries()]
    assert calls == [
        (1, 0, 200), (1, 1, 100), (1, 2, 60), (2, 0, 30), (4, 0, 20), (4, 1, 40), (5, 0, 70),
        (5, 1, 80),
    ]  # fmt: skip
    summary = tokens.get_summary()
    assert (summary.total_input_tokens, summary.total_output_tokens) == (600, 60)
    assert tokens.get_total_tokens() == 660
    assert summary.average_latency_ms == 75
    big = 4 * (100 / 1e6 * 10 + 10 / 1e6 * 20)
    assert costs.get_total_cost() == pytest.approx(big)
    assert summary.total_cost == pytest.approx(big)
    assert costs.get_summary().unlisted == ("small",)
    assert costs.get_summary().by_model["small"] == 0
    assert TokenRecorder().get_summary().to_value() == {
        "total_calls": 0,
        "total_input_tokens": 0,
        "total_output_tokens": 0,
        "average_latency_ms": 0,
        "calls": [],
    }


async def test_tools_and_permissions() -> None:
    """Unknown names, wrong arguments and refusals are errors; what was gated is told apart."""
    tools, permissions = ToolUsageRecorder(), PermissionRecorder()
    await all_runs([tools, permissions])
    usage = tools.get_summary()
    told = {name: (one.calls, one.errors) for name, one in usage.by_tool.items()}
    assert told == {
        "order": (2, 1),
        "broken": (1, 1),
        "trace": (1, 0),
        "gone": (1, 1),
        "ask_human": (1, 0),
        "danger": (1, 1),
    }
    assert (usage.total_calls, usage.total_errors) == (7, 4)
    summary = permissions.get_summary()
    assert set(summary.blocked) == {"danger"}
    assert summary.denied == {"danger": 1, "gone": 1}
    assert summary.allowed == {"order": 2, "broken": 1, "trace": 1, "ask_human": 1}


async def test_rules_and_actions() -> None:
    """What fired and what did not, with its reason; what was offered and what of it was done."""
    rules, actions = InstructionRecorder(), FollowUpRecorder()
    await all_runs([rules, actions])
    assert rules.get_firing_count("order", "kind") == 1
    skipped = rules.get_skipped("order")
    assert (skipped["paid"].false, skipped["odd"].raised) == (1, 1)
    assert skipped["odd"].last_error == "KeyError: 'nothing'"
    (count,) = actions.get_summary().by_tool.values()
    assert (count.offered, count.taken, count.strict) == (1, 1, 0)


async def test_explaining() -> None:
    """Sources, claims and decisions are those of the turns, and one sentence sums them up."""
    recorder = ExplainRecorder()
    assert recorder.explain() == "Nothing was answered yet."
    (first, *_) = await all_runs([])
    recorder = ExplainRecorder.of(first)
    assert [one.tool_name for one in recorder.get_sources()] == [
        "order", "broken", "trace", "order", "gone",
    ]  # fmt: skip
    (claim,) = recorder.get_claims()
    assert (claim.content, claim.model, claim.iteration) == ("Denied in line 7.", "small", 2)
    assert [dict(one.args) for one in recorder.get_decisions()][2] == {"id": "t7"}
    assert recorder.explain() == (
        '1 answer, the last one "Denied in line 7.", resting on 5 results of order, broken, '
        "trace, gone."
    )


async def test_entries_are_bounded_and_totals_go_on() -> None:
    """The newest are kept; what is counted is counted all the same."""
    turns, tokens = TurnRecorder(most=2), TokenRecorder(most=3)
    await all_runs([turns, tokens])
    assert [one.turn_number for one in turns.get_entries()] == [4, 5]
    assert turns.get_completed_count() == 4
    assert len(tokens.get_entries()) == 3
    assert tokens.get_summary().total_calls == 8
