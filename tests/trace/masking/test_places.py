"""Promise: paths meet where they lead to the same place, with items of lists counted or not."""

from __future__ import annotations

import pytest

from saywhy.trace.masking.places import beyond, index_of, meet

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
