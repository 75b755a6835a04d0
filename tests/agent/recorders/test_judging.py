"""Promise: judges and checks may take their time and may fail; the run neither waits nor breaks."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from saywhy.agent.hooks import LLMCalled, ToolCalled, TurnCompleted
from saywhy.agent.recorders import later
from saywhy.agent.recorders.composite import CompositeRecorder
from saywhy.agent.recorders.guardrails import GuardrailRecorder, Violation
from saywhy.agent.recorders.pricing import Price, prices_of
from saywhy.agent.recorders.quality import QualityRecorder
from saywhy.agent.recorders.tokens import TokenRecorder
from saywhy.agent.recorders.tool_usage import MOST_TOOLS, OTHERS, ToolUsageRecorder
from saywhy.errors import CallerError
from saywhy.models.provider import ModelReply
from saywhy.runtime.agents.agent import Agent
from tests.agent.recorders.conftest import all_runs


def turn(content: str, number: int = 1) -> TurnCompleted:
    return TurnCompleted(
        turn_number=number, content=content, message_count=2, total_loop_iterations=0
    )


async def test_an_async_judge_is_awaited() -> None:
    """The run does not wait for it; `settled` does, that of the agent as well."""
    gate = asyncio.Event()

    async def judge(event: Any) -> float:
        await gate.wait()
        return 0.5

    for settled_by_agent in (False, True):
        gate.clear()
        recorder = QualityRecorder(judge)
        agent = Agent(lambda ask: ModelReply("fine"), recorders=[recorder])
        await agent.run("hi")
        assert recorder.get_average_score() == 0
        gate.set()
        await (agent.settled() if settled_by_agent else recorder.settled())
        assert recorder.get_average_score() == 0.5
        assert [one.turn_number for one in recorder.get_entries()] == [1]


async def test_a_judge_that_raises_gives_no_score(caplog: pytest.LogCaptureFixture) -> None:
    """It is logged, async or not; others are told and the run goes on."""

    async def slow(event: Any) -> float:
        raise ValueError("slow judge")

    def quick(event: Any) -> float:
        raise ValueError("quick judge")

    tokens = TokenRecorder()
    recorders = [QualityRecorder(slow), QualityRecorder(quick), tokens]
    agent = Agent(lambda ask: ModelReply("fine"), recorders=recorders)
    assert (await agent.run("hi")).content == "fine"
    await agent.settled()
    assert "slow judge" in caplog.text
    assert "quick judge" in caplog.text
    assert [one.get_summary().total for one in recorders[:2]] == [0, 0]
    assert tokens.get_summary().total_calls == 1


async def test_what_a_judge_may_give() -> None:
    """A number, a score with a label, or None; anything else is an error that says so."""
    given: list[Any] = [1, {"score": 0.5, "label": "kind"}, None, {"score": 0, "label": "kind"}]
    recorder = QualityRecorder(lambda event: given.pop(0))
    for number in range(1, 5):
        recorder.on_turn_complete(turn("x", number))
    summary = recorder.get_summary()
    assert (summary.total, summary.average_score) == (3, 0.5)
    assert summary.by_label == {"kind": 2}
    assert [one.turn_number for one in summary.entries] == [1, 2, 4]
    bad = QualityRecorder(lambda event: "good")
    with pytest.raises(CallerError, match="gave 'good' instead of a score"):
        bad.on_turn_complete(turn("x"))


def test_an_async_judge_needs_a_loop() -> None:
    """Outside of one nothing is lost silently: the message says what to do."""

    async def judge(event: Any) -> float:
        return 1.0

    with pytest.raises(CallerError, match="no event loop runs here"):
        QualityRecorder(judge).on_turn_complete(turn("x"))


async def test_too_many_open_answers(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A judge that never answers costs no more room than its bound."""
    monkeypatch.setattr(later, "MOST_WAITING", 2)
    gate = asyncio.Event()

    async def judge(event: Any) -> float:
        await gate.wait()
        return 1.0

    recorder = QualityRecorder(judge)
    for number in range(4):
        recorder.on_turn_complete(turn("x", number))
    assert "2 answers are waited for, so one more is not asked" in caplog.text
    gate.set()
    await recorder.settled()
    assert recorder.get_summary().total == 2


async def test_guardrails() -> None:
    """Broken rules are noted with their severity; each call, turn or tool may be looked at."""

    def check(event: Any) -> Any:
        if isinstance(event, ToolCalled):
            return Violation("tools", event.tool_name, "info") if event.error else None
        return (
            {"rule": "no-lines", "message": "a line", "severity": "error"}
            if ("line" in event.content)
            else None
        )

    recorders = [GuardrailRecorder(check, each=each) for each in ("call", "turn", "tool")]  # type: ignore[arg-type]
    await all_runs(recorders)
    calls, turns, tools = (one.get_summary() for one in recorders)
    assert (calls.total, turns.total, tools.total) == (1, 1, 4)
    assert tools.by_rule == {"tools": 4}
    assert tools.by_severity == {"info": 4}
    (found,) = recorders[0].get_violations("error")
    assert (found.rule, found.turn_number, found.run_id) == ("no-lines", 1, "r0")
    assert recorders[0].get_violations("info") == []


def test_a_check_must_give_a_violation() -> None:
    """Anything else is an error that shows the form."""
    recorder = GuardrailRecorder(lambda event: "bad")
    with pytest.raises(CallerError, match="gave 'bad' instead of a violation"):
        recorder.on_llm_call(LLMCalled(turn_number=1))


async def test_a_composite_keeps_its_members_apart(caplog: pytest.LogCaptureFixture) -> None:
    """One that raises, at once or later, takes nothing from the others; members have ids."""

    class Raises:
        def on_llm_call(self, event: Any) -> None:
            raise ValueError("at once")

        async def on_turn_complete(self, event: Any) -> None:
            raise ValueError("later")

    tokens = TokenRecorder("t")
    both = CompositeRecorder([Raises(), tokens, QualityRecorder(lambda event: 1)])
    await all_runs([CompositeRecorder([both], "outer")])
    assert tokens.get_summary().total_calls == 8
    assert both.get("t") is tokens
    assert both.get("none") is None
    assert both.get_summary()["quality-recorder"].total == 4
    assert "at once" in caplog.text
    assert "later" in caplog.text
    both.clear()
    assert tokens.get_summary().total_calls == 0
    assert not hasattr(both, "on_nothing")


def test_prices_are_checked() -> None:
    """A price that is none is refused with its model and the form."""
    assert prices_of({"m": Price(1, 2), "n": {"input": 3}})["n"] == Price(3, 0)
    for bad in ({"in": 1}, {"input": -1}, {"input": "1"}, 5, Price(-1)):
        with pytest.raises(CallerError, match='the price of the model "m" is no price'):
            prices_of({"m": bad})  # type: ignore[dict-item]


def test_names_that_models_make_up_are_bounded() -> None:
    """After so many names the others are counted together, and a long one is cut."""
    recorder = ToolUsageRecorder()
    for number in range(MOST_TOOLS + 5):
        called = ToolCalled(turn_number=1, tool_name=f"{number}" + "x" * 900, args={}, result="")
        recorder.on_tool_call(called)
    by_tool = recorder.get_summary().by_tool
    assert len(by_tool) == MOST_TOOLS + 1
    assert by_tool[OTHERS].calls == 5
    assert max(map(len, by_tool)) == 100
