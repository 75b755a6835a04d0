"""Promise: rules that fired change the decision, each all or nothing; who changed what is known."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from saywhy.agent.instructions.context import InstructionContext
from saywhy.agent.instructions.decision import Decided, apply_decisions
from saywhy.agent.instructions.evaluate import evaluate_instructions
from saywhy.agent.instructions.rule import LLMInstruction
from saywhy.values import UNDEFINED, FrozenDict

CTX = InstructionContext({"status": "denied", "amount": 1500}, "loan")
BEFORE = FrozenDict({"status": "new", "seen": ["a"], "old": 1})


def rule(decide: Any, id: str = "rule", **fields: Any) -> LLMInstruction:
    return LLMInstruction(id, decide=decide, **fields)


def after(*rules: LLMInstruction, decision: Any = BEFORE) -> Decided:
    return apply_decisions(evaluate_instructions(rules, CTX), decision, CTX)


def by_item(decision: Any, ctx: InstructionContext) -> None:
    decision["status"] = ctx.content["status"]
    decision["seen"].append("b")
    del decision["old"]


def by_attribute(decision: Any, ctx: InstructionContext) -> None:
    decision.risk = "high" if ctx.content.amount > 1000 else "low"
    decision.before = decision.status


def test_items_and_attributes() -> None:
    """Both work; the next rule sees what the one before has set."""
    decided = after(rule(by_item), rule(by_attribute))
    assert decided.decision == {
        "status": "denied",
        "seen": ["a", "b"],
        "risk": "high",
        "before": "denied",
    }
    assert BEFORE == {"status": "new", "seen": ["a"], "old": 1}


def test_who_changed_what() -> None:
    """Each note has the changes and what was read of the result."""
    one, other = after(rule(by_item, "one"), rule(by_attribute, "other")).notes
    assert one.changes == {"status": "denied", "seen": ["a", "b"], "old": UNDEFINED}
    assert one.to_value()["read"] == [["content.status", "denied"]]
    assert other.changes == {"risk": "high", "before": "denied"}


def test_one_that_raises_changes_nothing(caplog: pytest.LogCaptureFixture) -> None:
    """Also what it had done by then; the others count."""

    def broken(decision: Any, ctx: Any) -> None:
        decision["status"] = "half"
        decision["seen"].append("half")
        raise ValueError("no")

    with caplog.at_level(logging.WARNING, "saywhy"):
        decided = after(rule(broken, "broken"), rule(by_attribute))
    assert decided.decision == {
        "status": "new",
        "seen": ["a"],
        "old": 1,
        "risk": "high",
        "before": "new",
    }
    assert decided.notes[0].to_value() == {
        "id": "broken",
        "changes": {},
        "error_name": "ValueError",
        "error": "no",
    }
    assert caplog.messages == [
        'the decide of instruction "broken" raised ValueError: no; it changes nothing'
    ]


@pytest.mark.parametrize(
    ("decide", "error"),
    [
        (lambda d, c: d.update(x=object()), "decision.x is a object, which a conversation"),
        (lambda d, c: d.gone, 'the decision has no "gone"'),
        (lambda d, c: delattr(d, "gone"), 'the decision has no "gone"'),
    ],
)
def test_what_a_decision_cannot_hold(decide: Any, error: str) -> None:
    """Values that do not survive JSON and fields that are not there are refused."""
    decided = after(rule(decide))
    assert decided.decision == BEFORE
    assert decided.notes[0].error.startswith(error)


def test_an_async_decide_is_none() -> None:
    """Nobody would wait for it."""

    async def later(decision: Any, ctx: Any) -> None:
        decision["x"] = 1

    assert after(rule(later)).notes[0].error == "`decide` is a plain function, not an async one"


def test_a_function_belongs_to_its_rule() -> None:
    """A rule of the same id that did not fire, or has no function, brings none in."""
    same = "same"
    fires = rule(None, same)
    silent = rule(by_item, same, when=lambda c: False)
    assert after(fires, silent) == Decided(BEFORE)
    first = rule(lambda d, c: d.update(n=1), same)
    second = rule(lambda d, c: d.update(m=2), same)
    assert after(first, second, decision={}).decision == {"n": 1, "m": 2}


def test_no_decision_yet() -> None:
    """An empty one stays an object; none at all begins as one."""
    assert after(decision={}).decision == {}
    assert after(rule(by_attribute), decision={"status": 1}).decision["risk"] == "high"
    assert after(decision=None).decision == {}
