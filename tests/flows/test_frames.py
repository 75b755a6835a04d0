"""Opening and closing a flow's frame."""

from __future__ import annotations

import pytest

from saywhy.chart.commit import Commit
from saywhy.chart.cursor import Cursor
from saywhy.chart.machine import Ending, open_frame
from saywhy.chart.outcome import Call
from saywhy.flows.frames import (
    MAX_TRANSACTIONS,
    OUTCOME,
    TRANSACTIONS,
    below_root,
    close_flow,
    declare_outcome,
    frame_data,
    set_variables,
    transaction_id,
)
from saywhy.values import UNDEFINED, thaw
from tests.flows.conftest import (
    ask,
    engine_of,
    flow,
    run,
    say,
    scope_at,
    scope_of,
    talk,
    world_of,
)

MAIN = flow(
    say("x"),
    variables={"d": {"type": "string", "value": "default"}, "e": {"type": "object", "value": {}}},
)


def test_defaults_then_parameters() -> None:
    """Parameters win, and the record says which variable came from where."""
    world = world_of(MAIN)
    scope = scope_at(world, d="mine")
    set_variables(scope, "v1", scope.chart, {"e": 1, "p": 2}, defaults=True)
    assert [scope.peek(("v1", name)) for name in "dep"] == ["default", 1, 2]
    assert (scope.facts["defaults"], scope.facts["parameters"]) == (["d", "e"], ["e", "p"])


def test_only_what_is_undefined() -> None:
    """What the caller has stays; null is something."""
    world = world_of(MAIN)
    scope = scope_at(world, d=None)
    set_variables(scope, "v1", scope.chart, {}, defaults=True, only_undefined=True)
    assert scope.peek(("v1", "d")) is None
    assert thaw(scope.peek(("v1", "e"))) == {}
    assert scope.facts["defaults"] == ["e"]


def test_a_transactions_id_is_the_same_when_the_step_runs_again() -> None:
    """So a call that is repeated after a crash belongs to the same transaction."""
    world = world_of(MAIN)
    scope = scope_at(world)
    assert transaction_id(scope, 5) == transaction_id(scope_at(world), 5)
    assert transaction_id(scope, 5) != transaction_id(scope, 6)


def test_what_a_frame_knows_of_its_beginning() -> None:
    """Its transaction, who began it, when, and with which words."""
    scope = scope_at(world_of(MAIN))
    data = frame_data(scope, "sub-flow", user_input=["hi", 3], parent="tx-1")
    assert data["initiator"] == "sub-flow"
    assert (data["input"], data["parent"]) == (["hi", 3], "tx-1")
    assert set(frame_data(scope, "reboot")) == {"tx", "initiator", "started", "first"}


ENDINGS = [
    ("completed", "", "", "completed", None, "completion"),
    ("returned", "", "", "completed", None, "return"),
    ("dispatched", "dispatched", "", "failed", "dispatched", None),
    ("replaced", "Replaced by flow X", "", "failed", "Replaced by flow X", None),
    ("rebooted", "System rebooted to flow X", "", "failed", "System rebooted to flow X", None),
    ("cancelled", "User requested exit: stop", "", "failed", "User requested exit: stop", None),
    ("failed", "no money", "", "failed", "no money", None),
    ("completed", "", "resolved", "completed", None, "completion"),
    ("completed", "", "unresolved", "failed", "unresolved", "completion"),
    ("returned", "", "deflected", "completed", None, "return"),
    ("dispatched", "dispatched", "resolved", "completed", None, "dispatch"),
    ("dispatched", "dispatched", "unresolved", "failed", "unresolved", "dispatch"),
    ("cancelled", "User requested exit", "unresolved", "failed", "User requested exit", None),
    ("replaced", "Replaced by flow X", "resolved", "failed", "Replaced by flow X", None),
    ("failed", "no money", "resolved", "failed", "no money", None),
]  # fmt: skip


@pytest.mark.parametrize(("how", "reason", "declared", "state", "failure", "ended_by"), ENDINGS)
def test_how_a_flow_ended(
    how: str, reason: str, declared: str, state: str, failure: str | None, ended_by: str | None
) -> None:
    """State and reason of the transaction, and the outcome that the host sees."""
    world = world_of(MAIN)
    scope = scope_at(world)
    if declared:
        declare_outcome(scope, declared, "")
    error = ValueError(reason) if how == "failed" else None
    close_flow(world, scope, Ending(how, reason, error))
    (record,) = thaw(scope.peek(TRANSACTIONS))
    assert (record["state"], record.get("failureReason")) == (state, failure)
    assert record == {**scope.facts["transaction"], "failureReason": failure} or not failure
    outcome = thaw(scope.peek(OUTCOME))
    if declared and ended_by:
        assert outcome == {"flowName": "Main", "outcome": declared, "endedBy": ended_by}
    else:
        assert outcome is UNDEFINED


def test_a_failure_reason_holds_no_sensitive_answer() -> None:
    """It outlives the flow that held the answer."""
    world = world_of(MAIN)
    scope = scope_at(world)
    scope.state.scopes["session"]["secrets"] = ["4111"]
    close_flow(world, scope, Ending("failed", "card 4111 refused", ValueError()))
    assert scope.peek(TRANSACTIONS)[0]["failureReason"] == "card [REDACTED] refused"


def test_the_session_keeps_the_newest_transactions() -> None:
    """Older ones are in the trace."""
    world = world_of(MAIN)
    scope = scope_at(world)
    scope.state.scopes["session"]["transactions"] = [
        {"id": str(n)} for n in range(MAX_TRANSACTIONS)
    ]
    close_flow(world, scope, Ending("completed"))
    kept = scope.peek(TRANSACTIONS)
    assert (len(kept), kept[0]["id"]) == (MAX_TRANSACTIONS, "1")


def test_the_root_of_a_stack() -> None:
    """An interruption begins a stack of its own."""
    world = world_of(MAIN, flow(say("x"), name="Other"))
    main, other = world.charts.find("Main"), world.charts.find("Other")
    assert main is not None
    assert other is not None
    cursor = Cursor()
    for chart, boundary in ((main, False), (main, False), (other, True), (main, False)):
        open_frame(cursor, chart, Call(chart.digest, "v1", boundary=boundary))
    scope = scope_of(world, cursor, cursor.top)
    assert [below_root(scope, place) for place in range(4)] == [
        main.digest, main.digest, other.digest, other.digest,
    ]  # fmt: skip


async def test_every_ended_flow_leaves_a_transaction() -> None:
    """With its steps, its initiator and the transaction of its caller."""
    engine = engine_of(
        flow(ask("x"), run("Sub")),
        flow(say("s"), run("Next", callType="replace"), name="Sub"),
        flow(say("n"), name="Next"),
    )
    session = await talk(engine, "Main")
    (running,) = session.transactions("active")
    assert (running["flowName"], running["initiator"]) == ("Main", "user-input")
    session = await talk(engine, "1", session=session)
    sub, following, main = session.completed_transactions
    assert [sub["flowName"], following["flowName"], main["flowName"]] == ["Sub", "Next", "Main"]
    assert main["id"] == running["id"] == sub["parentTransaction"] == following["parentTransaction"]
    assert (sub["initiator"], following["initiator"]) == ("sub-flow", "replacement")
    assert (sub["state"], sub["failureReason"]) == ("failed", "Replaced by flow Next")
    assert [step["stepId"] for step in main["steps"]] == ["s0", "s1"]
    assert session.transactions("active") == []
    assert len(session.transactions("completed")) == 2


async def test_an_interrupted_flow_is_suspended() -> None:
    """Its transaction is neither over nor the active one."""
    engine = engine_of(
        flow(ask("x"), interruptable=True),
        flow(ask("y"), name="Other"),
    )
    session = await talk(engine, "Main", "Other")
    states = {one["flowName"]: one["state"] for one in session.transactions()}
    assert states == {"Main": "suspended", "Other": "active"}
    session = await talk(engine, "1", session=session)
    assert [one["initiator"] for one in session.completed_transactions] == ["intent-switch"]


async def test_a_session_keeps_the_newest_transactions() -> None:
    """It is written with every call of a tool, so it must not grow; the trace has them all."""
    engine = engine_of(flow(say("a")))
    session = await talk(engine, *["Main"] * (MAX_TRANSACTIONS + 5))
    kept = [one["id"] for one in session.completed_transactions]
    told = [one.id for one in session.trace.transactions()]
    assert len(kept) == MAX_TRANSACTIONS == 20
    assert len(told) == MAX_TRANSACTIONS + 5
    assert kept == told[-MAX_TRANSACTIONS:]


async def test_closing_commits_hold_the_transaction() -> None:
    """The trace can tell them all, long after the session has forgotten."""
    engine = engine_of(flow(say("a")))
    session = await talk(engine, "Main")
    closed: list[Commit] = [one for one in session.commits if one.facts.get("transaction")]
    assert [one.facts["transaction"]["id"] for one in closed] == [
        one["id"] for one in session.completed_transactions
    ]
