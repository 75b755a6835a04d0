"""`saywhy store`: what is pruned and converted, how many, and where."""

from __future__ import annotations

import sqlite3
from contextlib import closing
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


@pytest.mark.parametrize("age", ["36526d", "9" * 20 + "d", "9" * 400 + "h"])
def test_ages_beyond_reason(age: str) -> None:
    """Nothing is that old, and no store can count that far."""
    with pytest.raises(CallerError, match="ago there were no conversations"):
        seconds_of(age)


@pytest.mark.parametrize("age", ["90", "d", "-1d", "2w", ""])
def test_other_ages(age: str) -> None:
    """Are refused with what to write."""
    with pytest.raises(CallerError, match="an age is days or hours") as refusal:
        seconds_of(age)
    assert refusal.value.hint == "write 90d or 36h"


def test_convert(run: Run, pay: str) -> None:
    """Compressed, and back again byte for byte; what is done already is not done twice."""
    run("chat", pay, "--no-guidance", "--session", "c", stdin="Pay\n80\n")
    run("chat", pay, "--no-guidance", "--session", "d", stdin="Pay\n")
    before = documents()
    done = run("store", "convert", "--to", "br-v1")
    assert done.code == 0
    assert done.out.startswith("2 conversations in saywhy.db: 2 documents written as br-v1 (")
    assert all(one.startswith(b"br-v1\x00") for one in documents())
    assert sum(map(len, documents())) < sum(map(len, before)) / 1.5
    same = "2 conversations in saywhy.db: 0 documents written as br-v1\n"
    assert run("store", "convert", "--to", "br-v1", "saywhy.db").out == same
    assert "80" in run("why", "--session", "c", "--variable", "amount").out
    assert run("chat", pay, "--no-guidance", stdin="80\n").code == 0
    assert run("store", "convert", "--to", "br-v1").code == 0
    assert run("store", "convert", "--to", "plain", "--store", "saywhy.db").code == 0
    assert documents()[0] == before[0]
    assert run("chat", pay, "--no-guidance", "--session", "c", stdin="Ann\n").out == "80 for Ann.\n"


def documents() -> list[bytes]:
    with closing(sqlite3.connect("saywhy.db")) as db:
        return [doc for (doc,) in db.execute("SELECT doc FROM document ORDER BY session_key")]


def test_convert_what_cannot_be(run: Run, pay: str) -> None:
    """A conversation that is run by somebody, or damaged, stays and is named; it exits with 1."""
    for name in ("a", "b"):
        run("chat", pay, "--no-guidance", "--session", name, stdin="Pay\n")
    run("store", "convert", "--to", "br-v1")
    with closing(sqlite3.connect("saywhy.db", isolation_level=None)) as db:
        db.execute("UPDATE document SET doc = substr(doc, 1, 40) WHERE session_key = 1")
        db.execute("UPDATE session SET lease_until = 9999999999999 WHERE id = 'b'")
    done = run("store", "convert", "--to", "plain", "--wait", "0")
    assert done.code == 1
    assert done.out == "2 conversations in saywhy.db: 0 documents written as plain\n"
    assert done.err.splitlines() == [
        "1 conversation stayed as before, a turn is running: b",
        "a stayed as before: its br-v1 document was cut off",
    ]


def test_convert_to_nothing_known(run: Run, folder: Path) -> None:
    """The encodings there are are named, and no store is made."""
    assert "'plain', 'br-v1'" in run("store", "convert", "--to", "gzip").err
    done = run("store", "convert", "--to", "plain", "x.db")
    assert (done.code, done.err.splitlines()[0]) == (2, "saywhy: there is no store x.db")
    assert list(folder.iterdir()) == []
