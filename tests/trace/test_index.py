"""Finding who touched a key, as it would be found by looking through everything."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from saywhy.trace.index import KeyIndex, touches
from saywhy.values import Key

ROOTS = st.tuples(st.sampled_from(["v1", "cargo"]), st.sampled_from("ab"))
KEYS = ROOTS.flatmap(
    lambda root: st.lists(st.sampled_from(["x", "y", 0, 1]), max_size=3).map(
        lambda path: (*root, *path)
    )
) | st.sampled_from([("v1",), ("cargo",)])


def test_touching_is_above_and_beneath() -> None:
    """A path meets itself, what lies above it and what lies beneath it, and nothing beside it."""
    fee: Key = ("v1", "fee")
    assert touches(fee, fee)
    assert touches(fee, ("v1", "fee", "total"))
    assert touches(("v1", "fee", "total"), fee)
    assert not touches(("v1", "fee", "total"), ("v1", "fee", "currency"))
    assert not touches(fee, ("v2", "fee"))


@given(st.lists(st.lists(KEYS, max_size=3), max_size=12), KEYS, st.integers(0, 14))
def test_it_finds_what_a_search_finds(commits: list[list[Key]], wanted: Key, before: int) -> None:
    """`last`, `all` and `newest_first` agree with looking at every touch."""
    index = KeyIndex()
    for seq, keys in enumerate(commits, start=1):
        for key in keys:
            index.add(key, seq)
    found = [
        seq
        for seq, keys in enumerate(commits, start=1)
        if any(touches(key, wanted) for key in keys)
    ]
    assert index.all(wanted) == found
    earlier = [seq for seq in found if seq < before]
    assert index.all(wanted, before - 1) == earlier
    assert index.last(wanted, before) == (earlier[-1] if earlier else 0)
    assert list(index.newest_first(wanted, before)) == earlier[::-1]


def test_roots_and_names() -> None:
    """A name gives the variables that bear it, in the order they were first touched."""
    index = KeyIndex()
    index.add(("v2", "amount"), 1)
    index.add(("v1", "amount", "x"), 2)
    index.add(("cargo", "plan"), 3)
    assert index.roots("amount") == [("v2", "amount"), ("v1", "amount")]
    assert index.roots("nothing") == []
    assert index.variables("cargo") == [("cargo", "plan")]
    assert list(index.names({"cargo"})) == ["amount"]
