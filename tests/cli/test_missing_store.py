"""Promise: only what begins a conversation makes a store; every other command refuses without."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import typer

from saywhy.cli.main import app
from tests.cli.conftest import Run

NEEDED: dict[str, list[str]] = {
    "why-not": ["flow:Pay"],
    "what-changed": ["--message", "1"],
    "draw": ["x.json", "--session", "c1"],
    "forget": ["ann"],
    "store prune": ["--older-than", "1d"],
    "store convert": ["--to", "plain"],
    "audit export": ["--all"],
    "unknown settle": ["c1", "1", "--not-done"],
}
"""What a command cannot do without, besides the store."""
MAKES: set[str] = {"chat", "demo", "mcp"}
"""Begin conversations, in a store of their own making."""
NOT_READ: set[str] = {"prove approval", "prove effects", "prove ids", "prove order"}
"""Name a place for what they make."""


def commands(group: Any, before: str = "") -> Iterator[tuple[str, Any]]:
    """Every command with its name."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, f"{before}{name} ")
        else:
            yield before + name, command


def takes_a_store(command: Any) -> bool:
    return any("--store" in one.opts for one in command.params)


WITH_STORE = {
    name: command
    for name, command in commands(typer.main.get_command(app))
    if takes_a_store(command)
}


def arguments_of(name: str) -> list[str]:
    """A use of the command that says all that must be said."""
    if name in NEEDED:
        return NEEDED[name]
    needed = [one for one in WITH_STORE[name].params if one.required]
    return [
        text
        for one in needed
        for text in (["1"] if one.param_type_name == "argument" else [one.opts[0], "1"])
    ]


@pytest.mark.parametrize("name", sorted(set(WITH_STORE) - MAKES - NOT_READ))
def test_a_file_that_is_not_there(run: Run, folder: Path, name: str) -> None:
    """It is named as missing, and there is none afterwards either."""
    done = run(*name.split(), *arguments_of(name), "--store", "gone.db")
    assert (done.code, done.out) == (2, "")
    assert "saywhy: there is no store gone.db\n" in done.err
    assert [path.name for path in folder.iterdir() if path.name.startswith("gone")] == []


def test_the_commands_that_make_one_are_known() -> None:
    """A command that is none any more is not excused."""
    assert set(WITH_STORE) >= MAKES | NOT_READ


@pytest.mark.parametrize("name", sorted(set(WITH_STORE) - MAKES - NOT_READ))
@pytest.mark.parametrize("kind", ["empty", "of another program"])
def test_a_file_that_is_no_store(run: Run, folder: Path, name: str, kind: str) -> None:
    """It is told as such, and stays as it was: nothing makes a store of another program's data."""
    path = folder / "other.db"
    path.touch()
    if kind != "empty":
        with closing(sqlite3.connect(path)) as db:
            db.execute("CREATE TABLE theirs (x)")
    before = path.read_bytes()
    done = run(*name.split(), *arguments_of(name), "--store", "other.db")
    assert (done.code, done.out) == (2, "")
    assert "saywhy: other.db holds no conversations\n" in done.err
    assert path.read_bytes() == before


@pytest.mark.parametrize("name", sorted(set(WITH_STORE) - MAKES - NOT_READ))
def test_what_no_file_can_be_called(run: Run, name: str) -> None:
    """A folder, and a path that is too long, are told in a sentence."""
    needed = [*name.split(), *arguments_of(name), "--store"]
    assert run(*needed, ".").err.startswith("saywhy: . is a folder\n")
    long = "n" * 300
    told = f"saywhy: the store {long} cannot be opened: File name too long\n"
    assert run(*needed, long).err == told


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="takes root")
def test_a_user_without_a_home() -> None:
    """The throw-away files of nobody in particular are the system's."""
    program = """
import os, tempfile
from saywhy.cli.options import demo_store
os.setuid(54321)
assert str(demo_store()) == os.path.join(tempfile.gettempdir(), "saywhy", "demo.db")
"""
    known = {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}
    subprocess.run([sys.executable, "-c", program], env=known, check=True)
