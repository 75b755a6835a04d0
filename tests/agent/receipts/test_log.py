"""Promise: one walk over a record gives the state at each model call, and its receipt."""

from __future__ import annotations

from typing import Any

from saywhy.agent.receipts.log import calls_of, receipts_in
from saywhy.agent.receipts.minters import Minters
from saywhy.agent.receipts.receipt import Receipt
from saywhy.agent.receipts.stored import Unreadable
from saywhy.chart.commit import Asked, Commit, Op
from saywhy.trace.masking.redact import MARK, REDACTED_TAG
from saywhy.values import freeze
from tests.agent.receipts.conftest import ask, run


def commit(seq: int, *ops: Op, call: int = 0, scope: str = "s", **fields: Any) -> Commit:
    """A step with these operations; with `call` one that asks a model."""
    args = freeze({"call": call, "scope": scope})
    asked = Asked("model", "chat", args, "reads") if call else None
    return Commit(seq, 1, 1, "", "f", "n", "stage", ops=ops, asked=asked, **fields)


def put(name: str, value: Any, scope: str = "s") -> Op:
    return Op("set", (scope, name), freeze(value))


def entry(call: int, *texts: str) -> Any:
    return freeze(Minters().entry(ask(*texts), "run-1", [], call=call))


def test_a_call_sees_what_was_written_before_it() -> None:
    """In its own scope, its own step included, and nothing of later."""
    calls = list(
        calls_of(
            [
                commit(1, put("a", 1), put("a", 9, "other"), put("list", [1])),
                commit(2, Op("append", ("s", "list"), 2), call=1),
                commit(3, Op("set", ("s", "list", 0), 5), Op("delete", ("s", "a"))),
                commit(4, call=2),
                commit(5, call=1, scope="other"),
            ]
        )
    )
    assert [dict(call.variables) for call in calls] == [
        {"a": 1, "list": freeze([1, 2])},
        {"list": freeze([5, 2])},
        {"a": 9},
    ]
    assert [call.number for call in calls] == [1, 2, 3]


def test_other_needs_are_no_model_calls() -> None:
    """A question to the user, a tool, another task of a model."""
    needs = [Asked("user", "chat"), Asked("tool", "chat"), Asked("model", "detect_flow")]
    steps = [Commit(n, 1, 1, "", "f", "n", "stage", asked=need) for n, need in enumerate(needs, 1)]
    assert list(calls_of(steps)) == []


def test_each_call_has_the_receipt_of_its_own_step() -> None:
    """A call that left none has none, be there an earlier one or not."""
    first = entry(1, "a")
    steps = [
        commit(1, Op("append", ("s", "receipts"), first), call=1),
        commit(2, call=2),
        commit(3, Op("append", ("t", "receipts"), first), call=1, scope="t"),
    ]
    found = [call.receipt for call in calls_of(steps)]
    assert [isinstance(receipt, Receipt) for receipt in found] == [True, False, True]
    assert len(receipts_in(steps)) == 2


def test_what_does_not_fit_is_passed_over() -> None:
    """An operation on what was masked, cut, or is not in the record: the walk goes on."""
    unfit = [Op("set", ("s", "list", 7), 1), Op("set", ("s", "n", "x"), 1)]
    masked = [Op("append", ("s", "receipts"), MARK), Op("set", ("s",), 1)]
    steps = [
        commit(1, put("list", MARK), put("n", 1), tags=(REDACTED_TAG,)),
        commit(2, *unfit, Op("delete", ("s", "z", 1))),
        commit(3, *masked, call=1, tags=(REDACTED_TAG,)),
    ]
    (call,) = calls_of(steps)
    assert call.receipt == Unreadable("redacted")
    assert call.doubts["list"] == "redacted"


def test_a_list_written_anew_is_read_anew() -> None:
    """Where a run begins with receipts of before, the first entry of its own stands by itself."""
    old, new = entry(1, "a"), entry(2, "a", "b")
    steps = [
        commit(1, put("receipts", [old])),
        commit(2, Op("append", ("s", "receipts"), new), call=2),
    ]
    (call,) = calls_of(steps)
    assert isinstance(call.receipt, Receipt)
    assert call.receipt.basis.call == 2


def test_a_record_that_begins_late_marks_what_it_does_not_know() -> None:
    """A list that only grew since is known in part."""
    steps = [commit(7, Op("append", ("s", "messages"), "x"), put("b", 1), call=3)]
    (call,) = calls_of(steps)
    assert (call.doubts["messages"], call.doubts["b"]) == ("start", "")


def test_arguments_of_any_shape() -> None:
    """A step that says nothing of itself is a call of no scope."""
    strange = [Asked("model", "chat", args) for args in (None, 3, "text", [1], {"scope": 7})]
    steps = [Commit(n, 1, 1, "", "f", "n", "stage", asked=one) for n, one in enumerate(strange, 1)]
    assert [call.scope for call in calls_of(steps)] == ["", "", "", "", "7"]


async def test_what_no_step_wrote_is_what_it_is_at_the_end() -> None:
    """Values that a run was handed as its state stand in no commit."""
    result = await run(1)
    result.cursor.state.scopes["state"]["handed"] = 5
    (call,) = calls_of(result)
    assert call.variables["handed"] == 5
    assert call.variables["loopCount"] == 1
