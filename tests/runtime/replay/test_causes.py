"""Promise: a first difference comes with what was changed, or with what is missing."""

from __future__ import annotations

import pytest

from saywhy.chart.outcome import Need
from saywhy.runtime.replay.causes import lacking
from saywhy.values import freeze
from tests.runtime.replay.conftest import PAYING, Outside, ask, engine_of, flow_of, say, talk


@pytest.mark.parametrize(
    ("need", "text"),
    [
        (Need("tool", "fee", freeze({"a": 1})), 'would have called fee with {"a":1}'),
        (Need("model", "chat"), "would have asked the model (chat)"),
        (Need("function", "f", freeze([1])), "would have called the function f with [1]"),
        (Need("task", "recall"), "would have needed a task (recall)"),
    ],
)
def test_what_would_be_needed(need: Need, text: str) -> None:
    """In words, with what it would be asked."""
    assert lacking(need) == f"{text}, and no answer is on record"


async def test_a_global_that_has_another_value_is_not_on_record() -> None:
    """The flows are the same, so the cause is outside of them."""
    flow = flow_of(ask("x", "?"), say("e", "{{bank}}"))
    engine = engine_of(Outside(), [flow], globals={"bank": "Post"})
    session = await talk(engine, "Pay", "1")
    other = engine_of(Outside(), [flow], globals={"bank": "Bank"})
    found = (await other.replay(session)).difference
    assert found is not None
    assert found.cause == "unexplained"
    assert "what it depends on is not on record" in found.why
    assert found.replies == ("Post", "Bank")


async def test_a_step_that_leads_elsewhere() -> None:
    """What came behind it, and what comes now."""
    engine = engine_of(Outside())
    session = await talk(engine, "Pay", "Bob", "80")
    steps = PAYING["steps"]
    less = {**PAYING, "steps": [*steps[:2], steps[3]]}
    found = (await engine.replay(session, flows=[less])).difference
    assert found is not None
    assert found.cause == "flow"
    assert "behind SAY-GET ask-amount" in found.why
    assert "came CALL-TOOL call-fee" in found.why
    assert "now SAY tell" in found.why


async def test_a_question_that_is_not_on_record() -> None:
    """The tool of another engine asks for a confirmation no more: it would be called."""
    engine = engine_of(Outside())
    session = await talk(engine, "Pay", "Bob", "80")
    steps = PAYING["steps"]
    more = {**PAYING, "steps": [*steps[:3], {**steps[2], "id": "call-fee-again"}, steps[3]]}
    found = (await engine.replay(session, flows=[more])).difference
    assert found is not None
    assert "now CALL-TOOL call-fee-again" in found.why
