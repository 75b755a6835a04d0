"""The program as such: help, misuse, and how quickly it is there."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

from .conftest import Run

PROGRAM = Path(sys.executable).with_name("saywhy")


def test_help(run: Run) -> None:
    """Every command is listed with one sentence."""
    done = run("--help")
    assert done.code == 0
    for command in ("chat", "check", "test", "why", "draw", "demo"):
        assert f"  {command} " in done.out


def test_an_unknown_command(run: Run) -> None:
    """Misuse is exit code 2 and a message on standard error."""
    done = run("chta")
    assert (done.code, done.out) == (2, "")
    assert "chta" in done.err


def test_a_missing_argument(run: Run) -> None:
    """So is a command without its files."""
    assert run("check").code == 2


def test_as_a_module() -> None:
    """`python -m saywhy` is the same program."""
    command = [sys.executable, "-m", "saywhy", "--help"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("Usage: saywhy ")


def test_help_is_quick() -> None:
    """`saywhy --help` loads nothing that only a command needs."""
    loaded = "import sys, saywhy.cli.main; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", loaded], capture_output=True, text=True, check=True
    )
    modules = set(done.stdout.split())
    heavy = {"asyncio", "sqlite3", "rich", "prompt_toolkit", "pydantic", "yaml", "quickjs"}
    ours = {"saywhy.flows.load", "saywhy.runtime.engine", "saywhy.trace.trace", "saywhy.values"}
    assert not modules & (heavy | ours)


def test_help_takes_less_than_400_ms() -> None:
    """The best of five runs of `saywhy --help` is under 400 ms."""
    assert min(seconds_of_help() for _ in range(5)) < 0.4


def seconds_of_help() -> float:
    began = time.perf_counter()
    subprocess.run([str(PROGRAM), "--help"], capture_output=True, check=True)
    return time.perf_counter() - began
