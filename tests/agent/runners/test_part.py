"""Promise: whatever is wrong with the names of parts is told, all at once."""

from __future__ import annotations

import pytest

from saywhy.agent.runners.part import added, before, id_problems
from saywhy.models.chat import assistant_message, user_message
from saywhy.values import UNDEFINED, freeze


@pytest.mark.parametrize(
    ("ids", "texts"),
    [
        (["a", "b"], []),
        (["a", "a"], ['2 of the steps have the id "a"']),
        (["a b"], ["'a b' is no id of a step"]),
        ([7], ["7 is no id of a step"]),
        (["seed"], ['a step cannot have the id "seed"']),
        (["", "x", "x"], ["'' is no id of a step", '2 of the steps have the id "x"']),
    ],
)
def test_ids(ids: list[str], texts: list[str]) -> None:
    """An id is text that can stand in a path, and is there once."""
    found = [one.message for one in id_problems("step", ids, ["seed"])]
    assert found == texts


def test_what_was_said_before() -> None:
    """The words that are being answered are no part of what was said before them."""
    said = freeze([user_message("a"), assistant_message("b"), user_message("c")])
    assert [one["content"] for one in before(said)] == ["a", "b"]
    assert before(before(said)) == before(said)


def test_rounds_add_up() -> None:
    """The rounds of all parts are those of the whole."""
    assert added(UNDEFINED, [2]) == 2
    assert added(3, [2, UNDEFINED]) == 5
