"""Promise: what people must decide stands in the session, by id, until it is decided once."""

from __future__ import annotations

from typing import Any

from saywhy.chart.outcome import Need
from saywhy.chart.scope import Scope
from saywhy.flows import outside
from saywhy.flows.world import World
from saywhy.tools.tool import Tool
from tests.flows.conftest import NOW, flow, local_tool, say, scope_at, use, world_of


def at_a_call(**tool: Any) -> tuple[World, Scope, Tool]:
    """The scope of a step that called a tool, as it stands when something is in doubt."""
    world = world_of(flow(use("pay"), say("x")), tools=[{**local_tool("pay"), **tool}])
    scope = scope_at(world)
    scope.keep("key", "c1:1:1")
    scope.keep("args", {"n": 1})
    found = world.tools.find("pay")
    assert found is not None
    return world, scope, found


def test_a_rest_is_on_record() -> None:
    """By its key, with all that somebody needs to look it up."""
    world, scope, tool = at_a_call()
    need = outside.rest_unknown(world, scope, tool, "timeout")
    assert (need.kind, need.name, dict(need.args)["id"]) == ("settle", "pay", "c1:1:1")
    (record,) = outside.open_records(scope.peek(outside.OPEN)).values()
    shown = outside.view_of(record)
    assert shown == {
        "id": "c1:1:1", "kind": "settle", "tool": "pay", "args": {"n": 1}, "since": NOW,
        "turn": 0, "seq": 1, "flow": "Main", "error": "timeout",
    }  # fmt: skip
    assert scope.kept("outside") == "c1:1:1"


def test_each_request_for_approval_has_its_own_id() -> None:
    """Whatever is asked again is another question."""
    world, scope, tool = at_a_call(approval={"expires": "1h", "by": "eve"})
    first = outside.rest_unapproved(world, scope, tool, {"n": 1})
    scope.state.seq += 1
    second = outside.rest_unapproved(world, scope, tool, {"n": 2})
    assert first.args["id"] != second.args["id"]
    record = outside.open_records(scope.peek(outside.OPEN))[second.args["id"]]
    assert (record["expires"], record["by"]) == (NOW + 3_600_000, "eve")
    assert outside.is_expired(record, NOW + 3_600_000)
    assert not outside.is_expired(record, NOW + 3_599_999)


def test_taken_once() -> None:
    """A decision closes what was open; another one, or one for an older rest, finds nothing."""
    world, scope, tool = at_a_call()
    outside.rest_unknown(world, scope, tool, "timeout")
    decision = {"id": "c1:1:1", "seq": 1, "how": "done", "by": "bob", "at": NOW}
    assert outside.take_decision(scope, {**decision, "seq": 0}) is None
    assert outside.take_decision(scope, decision) is not None
    assert outside.take_decision(scope, decision) is None
    known = outside.open_records(scope.peek(outside.DECIDED))
    assert known == {"c1:1:1": {"how": "done", "by": "bob", "at": NOW}}


def test_only_so_many_decisions_are_remembered() -> None:
    """The newest; a session does not grow with them."""
    world, scope, tool = at_a_call()
    for number in range(outside.MAX_DECIDED + 5):
        scope.keep("key", f"k{number}")
        outside.rest_unknown(world, scope, tool, "timeout")
        decision = {"id": f"k{number}", "seq": 1, "how": "done", "at": NOW}
        outside.take_decision(scope, decision)
    known = outside.open_records(scope.peek(outside.DECIDED))
    assert list(known)[::49] == ["k5", "k54"]


def test_who_waits() -> None:
    """A flow at a question waits for its user, and for nobody else."""
    world, scope, tool = at_a_call()
    need = outside.rest_unknown(world, scope, tool, "timeout")
    assert outside.waiting_record(scope.cursor, scope) is None
    scope.frame.waiting = need
    record = outside.waiting_record(scope.cursor, scope)
    assert record is not None
    assert record["id"] == "c1:1:1"
    scope.frame.waiting = Need("user", "n")
    assert outside.waiting_record(scope.cursor, scope) is None


def test_answers() -> None:
    """What the waiting step gets: a value, or an error, and whose word it is."""
    done = outside.answer_of({"id": "k", "how": "done", "value": {"a": 1}, "by": "bob"})
    assert (done.value, done.error) == ({"a": 1}, None)
    assert done.facts == {"decided": {"id": "k", "how": "done", "by": "bob"}}
    failed = outside.answer_of({"id": "k", "how": "failed", "text": "no money"})
    assert failed.error == "no money"
    assert outside.answer_of({"id": "k", "how": "failed"}).error == "it failed"
