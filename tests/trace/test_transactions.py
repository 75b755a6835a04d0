"""Transactions and events as queries over what was recorded."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from saywhy.trace.record import Recorder
from saywhy.trace.trace import Trace
from saywhy.trace.transactions import events, transactions
from saywhy.values import dumps
from tests.flows.conftest import ask, engine_of, flow, run
from tests.flows.conftest import talk as converse

Make = Callable[..., Any]


def refuse(args: Any) -> Any:
    raise ValueError("card refused")


@pytest.fixture
def failed(make_flow: Make, make_talk: Make) -> Any:
    """A conversation whose tool fails without anybody to take care of it."""
    talk = make_talk(
        make_flow(
            "Pay",
            {"id": "ask", "type": "SAY-GET", "variable": "amount", "value": "How much?"},
            {
                "id": "charge",
                "type": "CALL-TOOL",
                "tool": "charge",
                "args": {"amount": "amount"},
                "variable": "receipt",
            },
        ),
        tools={"charge": refuse},
    )
    talk.says("pay")
    talk.says("80")
    return talk


def test_one_transaction_for_each_flow(payment: Any) -> None:
    """Caller and called flow have a transaction each, with how and when they ended."""
    pay, charge = transactions(payment.trace)
    assert (pay.flow_name, pay.state, charge.flow_name, charge.state) == (
        "Pay",
        "completed",
        "Charge",
        "completed",
    )
    assert pay.id == f"tx-{pay.frame}"
    assert pay.completed_at is not None
    assert pay.completed_at > pay.created_at == 1000
    assert pay.failure_reason == ""


def test_steps_of_a_transaction(payment: Any) -> None:
    """Asking and being answered are one step, with the time between them."""
    pay = transactions(payment.trace)[0]
    told = [(step.step_id, step.step_type, step.status, step.result) for step in pay.steps]
    assert told == [
        ("ask-amount", "SAY-GET", "completed", "80"),
        ("ask-payee", "SAY-GET", "completed", "Ann"),
        ("get-fee", "CALL-TOOL", "completed", '{"total":8,"for":"80"}'),
        ("check-fee", "CASE", "completed", "condition: fee.total > 5"),
        ("charge", "FLOW", "completed", "Ann"),
    ]
    durations = {step.step_id: step.duration for step in pay.steps}
    assert durations["get-fee"] == 251
    assert durations["check-fee"] == 0


def test_a_flow_that_still_runs(payment: Any) -> None:
    """A flow that rests is active, and the step it rests at waits."""
    trace = Trace(payment.commits[:9], payment.charts, payment.messages)
    [pay] = transactions(trace)
    assert (pay.state, pay.completed_at, pay.id) == ("active", None, "")
    assert [(step.step_id, step.status) for step in pay.steps] == [
        ("ask-amount", "completed"),
        ("ask-payee", "waiting"),
    ]


def test_a_flow_that_failed(failed: Any) -> None:
    """A failed flow says when and why, and which step it was."""
    [pay] = transactions(failed.trace)
    assert (pay.state, pay.failure_reason, pay.completed_at) == ("failed", "card refused", None)
    assert pay.failed_at is not None
    last = pay.steps[-1]
    assert (last.step_id, last.status, last.error) == ("charge", "failed", "card refused")


def test_transactions_by_state(payment: Any, failed: Any) -> None:
    """Only those in the wanted state."""
    assert len(transactions(payment.trace, "completed")) == 2
    assert transactions(payment.trace, "failed") == []
    assert [each.flow_name for each in transactions(failed.trace, "failed")] == ["Pay"]


def test_long_results_are_capped(make_flow: Make, make_talk: Make) -> None:
    """A step's result is shown up to 500 characters."""
    talk = make_talk(
        make_flow("Long", {"id": "set", "type": "SET", "variable": "x", "value": "y" * 900})
    )
    talk.says("go")
    assert transactions(talk.trace)[0].steps[0].result == "y" * 500


def test_transactions_as_json(payment: Any) -> None:
    """In JSON a transaction has the names that hosts know."""
    data = json.loads(dumps(transactions(payment.trace)[1]))
    assert set(data) == {"id", "flowName", "state", "createdAt", "frame", "steps", "completedAt"}
    assert set(data["steps"][0]) == {
        "stepId",
        "stepType",
        "timestamp",
        "duration",
        "status",
        "result",
    }


def test_events(payment: Any, failed: Any) -> None:
    """Flows that began and ended, tools that answered and failed, in order."""
    names = [(event.name, event.flow) for event in events(payment.trace)]
    assert names == [
        ("flow_started", "Pay"),
        ("tool_executed", "Pay"),
        ("flow_started", "Charge"),
        ("flow_exit", "Charge"),
        ("flow_exit", "Pay"),
    ]
    [executed] = events(payment.trace, "tool_executed")
    assert executed.data["tool"] == "quote_fee"
    assert dict(executed.data["args"]) == {"amount": "80"}
    assert dict(executed.data["result"]) == {"total": 8, "for": "80"}
    assert executed.data["duration"] == 251
    [error] = events(failed.trace, "tool_error")
    assert (error.turn, error.data["error"]) == (2, "card refused")
    [ended] = events(failed.trace, "flow_exit")
    assert ended.data["how"] == "failed"
    started = events(payment.trace, "flow_started")[1]
    assert (started.data["by"], started.data["step"]) == ("Pay", "charge")


def test_an_empty_trace() -> None:
    """Nothing recorded, nothing to tell."""
    assert transactions(Trace()) == []
    assert events(Trace(Recorder().kept)) == []


async def test_an_interrupted_flow_is_suspended_until_it_goes_on() -> None:
    """With those it was called from; whatever took the place of the flow that interrupted it."""
    engine = engine_of(
        flow(run("Sub"), name="Main", interruptable=True),
        flow(ask("x"), name="Sub", interruptable=True),
        flow(run("Next", callType="replace"), name="Other"),
        flow(ask("y"), name="Next"),
    )
    session = await converse(engine, "Main", "Other")
    states = {one.flow_name: one.state for one in session.trace.transactions()}
    assert states == {
        "Main": "suspended",
        "Sub": "suspended",
        "Other": "failed",
        "Next": "active",
    }
    assert [one.flow_name for one in session.trace.transactions("suspended")] == ["Main", "Sub"]
    session = await converse(engine, "1", session=session)
    assert [one.flow_name for one in session.trace.transactions("active")] == ["Main", "Sub"]
