"""Promise: a cursor's JSON is the checkpoint, and a copy runs on by itself."""

from __future__ import annotations

import math
from typing import Any

import pytest

from saywhy.chart.cursor import Base, Cursor, Frame, Side, State
from saywhy.chart.outcome import Answer, Need
from saywhy.errors import DamagedSession
from saywhy.values import UNDEFINED, BigInt, Date, FrozenDict, freeze, same


def forked() -> Cursor:
    """A cursor with everything a frame can hold."""
    state = State({"s": {"a": freeze({"x": [1, 2]})}, "v1": {}}, 7, 9, 2, {"v1": Base("s", ["b"])})
    inner = Frame(3, "d2", "inner", "ask", "v1", {"args": "args"}, Need("user", "ask", {"q": 1}))
    outer = Frame(
        1,
        "d1",
        "outer",
        "fork",
        "s",
        {"loops": {"a~b": 3}},
        notes=[{"value": 1}],
        held=Answer("x", facts={"at": 1}),
        asked=Need("tool", "t", effect="reads"),
        branches=[[inner], []],
        results=[Side("one", "v1"), Side("two", "v2", True, [1], last=5)],
        collect_errors=True,
        keeps=["v1", "v2"],
    )
    return Cursor([Frame(0, "d0", "bottom", "a", "s", boundary=True, caller=4), outer], state)


def test_json_gives_the_same_cursor_back() -> None:
    """Frames, needs, answers, branches, layers and counters survive."""
    cursor = forked()
    again = Cursor.from_json(cursor.to_json())
    assert again == cursor
    assert again.to_json() == cursor.to_json()


@pytest.mark.parametrize(
    "value",
    [UNDEFINED, math.nan, math.inf, -0.0, BigInt(10**30), Date(0), Date(math.nan), 2**60, "\ud800"],
)
def test_values_beyond_json_survive(value: Any) -> None:
    """State, answers and branch results may hold whatever a conversation can."""
    cursor = forked()
    cursor.state.scopes["s"]["v"] = freeze({"deep": [value]})
    cursor.frames[1].results[1].value = freeze([value])
    cursor.returned = freeze(value)
    again = Cursor.from_json(cursor.to_json())
    assert same(again.state.get("s", "v"), freeze({"deep": [value]}))
    assert same(again.frames[1].results[1].value, [freeze(value)])
    assert same(again.returned, freeze(value))


@pytest.mark.parametrize("name", ["$date", "$undefined", "$object", "$num", "$mine"])
def test_a_variable_may_be_called_like_a_tag(name: str) -> None:
    """A scope with one variable of such a name is read back as a scope."""
    cursor = Cursor(state=State({"s": {name: "x"}, "args": {name: freeze({name: 1})}}))
    assert Cursor.from_json(cursor.to_json()) == cursor


def test_values_are_frozen_again() -> None:
    """What is read from a checkpoint is as read-only as it was."""
    again = Cursor.from_json(forked().to_json())
    assert isinstance(again.state.get("s", "a"), FrozenDict)


def test_a_copy_runs_on_by_itself() -> None:
    """Changing the copy's frames, branches, layers or scopes leaves the cursor alone."""
    cursor = forked()
    before = cursor.to_json()
    copy = cursor.copy()
    copy.state.scopes["s"]["a"] = 1
    copy.state.scopes["new"] = {}
    copy.state.bases["v1"].gone.append("z")
    copy.state.take_id()
    branches = copy.frames[1].branches
    assert branches is not None
    branches[0][0].at = "elsewhere"
    copy.frames[1].results[0].done = True
    copy.frames[1].data["x"] = 1
    copy.frames[1].keeps.clear()
    copy.frames.pop()
    assert cursor.to_json() == before


def test_a_cursor_beside_shares_the_state() -> None:
    """Scopes and counters are one; frames are not."""
    cursor = forked()
    beside = cursor.beside()
    assert beside.frames == []
    beside.state.take_id()
    assert cursor.state.next_id == 10


def test_walking_meets_frames_of_branches() -> None:
    """All frames, bottom first, branches after the frame they belong to."""
    assert [frame.name for frame in forked().walk()] == ["bottom", "outer", "inner"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (b"{", "the stored cursor is no JSON of ours"),
        (b'{"frames": [{"id": "x"}]}', r"the stored cursor cannot be read: .*\$.frames\[0\]"),
        (b'{"state": {"scopes": {"s": 1}}}', "the stored cursor cannot be read"),
        (b'{"state": {"scopes": {"s": {"a": {"$bigint": "x"}}}}}', "is no JSON of ours"),
        (b"[]", "the stored cursor cannot be read"),
    ],
)
def test_what_is_no_cursor_is_named(text: bytes, problem: str) -> None:
    """Anything but our own JSON is a damaged session, with what is wrong in it."""
    with pytest.raises(DamagedSession, match=problem):
        Cursor.from_json(text)
