"""Promise: two steps are the same but for what the record masks, and a difference has its field."""

from __future__ import annotations

from typing import Any

import pytest

from saywhy.chart.commit import Asked, Commit, Op
from saywhy.chart.model import Charts
from saywhy.flows.compile import compile_flow
from saywhy.flows.load import load_definitions
from saywhy.runtime.replay.compare import Comparison, Differs
from saywhy.trace.masking.redact import MARK
from saywhy.trace.record import decode, encode
from tests.runtime.replay.conftest import ask, flow_of, say


def commit(**fields: object) -> Commit:
    given: dict[str, object] = {"seq": 1, "turn": 1, "frame": 1, "chart": "c", "flow": "F"}
    return Commit(**{**given, "node": "n", "kind": "SAY", **fields})  # type: ignore[arg-type]


def first(one: Commit, other: Commit) -> Differs | None:
    return Comparison(Charts()).first(one, other)


def test_what_went_through_json_is_the_same() -> None:
    """Defaults that JSON leaves out are no difference."""
    one = commit(asked=Asked("tool", "t", {"a": [1, 2]}, "once"), ops=(Op("set", ("s", "x"), 1),))
    assert first(decode(encode(one)), one) is None


def test_the_first_difference_has_its_path() -> None:
    """Where it is, what the record has, and what there is now."""
    one = commit(ops=(Op("set", ("s", "x"), {"a": [1, 2]}),))
    other = commit(ops=(Op("set", ("s", "x"), {"a": [1, 3]}),))
    assert first(one, other) == Differs("ops[0][2].a[1]", 2, 3)
    assert first(one, commit()) == Differs("ops", [["set", ["s", "x"], {"a": [1, 2]}]], "(nothing)")


def test_masked_places_are_passed_over_and_counted() -> None:
    """Only where the record has the mark: one that is new is a difference."""
    comparison = Comparison(Charts())
    masked = commit(ops=(Op("set", ("s", "pin"), "[REDACTED]"),), tags=("redacted",))
    clear = commit(ops=(Op("set", ("s", "pin"), "4711"),))
    assert comparison.first(masked, clear) is None
    assert comparison.passed_over == 1
    assert comparison.first(clear, masked) is not None


@pytest.mark.parametrize(
    ("recorded", "now", "same"),
    [
        (f"Dear {MARK}, hello", "Dear Bob, hello", True),
        (f"Dear {MARK}, hello", f"Dear {MARK}, hello", True),
        (f"Dear {MARK}, hello", f"{MARK}, hello", True),
        (f"Dear {MARK} and {MARK}!", "Dear Bob and Ann!", True),
        (f"Dear {MARK}, hello", "Dear Bob, goodbye", False),
        (f"Dear {MARK} and {MARK}!", "Dear Bob!", False),
        (f"aa{MARK}aa", "aaa", False),
        (f"Dear {MARK}", 7, True),
        (MARK, "Bob", True),
    ],
)
def test_what_stands_beside_a_mark_is_compared(recorded: str, now: Any, same: bool) -> None:
    """In its place anything may stand."""
    was, then = (commit(ops=(Op("set", ("s", "x"), value),)) for value in (recorded, now))
    assert (first(was, then) is None) == same


def test_a_fact_that_older_records_do_not_have_is_no_difference() -> None:
    """Which phrases a step said; where the record names them, other ones are one."""
    now = commit(facts={"phrases": ["flow_ended"]})
    assert first(commit(), now) is None
    assert first(commit(facts={"note": 1}), commit(facts={"note": 1, "phrases": ["a"]})) is None
    assert first(commit(facts={"phrases": ["a"]}), now) is not None
    assert first(now, commit()) is not None
    assert first(commit(), commit(facts={"other": 1})) is not None


def test_on_other_flows_a_step_is_what_it_says() -> None:
    """Versions of charts and places in files are left out."""
    before = load_definitions([flow_of(ask("x", "?"), say("end", "{{x}}"))])
    after = load_definitions([flow_of(say("new", "Hi."), ask("x", "?"), say("end", "{{x}}"))])
    one, other = (Charts(map(compile_flow, each.flows)) for each in (before, after))
    old, new = next(iter(one)), next(iter(other))
    was = commit(chart=old.digest, node="/steps/1", kind="SAY", to="return")
    now = commit(chart=new.digest, node="/steps/2", kind="SAY", to="return")
    assert Comparison(one, other).first(was, now) is None
    assert Comparison(one).first(was, now) is not None
