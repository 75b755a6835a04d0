"""The last writer of each variable: carried along, linked from each turn, bounded."""

from __future__ import annotations

import json

from saywhy.chart.commit import Commit, Op
from saywhy.trace.writers import MAX_WRITERS, Writers
from saywhy.values import Key


def commit(seq: int, reads: tuple[Key, ...] = (), writes: tuple[Key, ...] = ()) -> Commit:
    ops = tuple(Op("set", key, 1) for key in writes)
    return Commit(seq, 1, 1, "c", "f", "n", "SET", reads=reads, ops=ops)


A, B = ("v1", "a"), ("v1", "b")


def test_what_was_written_before_is_linked() -> None:
    """A variable that is read or written has a link to its last writer of before."""
    writers = Writers()
    assert writers.take([commit(1, writes=(A, B)), commit(2, writes=(A,))]) == []
    assert writers.take([commit(3, reads=(A,)), commit(4, writes=(B,))]) == [
        ("v1", "a", 2),
        ("v1", "b", 1),
    ]
    assert writers.last((*B, "part")) == 4


def test_what_the_turn_wrote_itself_has_no_link() -> None:
    """Nor what was never written: then there is nothing to look for."""
    writers = Writers()
    assert writers.take([commit(1, writes=(A,)), commit(2, reads=(A, B))]) == []


def test_a_part_counts_as_its_variable() -> None:
    """Who changed something in a variable wrote it."""
    writers = Writers()
    writers.take([commit(1, writes=((*A, "x", 0),))])
    assert writers.take([commit(2, reads=((*A, "y"),))]) == [("v1", "a", 1)]


def test_a_scope_as_a_whole() -> None:
    """Reading all of it links all its variables."""
    writers = Writers()
    writers.take([commit(1, writes=(("cargo", "a"),)), commit(2, writes=(("cargo", "b"),))])
    assert writers.take([commit(3, reads=(("cargo",),))]) == [("cargo", "a", 1), ("cargo", "b", 2)]
    assert writers.variables("cargo") == [("cargo", "a"), ("cargo", "b")]


def test_messages_and_turns_are_not_carried() -> None:
    """They would grow with the conversation, and are found without."""
    writers = Writers()
    writers.take([commit(1, writes=(("input", "1"), ("turn", "reply")))])
    assert writers.take([commit(2, reads=(("input", "1"), ("turn", "reply")))]) == []
    assert writers.for_json() == {"since": 1, "of": {}}


def test_scopes_that_are_gone() -> None:
    """Their variables are forgotten: nothing can read them."""
    writers = Writers()
    writers.take([commit(1, writes=(A, ("v2", "a")))])
    writers.only({"v2"})
    assert writers.for_json() == {"since": 1, "of": {"v2": {"a": 1}}}


def test_bounded() -> None:
    """The one written longest ago goes first, and from when on nothing is missing is known."""
    writers = Writers()
    writers.take([commit(n, writes=(("v1", f"x{n}"),)) for n in range(1, MAX_WRITERS + 4)])
    writers.only({"v1"})
    assert len(writers.variables("v1")) == MAX_WRITERS
    assert (writers.since, writers.last(("v1", "x3")), writers.last(("v1", "x4"))) == (4, 0, 4)


def test_json() -> None:
    """It goes through JSON and back; what is none begins anew, at the next commit."""
    writers = Writers()
    writers.take([commit(1, writes=(A,))])
    tree = json.loads(json.dumps(writers.for_json()))
    assert Writers.from_tree(tree, 9).for_json() == writers.for_json()
    for damaged in (None, [], {"since": 1, "of": {"v1": {"$date": "x"}}}):
        assert Writers.from_tree(damaged, 9).for_json() == {"since": 9, "of": {}}
