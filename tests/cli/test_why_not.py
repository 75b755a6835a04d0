"""`saywhy why-not` and `saywhy what-changed`: two more questions to a record."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from .conftest import Run


@pytest.fixture
def played(run: Run, pay: str) -> None:
    """A finished conversation."""
    run("chat", pay, "--no-guidance", "--session", "first", stdin="Pay\n80\nAnn\n")


@pytest.mark.usefixtures("played")
def test_why_not(run: Run) -> None:
    """What was considered is told; what is unknown names what is near."""
    done = run("why-not", "flow:Pay", "--session", "first")
    assert done.code == 0, done.err
    assert done.out == "nobody looked for a flow in turn 3: the words answer the open question\n"
    (data,) = run("why-not", "flow:Pay", "--session", "first", "--json").data
    assert (data["conversation"], data["kind"], data["name"]) == ("first", "flow", "Pay")
    wrong = run("why-not", "flow:Pya", "--session", "first")
    assert wrong.code == 2
    assert 'did you mean "Pay"?' in wrong.err


@pytest.mark.usefixtures("played")
def test_what_changed(run: Run) -> None:
    """All that depended on the last message, or on that of a turn."""
    done = run("what-changed", "--session", "first", "--turn", "1")
    assert done.code == 0, done.err
    assert done.out.startswith("message 1 (turn 1): ")
    (data,) = run("what-changed", "--session", "first", "--turn", "1", "--json").data
    assert data["message"] == 1
    named = run("what-changed", "--session", "first", "--message", "message:1", "--json")
    assert named.data == [data]
    wrong = run("what-changed", "--session", "first", "--message", "99")
    assert wrong.code == 2
    assert "message 99 is none of the user's" in wrong.err
    both = run("what-changed", "--session", "first", "--message", "1", "--turn", "2")
    assert both.code == 2
    assert "--message and --turn each name a message" in both.err


@pytest.mark.usefixtures("played")
def test_why_of_other_things(run: Run) -> None:
    """The likeliest causes alone; a thing that is not there; two things at once."""
    done = run("why", "--session", "first", "--first", "2")
    assert done.code == 0, done.err
    assert "  1. " in done.out
    assert "  3. " not in done.out
    both = run("why", "--session", "first", "--error", "--missing", "reply")
    assert both.code == 2
    assert "--missing and --error ask about different things" in both.err
    none = run("why", "--session", "first", "--argument", "charge.amount")
    assert none.code == 2
    assert "no call of charge is recorded" in none.err


@pytest.mark.parametrize("damage", [b"[" * 3000, b"[]", b'{"cursor"', b"\xff", b'{"cursor":[]}'])
@pytest.mark.usefixtures("played")
def test_a_damaged_document_hides_no_record(run: Run, folder: Path, damage: bytes) -> None:
    """The record is told all the same; what needs the document says what is wrong with it."""
    with sqlite3.connect(folder / "saywhy.db") as db:
        db.execute("UPDATE document SET doc = ?", (damage,))
    db.close()
    for question in (["why"], ["why-not", "flow:Pay"], ["what-changed"], ["narrative"]):
        done = run(*question)
        assert done.code == 0, done.err
        assert done.err == "conversation first\n"
    replayed = run("replay", "first")
    assert replayed.code == 2
    assert replayed.err.startswith("saywhy: its document ")
