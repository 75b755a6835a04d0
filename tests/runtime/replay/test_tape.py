"""Promise: each answer on record is given once, to the step that took it in or to its question."""

from __future__ import annotations

import pytest

from saywhy.chart.commit import Answered, Asked, Commit, FunctionCall, Op
from saywhy.chart.cursor import Frame
from saywhy.chart.outcome import Need
from saywhy.errors import CallerError
from saywhy.runtime.replay.tape import Tape, answer_of, failed_with, work_of
from saywhy.values import freeze


def commit(seq: int, **fields: object) -> Commit:
    given: dict[str, object] = {"turn": 1, "frame": 1, "chart": "c", "flow": "F", "node": "n"}
    return Commit(seq=seq, kind="CALL-TOOL", **{**given, **fields})  # type: ignore[arg-type]


def asked(seq: int, name: str, args: object, **fields: object) -> Commit:
    return commit(seq, asked=Asked("tool", name, freeze(args)), phase="asked", to="rest", **fields)


def answered(seq: int, name: str, value: object, **fields: object) -> Commit:
    return commit(seq, answered=Answered("tool", name, freeze(value)), phase="answered", **fields)


def frame(number: int = 1) -> Frame:
    return Frame(number, "c", "F", "n", "v")


def test_a_step_gets_the_answer_it_took_in() -> None:
    """By frame and node, in the order on record."""
    tape = Tape([asked(1, "t", {}), answered(2, "t", 1), asked(3, "t", {}), answered(4, "t", 2)])
    need = Need("tool", "t", freeze({}))
    first = tape.answer(frame(), need, 1, 1)
    second = tape.answer(frame(), need, 3, 1)
    assert first is not None
    assert second is not None
    assert (answer_of(first).value, answer_of(second).value) == (1, 2)


def test_elsewhere_the_same_question_gets_the_same_answer_once() -> None:
    """Another frame asks the same: the first answer left; other arguments get none."""
    tape = Tape([asked(1, "t", {"a": 1}), answered(2, "t", 1)])
    need = Need("tool", "t", freeze({"a": 1}))
    assert tape.same_question(Need("tool", "t", freeze({"a": 2})), 1) is None
    assert tape.same_question(need, 2) is None
    assert tape.answer(frame(9), need, 1, 1) is not None
    assert tape.answer(frame(9), need, 1, 1) is None
    tape.begin(1)
    assert tape.answer(frame(9), need, 1, 1) is not None


def test_calls_of_functions_are_answered_in_their_order() -> None:
    """Of one step; a function called with the very same is found in the whole turn."""
    calls = (FunctionCall("f", freeze([1]), 10), FunctionCall("f", freeze([2]), 20))
    tape = Tape([commit(1, calls=calls)])
    heard: list[str] = []
    tape.heard = lambda call: heard.append(call.name)
    first, second = tape.call(1, "f", [1]), tape.call(1, "f", [2])
    assert first is not None
    assert second is not None
    assert (first.value, second.value) == (10, 20)
    assert tape.call(1, "f", [2]) is None
    same = tape.same_call(1, "f", [2])
    assert same is not None
    assert heard == ["f", "f", "f"]
    assert tape.functions == {"f"}


def test_the_time_of_a_step_of_the_same_turn() -> None:
    """What comes in another turn says nothing about this one."""
    tape = Tape([commit(1, at=5.0), commit(2, at=9.0, turn=2)])
    assert tape.at(1, 1) == 5.0
    assert tape.at(2, 1) is None


def test_an_error_is_of_its_kind_where_that_is_known() -> None:
    """Ours, Python's, or one that is only called so."""
    assert isinstance(failed_with("CallerError", "no"), CallerError)
    assert isinstance(failed_with("ValueError", "no"), ValueError)
    unknown = failed_with("HostsOwn", "no")
    assert (type(unknown).__name__, str(unknown)) == ("HostsOwn", "no")


def test_what_a_stage_had_done_outside() -> None:
    """Reads, writes and decision; a question that it stopped at."""
    done = commit(
        2, answered=Answered("task", "n"), reads=(("s", "a"),), ops=(Op("set", ("s", "b"), 1),)
    )
    work = answer_of(done).work
    assert work is not None
    assert (work.reads, work.ops) == (done.reads, done.ops)
    paused = commit(3, answered=Answered("task", "n"), asked=Asked("user", "n"), to="rest")
    assert work_of(paused).need == Need("user", "n")


@pytest.mark.parametrize("error", ["", "it failed"])
def test_an_error_is_data(error: str) -> None:
    """As it was handed in."""
    one = commit(2, answered=Answered("tool", "t", None, error, {"status": 500}, "TimeoutError"))
    answer = answer_of(one)
    assert answer.error == (error or None)
    assert answer.error_name == "TimeoutError"
    assert answer.facts == {"status": 500}
