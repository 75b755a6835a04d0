"""A ledger that outlives whoever writes in it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from saywhy.testing.ledger import Entry, Ledger

WRITER = """
import sys
from saywhy.testing.ledger import Ledger
ledger = Ledger(sys.argv[1])
for number in range(100):
    ledger.note("line", sys.argv[2], number=number, padding="x" * 500)
"""


def test_what_was_noted_is_there(tmp_path: Path) -> None:
    """In order, by kind and by key; who wrote it is known."""
    ledger = Ledger(tmp_path / "ledger")
    assert ledger.entries() == []
    ledger.note("call", "k1", amount=3)
    ledger.note("effect", "k1")
    ledger.note("call", "k10")
    first, *_ = ledger.entries()
    assert first == Entry("call", "k1", first.pid, {"amount": 3})
    assert [entry.key for entry in ledger.entries("call")] == ["k1", "k10"]
    assert [entry.kind for entry in ledger.entries(key="k1")] == ["call", "effect"]
    assert [ledger.count("call", key) for key in ("k1", "k10", "k")] == [1, 1, 0]


def test_a_line_whose_writer_died_is_none(tmp_path: Path) -> None:
    """Half a line is left out, and those after it are read."""
    ledger = Ledger(tmp_path / "ledger")
    ledger.note("call", "k1")
    with ledger.path.open("ab") as file:
        file.write(b'{"kind":"call","key":"k2","pi')
    assert [entry.key for entry in ledger.entries()] == ["k1"]
    ledger.note("effect", "k2")
    assert [(entry.kind, entry.key) for entry in ledger.entries()] == [
        ("call", "k1"),
        ("effect", "k2"),
    ]


def test_lines_of_several_processes_do_not_mix(tmp_path: Path) -> None:
    """Each line is whole, and those of one writer are in its order."""
    ledger = Ledger(tmp_path / "ledger")
    command = [sys.executable, "-c", WRITER, str(ledger.path)]
    writers = [subprocess.Popen([*command, name]) for name in ("a", "b")]
    assert [writer.wait() for writer in writers] == [0, 0]
    assert len(ledger.entries()) == 200
    for name in ("a", "b"):
        numbers = [entry.facts["number"] for entry in ledger.entries(key=name)]
        assert numbers == list(range(100))
