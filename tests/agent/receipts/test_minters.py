"""Promise: each run has a minter of its own, and its entries lean on what the state holds."""

from __future__ import annotations

from typing import Any

import pytest

from saywhy.agent.receipts.minters import Minters
from saywhy.agent.receipts.receipt import Receipt
from saywhy.agent.receipts.stored import from_stored
from saywhy.values import dumps, freeze, loads
from tests.agent.receipts.conftest import ask


def held_after(minters: Minters, calls: int, held: Any = (), run_id: str = "run-1") -> list[Any]:
    """The list in the state after some more calls."""
    found = list(held)
    for _ in range(calls):
        call = len(found) + 1
        entry = minters.entry(ask(*["m"] * call), run_id, found, call=call, step_id="call-llm")
        found.append(freeze(entry))
    return found


def readable(held: list[Any]) -> list[Receipt]:
    found = [each for each in from_stored(held) if isinstance(each, Receipt)]
    assert len(found) == len(held)
    return found


@pytest.mark.parametrize("run_id", [None, ""])
def test_without_a_run_id_there_is_none(run_id: str | None) -> None:
    """Never one without salt."""
    assert Minters().entry(ask("a"), run_id, [], call=1) is None


def test_entries_lean_on_one_another() -> None:
    """The first says everything; the others what is new."""
    held = held_after(Minters(), 3)
    assert ["run" in entry for entry in held] == [True, False, False]
    assert [receipt.basis.call for receipt in readable(held)] == [1, 2, 3]


def test_another_process_goes_on() -> None:
    """With the list from JSON and no memory of its own: the same receipts, as short."""
    here = held_after(Minters(), 3)
    there = held_after(Minters(), 2, loads(dumps(freeze(here))))
    assert readable(there) == readable(held_after(Minters(), 5))
    assert "run" not in there[3]


def test_a_step_that_came_to_nothing_is_no_basis() -> None:
    """What was minted and never kept is not what the next entry leans on."""
    minters = Minters()
    held = held_after(minters, 2)
    minters.entry(ask("lost"), "run-1", held, call=3)
    assert readable(held_after(minters, 1, held)) == readable(held_after(Minters(), 3))


def test_a_new_run_says_everything_again() -> None:
    """Its hashes are others, so there is nothing to take over; what it goes on from is named."""
    minters = Minters()
    held = held_after(minters, 2)
    entry = minters.entry(ask("m"), "run-2", held, call=1, resumed_from="run-1")
    receipt = readable([*held, entry])[-1]
    assert (receipt.basis.run_id, receipt.basis.resumed_from) == ("run-2", "run-1")
    assert len(receipt.messages) == 1


def test_after_an_unreadable_entry_everything_is_said_again() -> None:
    """A damaged list is no reason for damaged receipts."""
    held = [*held_after(Minters(), 1), freeze({"version": 7})]
    assert isinstance(from_stored(held_after(Minters(), 1, held))[-1], Receipt)


def test_runs_side_by_side() -> None:
    """Each gets its own receipts, however their calls alternate, forgotten or not."""
    minters = Minters(keep=2)
    held: dict[str, list[Any]] = {"a": [], "b": [], "c": []}
    for _ in range(3):
        held = {name: held_after(minters, 1, found, name) for name, found in held.items()}
    for run_id, entries in held.items():
        assert readable(entries) == readable(held_after(Minters(), 3, run_id=run_id))


def test_options_are_those_of_every_run() -> None:
    """A secret and strict labels hold for all minters."""
    minters = Minters(secret_salt="hush", strict_labels=True)
    basis = readable(held_after(minters, 1))[0].basis
    assert (basis.keyed_by, basis.labels) == ("host", "hashed")


def test_what_is_remembered_is_bounded() -> None:
    """By the number of runs and by that of their messages; the run under way is never dropped."""
    minters = Minters(keep=3, keep_messages=10)
    for number in range(6):
        minters.entry(ask("a"), f"run-{number}", [], call=1)
        assert len(minters) == min(number + 1, 3)
    minters.entry(ask(*["m"] * 9), "long", [], call=1)
    assert len(minters) == 2
    minters.entry(ask(*["m"] * 30), "longer", [], call=1)
    assert len(minters) == 1
