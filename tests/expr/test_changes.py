"""Promise: what differs is found as far inside as it can be placed, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from saywhy.expr.changes import Change, changes
from saywhy.values import UNDEFINED, delete_path, freeze, same, set_path

CASES: list[tuple[Any, Any, list[Change]]] = [
    ({"a": 1}, {"a": 1}, []),
    ({"a": 1}, {"a": 2}, [Change(("v", "a"), 2)]),
    ({"a": 1}, {"a": 1, "b": 2}, [Change(("v", "b"), 2)]),
    ({"a": 1, "b": 2}, {"b": 2}, [Change(("v", "a"), UNDEFINED, deleted=True)]),
    ({"a": {"b": [1]}}, {"a": {"b": [1, 2]}}, [Change(("v", "a", "b", 1), 2)]),
    ([1, 2, 3], [1, 9, 3], [Change(("v", 1), 9)]),
    ([1, 2], [1, 2, 3, 4], [Change(("v", 2), 3), Change(("v", 3), 4)]),
    ([3, 1, 2], [1, 2, 3], [Change(("v",), freeze([1, 2, 3]))]),
    ([1, 2], [1], [Change(("v",), freeze([1]))]),
    (1, "1", [Change(("v",), "1")]),
    (1, True, [Change(("v",), True)]),
    ([1], {"0": 1}, [Change(("v",), freeze({"0": 1}))]),
]


@pytest.mark.parametrize(("before", "after", "expected"), CASES)
def test_changes(before: Any, after: Any, expected: list[Change]) -> None:
    """Keys and items are told apart from whole values that are new."""
    assert list(changes(("v",), freeze(before), after)) == expected


TREES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.sampled_from(["a", ""]),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from("abcd"), inner, max_size=4)
    ),
    max_leaves=15,
)


@settings(max_examples=500, deadline=None)
@given(TREES, TREES)
def test_applying_the_changes_gives_the_new_value(before: Any, after: Any) -> None:
    """Made in order, the changes turn the old value into the new one."""
    state = freeze({"v": before})
    for change in changes(("v",), freeze(before), after):
        value = change.value
        state = (
            delete_path(state, change.path)
            if change.deleted
            else set_path(state, change.path, value)
        )
    assert same(state, freeze({"v": after}))
