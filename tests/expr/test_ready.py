"""Promise: a list that lies ready in the engine is as good as one that was just handed in."""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from saywhy.expr import ready
from saywhy.expr.outcome import Evaluated, Given, Names, Outcome
from saywhy.expr.sandbox import Limits
from saywhy.expr.worker import Worker
from saywhy.values import FrozenList, dumps, freeze, untagged
from tests.amount import examples

from .conftest import Variables
from .grammar import cases

FOLDER = Path(__file__).parent.parent / "cases" / "expressions"
CASES: list[dict[str, Any]] = [
    case
    for path in sorted(FOLDER.glob("*.json"))
    for case in json.loads(path.read_text(encoding="utf-8"))
    if case.get("expect") != "blocked"
]
HOSTILE: list[dict[str, Any]] = [
    case
    for path in sorted(FOLDER.glob("*.json"))
    for case in json.loads(path.read_text(encoding="utf-8"))
    if case.get("expect") == "blocked"
]


def evaluated(worker: Worker, source: str, names: Names, text: bool = False) -> Outcome:
    return worker.evaluate(source, names, (), 1.7e12, 7, text)


def kept(worker: Worker) -> dict[bytes, Any]:
    """What lies ready, by its JSON."""
    things = worker._ready._kept  # pyright: ignore[reportPrivateUsage] - nothing else tells it
    return {data: made for data, (_, made, _) in things.items()}


def assert_untouched(worker: Worker) -> None:
    """What lies ready is what its JSON says."""
    for data, made in kept(worker).items():
        assert json.loads(made.json()) == json.loads(data)


def fresh(source: str, names: Names) -> str:
    """What comes of it where nothing has been handed in before."""
    worker = Worker(Limits())
    return repr(evaluated(worker, source, names))


SHARED, OWN = Worker(Limits()), Worker(Limits())


@settings(max_examples=examples(300, 10_000))
@given(cases())
def test_it_makes_no_difference(case: tuple[str, dict[str, Any]]) -> None:
    """Random expressions, again and again: first with things of their own, then with lent ones."""
    source, values = case
    names = Variables(values)
    evaluated(OWN, source, names)
    if source in OWN._programs:  # pyright: ignore[reportPrivateUsage]
        OWN._programs[source].is_harmless = False  # pyright: ignore[reportPrivateUsage]
    expected = repr(evaluated(OWN, source, names))
    assert [repr(evaluated(SHARED, source, names)) for _ in range(3)] == [expected] * 3
    assert_untouched(SHARED)


def test_nor_for_the_cases_of_the_corpus() -> None:
    """The third time, every case gives what it gave the first time."""
    worker = Worker(Limits())
    for case in CASES:
        names = Variables(untagged(case["vars"]))
        first, *others = [repr(evaluated(worker, case["expr"], names)) for _ in range(3)]
        assert others == [first] * 2, case["expr"]
    assert_untouched(worker)
    assert len(kept(worker)) > 10


def test_hostile_expressions_do_not_reach_it() -> None:
    """After each of them everything that lies ready is as it was."""
    worker = Worker(Limits(seconds=0.02))
    names = Variables({"xs": [1, {"a": [2]}], "o": {"list": [3]}, "user": {"name": "Ann"}})
    for _ in range(3):
        evaluated(worker, "[xs[0], o.list.at(0), user.name]", names)
        evaluated(worker, "xs.map(x => x)", names)
    for case in HOSTILE:
        evaluated(worker, case["expr"], Variables({**names.values, **untagged(case["vars"])}))
        assert_untouched(worker)
    assert HOSTILE


def test_what_was_handed_in_twice_is_kept() -> None:
    """Found by what it holds: another list of the same items, of another conversation, is it."""
    worker = Worker(Limits())
    for count in range(2):
        assert not kept(worker), count
        found = evaluated(worker, "xs.indexOf('b') >= 0", Variables({"xs": ["a", "b"]}))
        assert isinstance(found, Evaluated) and found.value is True
    assert list(kept(worker)) == [b'["a","b"]']
    (made,) = kept(worker).values()
    assert evaluated(worker, "xs.indexOf('b') >= 0", Variables({"xs": ["a", "b"]})) == found
    assert list(kept(worker).values()) == [made]
    assert list(worker._programs["xs.indexOf('b') >= 0"].variants) == ["jV", "sV"]  # pyright: ignore[reportPrivateUsage]


def test_the_very_list_of_the_last_time_is_not_written_out() -> None:
    """Nor is it mixed up with the one that has grown from it in the same memory, nor with another
    that comes to lie where one lay that is gone."""
    worker, source = Worker(Limits()), "xs.indexOf('c') >= 0"
    before: FrozenList = freeze(["a", "b"]).appended("a")
    for _ in range(3):
        assert _value(worker, source, before) is False
    written: list[Any] = []

    def noted(value: Any) -> bytes:
        written.append(value)
        return dumps(value)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ready, "dumps", noted)
        assert _value(worker, source, before) is False
        assert not written
        after = before.appended("c")
        assert _value(worker, source, after) is True
        assert len(written) == 1
    for _ in range(3):
        assert _value(worker, source, before) is False
        assert _value(worker, source, after) is True
    for number in range(4 * ready.MAX_SAME):
        for _ in range(3):
            assert _value(worker, source, freeze([number, "c"])) is True
        assert len(worker._ready._same) <= ready.MAX_SAME  # pyright: ignore[reportPrivateUsage]
    assert_untouched(worker)


def _value(worker: Worker, source: str, xs: FrozenList) -> Any:
    found = evaluated(worker, source, Given({"xs": xs}))
    assert isinstance(found, Evaluated)
    return found.value


def test_whoever_may_change_it_has_a_copy() -> None:
    """And the others still find what it was."""
    worker, names = Worker(Limits()), Variables({"xs": [2, 1]})
    for _ in range(3):
        evaluated(worker, "xs.includes(1)", names)
    assert kept(worker)
    for source in ("xs.sort()", "xs.push(3)", "[0].map(xs.push, xs)", "(f => f(xs))(y => y.pop())"):
        evaluated(worker, source, names)
        assert_untouched(worker)
    found = evaluated(worker, "xs.join()", names)
    assert isinstance(found, Evaluated) and found.value == "2,1"


def test_a_function_with_a_name_of_javascript_has_a_copy() -> None:
    """An approved function called `Number` is handed what it may change."""
    worker, names = Worker(Limits()), Variables({"xs": [2, 1]}, {"Number": len})
    for _ in range(3):
        evaluated(worker, "Number(xs)", names)
    assert not kept(worker)


def test_two_that_are_alike_are_not_one() -> None:
    """They are no more equal than they would be had they not been kept."""
    worker, names = Worker(Limits()), Variables({"a": [1], "b": [1], "c": {"d": [1]}})
    for _ in range(3):
        for source in ("a === b", "[a, b].indexOf(c.d) >= 0", "a === c.d || b === c.d"):
            found = evaluated(worker, source, names)
            assert isinstance(found, Evaluated) and found.value is False, source
        assert evaluated(worker, "a === a", names).value is True  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "value",
    [[2**53 + 1], [float("nan")], ["x" * ready.MAX_ONE], {"$date": "no tag"}],
    ids=["large number", "not a number", "long", "looks like a tag"],
)
def test_what_is_not_plain_or_long_is_not_kept(value: Any) -> None:
    """It travels as it always did."""
    worker, names = Worker(Limits()), Variables({"v": value})
    expected = fresh("[v].length", names)
    assert [repr(evaluated(worker, "[v].length", names)) for _ in range(3)] == [expected] * 3
    assert not kept(worker)


def test_little_is_kept() -> None:
    """However many things pass, a bounded amount of them stays."""
    worker = Worker(Limits())
    for number in range(200):
        names = Variables({"xs": [number, "x" * 5000]})
        for _ in range(3):
            evaluated(worker, "xs.length > 1 && xs.includes(1)", names)
            assert sum(map(len, kept(worker))) <= ready.MAX_ALL
    assert kept(worker)


def test_a_new_context_has_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """After a limit was hit in the midst of it, the evaluation goes on with things of the new one.

    Another thread makes the engine try again, since the time may have been that thread's.
    """
    monkeypatch.setattr("threading.active_count", lambda: 2)
    monkeypatch.setattr("time.thread_time", lambda: 0.0)
    worker, names = Worker(Limits(seconds=0.005)), Variables({"xs": [1, 2, 3], "n": 5})
    for _ in range(3):
        evaluated(worker, "xs.includes(3)", names)
    (before,) = kept(worker).values()
    found = evaluated(worker, f"n + xs.flatMap({_nested(8)}).length", names)
    assert isinstance(found, Evaluated), found
    assert found.value == 5 + 3**9
    (after,) = kept(worker).values()
    assert after is not before
    assert_untouched(worker)


def _nested(depth: int) -> str:
    """An arrow that goes through the list that many times more."""
    return f"a => xs.flatMap({_nested(depth - 1)})" if depth else "a => a"


def test_it_is_faster_than_handing_it_in() -> None:
    """That is what it is for: a list of many objects."""
    worker, own = Worker(Limits()), Worker(Limits())
    names = Variables({"xs": [{"a": 1, "b": "two", "c": [3]}] * 50})
    source = "xs.length > 1 && xs.at(7).a"
    for each in (worker, own):
        for _ in range(3):
            evaluated(each, source, names)
    own._programs[source].is_harmless = False  # pyright: ignore[reportPrivateUsage]
    times = {id(worker): 9.0, id(own): 9.0}
    for _ in range(100):
        for each in (worker, own):
            began = time.perf_counter()
            evaluated(each, source, names)
            times[id(each)] = min(times[id(each)], time.perf_counter() - began)
    assert times[id(worker)] < times[id(own)]


def test_it_is_forgotten_on_request() -> None:
    """In this thread at once, in others before they look again; and then it begins anew."""
    worker, names = Worker(Limits()), Variables({"xs": ["of Ann"]})
    other: list[Worker] = []
    ready_there, asked = threading.Event(), threading.Event()
    found_there: list[int] = []

    def work() -> None:
        there = Worker(Limits())
        other.append(there)
        for _ in range(3):
            evaluated(there, "xs.indexOf('a') >= 0", names)
        found_there.append(len(kept(there)))
        ready_there.set()
        assert asked.wait(10)
        evaluated(there, "xs.indexOf('a') >= 0", Variables({"xs": ["of Bob"]}))
        found_there.append(len(kept(there)))

    thread = threading.Thread(target=work)
    thread.start()
    assert ready_there.wait(10)
    for _ in range(3):
        evaluated(worker, "xs.indexOf('a') >= 0", names)
    assert kept(worker)
    ready.forget_everywhere()
    assert not kept(worker)
    asked.set()
    thread.join(10)
    assert found_there == [1, 0]
    for _ in range(3):
        evaluated(worker, "xs.indexOf('a') >= 0", names)
    assert kept(worker)
