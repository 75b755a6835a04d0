"""Promise: what came of a call stands where the user was told that nobody knows it yet."""

from __future__ import annotations

from saywhy.testing.prove.record import Played

UNKNOWN = "It is not known yet whether it took effect."
APPROVAL = "That has to be approved first."


def final(*replies: tuple[bool, str | None]) -> tuple[str | None, ...]:
    return Played(replies).final_words


def test_nobody_had_to_decide() -> None:
    """The replies as they were."""
    assert final((True, "a"), (True, None)) == ("a", None)


def test_each_call_has_the_words_of_its_own_decision() -> None:
    """Two calls of one conversation that both became unknown."""
    said = final(
        (True, UNKNOWN), (False, "paid"), (True, "sure?"), (True, UNKNOWN), (False, "again")
    )
    assert said == ("paid", "sure?", "again")


def test_several_decisions_about_one_call() -> None:
    """The last one says what came of it, also for words said while it was waited for."""
    said = final(
        (True, APPROVAL), (True, APPROVAL), (False, UNKNOWN), (False, "paid"), (True, "more")
    )
    assert said == ("paid", "paid", "more")


def test_undecided() -> None:
    """Then the user was told nothing else."""
    assert final((True, UNKNOWN), (True, UNKNOWN)) == (UNKNOWN, UNKNOWN)
