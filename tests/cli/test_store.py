"""`saywhy store prune`: how old, how many, and where."""

from __future__ import annotations

from pathlib import Path

import pytest

from saywhy.cli.store import seconds_of
from saywhy.errors import CallerError

from .conftest import Run


def test_prune(run: Run, pay: str) -> None:
    """What is older goes, and how many turns that were is said; the conversation goes on."""
    run("chat", pay, "--no-guidance", "--session", "c", stdin="Pay\n80\n")
    assert run("store", "prune", "--older-than", "1d").out == "0 turns pruned in saywhy.db\n"
    assert run("store", "prune", "--older-than", "0d").out == "1 turn pruned in saywhy.db\n"
    assert run("why", "--turn", "1").code == 2
    assert run("chat", pay, "--no-guidance", "--session", "c", stdin="Ann\n").out == "80 for Ann.\n"


def test_no_store(run: Run, folder: Path) -> None:
    """None is made by pruning."""
    done = run("store", "prune", "--older-than", "1d", "--store", "x.db")
    assert (done.code, done.err) == (
        2,
        "saywhy: there is no store x.db\n    --store names another file\n",
    )
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize(("age", "seconds"), [("90d", 7776000), ("1.5h", 5400), ("0d", 0)])
def test_ages(age: str, seconds: float) -> None:
    """Days and hours."""
    assert seconds_of(age) == seconds


@pytest.mark.parametrize("age", ["90", "d", "-1d", "2w", ""])
def test_other_ages(age: str) -> None:
    """Are refused with what to write."""
    with pytest.raises(CallerError, match="an age is days or hours") as refusal:
        seconds_of(age)
    assert refusal.value.hint == "write 90d or 36h"
