"""Promise: a mark is followed from where it came in to the step that reads it."""

from __future__ import annotations

from saywhy.chart.commit import Answered, Asked, Commit, FunctionCall, Op
from saywhy.chart.outcome import Answer
from saywhy.runtime.replay.masked import Gap, MaskedReads, marks_in
from saywhy.values import freeze

MARK = "[REDACTED]"


def commit(seq: int, **fields: object) -> Commit:
    given: dict[str, object] = {"turn": 2, "frame": 1, "chart": "c", "flow": "F", "node": "n"}
    return Commit(seq=seq, kind="SET", **{**given, **fields})  # type: ignore[arg-type]


def test_where_marks_stand() -> None:
    """Paths inside a value, names included."""
    value = freeze({"a": [1, f"x {MARK}"], "b": "[CUT: 900 characters]", MARK: 1})
    assert sorted(marks_in(value)) == [((), "masked"), (("a", 1), "masked"), (("b",), "cut")]


def test_only_a_read_of_the_very_place_needs_it() -> None:
    """The field beside it may be read; reading the whole value reads the mark."""
    reads = MaskedReads()
    took = commit(7, answered=Answered("tool", "t"))
    reads.take(took, Answer(freeze({"name": "Bob", "token": MARK})))
    reads.see(commit(7, ops=(Op("set", ("s", "who"), {"name": "Bob", "token": MARK}),)))
    reads.see(commit(8, reads=(("s", "who", "name"),)))
    assert reads.gaps == []
    reads.see(commit(9, reads=(("s", "who"),)))
    reads.see(commit(10, reads=(("s", "who", "token"),)))
    assert reads.gaps == [Gap(2, 9, "tool_result:7", "masked")]


def test_what_is_written_anew_is_no_mark_any_more() -> None:
    """The variable has another value by then."""
    reads = MaskedReads()
    reads.enter("message:3", "masked")
    reads.see(commit(1, ops=(Op("set", ("s", "pin"), MARK),)))
    reads.see(commit(2, ops=(Op("set", ("s", "pin"), "1"),)))
    reads.see(commit(3, reads=(("s", "pin"),)))
    assert reads.gaps == []


def test_asking_with_a_mark_needs_it() -> None:
    """A tool would be called with the mark in place of the value."""
    reads = MaskedReads()
    reads.enter("message:3", "masked")
    reads.see(commit(4, asked=Asked("tool", "t", freeze({"pin": MARK}))))
    assert [gap.commit for gap in reads.gaps] == [4]


def test_answers_of_functions_and_models_are_named_for_what_they_are() -> None:
    """As a chain names them."""
    reads = MaskedReads()
    reads.take_call(FunctionCall("hash", None, MARK))
    assert reads.came == ("function:hash", "masked")
    reads.take(commit(5, answered=Answered("model", "m")), Answer(MARK))
    assert reads.came == ("model:5", "masked")


def test_without_a_mark_nothing_is_looked_at() -> None:
    """A text that looks like one may be the user's own, and is no gap by itself."""
    reads = MaskedReads()
    reads.take(commit(7, answered=Answered("tool", "t")), Answer(freeze({"a": 1})))
    reads.see(commit(8, reads=(("s", "a"),), ops=(Op("set", ("s", "x"), MARK),)))
    assert reads.came is None
    assert reads.gaps == []
