"""Promise: paths meet where they lead to the same place, with items of lists counted or not."""

from __future__ import annotations

import pytest

from saywhy.trace.masking.places import beyond, found_at, index_of, meet
from saywhy.values import freeze

KNOWN = ("v1", "r", "list", "ssn")


@pytest.mark.parametrize(
    ("key", "left"),
    [
        (("v1", "r"), ("list", "ssn")),
        (("v1", "r", "list"), ("ssn",)),
        (("v1", "r", "list", 3), ("ssn",)),
        (("v1", "r", "list", 3, "ssn"), ()),
        (("v1", "r", "list", 3, "ssn", 0), ()),
        (("v1", "r", "list", 3, "city"), None),
        (("v1", "other"), None),
    ],
)
def test_what_is_left_of_a_known_path_behind_another(
    key: tuple[str | int, ...], left: tuple[str, ...] | None
) -> None:
    """Nothing inside it, the rest around it, None elsewhere."""
    assert beyond(KNOWN, key) == left
    assert meet(KNOWN, key) is (left is not None)


def test_a_number_may_be_written_as_a_text() -> None:
    """It names that item and no other."""
    assert meet(("cargo", "people", "1"), ("cargo", "people", 1, "ssn"))
    assert not meet(("cargo", "people", "1", "ssn"), ("cargo", "people", 0, "ssn"))
    assert (index_of("12"), index_of(3), index_of("ssn")) == (12, 3, None)


def test_what_stands_there() -> None:
    """Of a list that is not counted what each item has; nothing where nothing is."""
    value = freeze({"people": [{"ssn": "1"}, {"ssn": "2"}, {}], "left": 0})
    assert found_at(value, ()) == value.raw
    assert found_at(value, ("left",)) == 0
    assert found_at(value, ("people", "ssn")) == ["1", "2", None]
    assert found_at(value, ("people", 1, "ssn")) == "2"
    assert found_at(value, ("people", "1", "ssn")) == "2"
    assert found_at(value, ("people", 7, "ssn")) is None
    assert found_at(value, ("gone", "ssn")) is None
    assert found_at("text", ("ssn",)) is None
