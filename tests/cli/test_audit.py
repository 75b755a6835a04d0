"""`saywhy audit`: bundles written and checked, stores checked, anchors, the single file."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from .conftest import Run


@pytest.fixture
def played(run: Run, pay: str) -> None:
    run("chat", pay, "--no-guidance", "--session", "first", "--user", "ann", stdin="Pay\n80\nAnn\n")
    run("chat", pay, "--no-guidance", "--session", "second", "--user", "bob", stdin="Pay\n20\n")


@pytest.mark.usefixtures("played")
def test_a_bundle_is_written_and_verified(run: Run, folder: Path) -> None:
    """The seal is told when it is written, and again when it is verified."""
    done = run("audit", "export", "--session", "first", "--out", "b.jsonl")
    assert (done.code, done.out) == (0, "")
    seal = done.err.removeprefix("seal ").strip()
    done = run("audit", "verify", "b.jsonl", "--known", seal)
    assert done.code == 0
    assert done.lines[0].startswith("verified: 3 turns in 1 chain, ")
    assert done.lines[-1] == f"seal {seal}"
    told = run("audit", "export", "--session", "first", "--out", "c.jsonl", "--json").data[0]
    assert told == {"file": "c.jsonl", "seal": seal}
    assert (folder / "b.jsonl").read_bytes() == (folder / "c.jsonl").read_bytes()
    report = run("audit", "verify", "b.jsonl", "--json").data[0]
    assert (report["ok"], report["turns"], report["seal"]) == (True, 3, seal)


@pytest.mark.usefixtures("played")
def test_which_conversations(run: Run) -> None:
    """One, a person's, or all with the anchors; one of the three has to be said."""
    lines = run("audit", "export", "--user", "bob").data
    assert [one["chain"]["session"] for one in lines if "chain" in one] == ["second"]
    run("audit", "anchor")
    lines = run("audit", "export", "--all").data
    assert {one["chain"]["session"] for one in lines if "chain" in one} == {"first", "second"}
    assert [len(one["anchor"]["heads"]) for one in lines if "anchor" in one] == [2]
    for arguments in ((), ("--all", "--user", "bob")):
        done = run("audit", "export", *arguments)
        assert (done.code, done.out) == (2, "")
        assert done.err.startswith(
            "saywhy: say which conversations: --session ID, --user ID or --all"
        )
    assert run("audit", "export", "--all", "--json").err == (
        "saywhy: --json tells of a file\n    --out FILE writes the bundle there\n"
    )
    assert run("audit", "export", "--user", "eve").err == (
        'saywhy: there is no conversation of user "eve" in this store\n'
    )
    assert "none" in run("audit", "export", "--session", "none").err


@pytest.mark.usefixtures("played")
def test_a_changed_bundle_ends_with_1(run: Run, folder: Path) -> None:
    """The first line that does not hold is named."""
    run("audit", "export", "--session", "first", "--out", "b.jsonl")
    path = folder / "b.jsonl"
    path.write_bytes(path.read_bytes().replace(b"How much?", b"How many?", 1))
    done = run("audit", "verify", "b.jsonl")
    assert (done.code, done.out) == (
        1,
        "NOT VERIFIED: line 5: message 2 is not what was recorded\n",
    )
    assert run("audit", "verify", "b.jsonl", "--store", "saywhy.db").err == (
        "saywhy: a bundle or a store is checked, not both\n    leave one out\n"
    )


@pytest.mark.usefixtures("played")
def test_a_store_is_verified(run: Run) -> None:
    """Without a bundle the store is checked; what was touched in it is told, with exit code 1."""
    anchor = run("audit", "anchor").out.split()
    assert anchor[:2] == ["anchor", "1"]
    assert run("audit", "anchor", "--json").data[0]["digest"] == anchor[2]
    done = run("audit", "verify", "--known", anchor[2])
    assert done.code == 0
    assert done.lines[0].startswith("verified: 5 turns in 2 chains, ")
    assert done.lines[-1] == "anchors that hold: 1"
    with closing(sqlite3.connect("saywhy.db", isolation_level=None)) as db:
        db.execute("DELETE FROM message WHERE seq = 1")
    done = run("audit", "verify", "--store", "saywhy.db", "--json")
    assert done.code == 1
    assert "has 1 messages and" in done.data[0]["wrong"]


@pytest.mark.usefixtures("played")
def test_the_single_file_is_written(run: Run, folder: Path) -> None:
    """What is written is the verifier, and it runs by itself."""
    run("audit", "export", "--all", "--out", "b.jsonl")
    (folder / "verify.py").write_text(run("audit", "verifier").out, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-I", "verify.py", "b.jsonl", "--json"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout)["turns"] == 5
