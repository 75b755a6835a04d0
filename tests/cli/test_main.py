"""The program as such: help, misuse, and how quickly it is there."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from .conftest import Run

PROGRAM = Path(sys.executable).with_name("saywhy")


def test_help(run: Run) -> None:
    """Every command is listed with one sentence."""
    done = run("--help")
    assert done.code == 0
    for command in ("chat", "check", "test", "why", "draw", "demo"):
        assert f"  {command} " in done.out


def test_help_in_a_list_is_whole(run: Run) -> None:
    """No sentence of the list is cut off."""
    assert "..." not in run("--help").out.replace("[ARGS]...", "")


def test_version(run: Run) -> None:
    """One line, for those who report a bug."""
    done = run("--version")
    assert (done.code, done.out) == (0, f"saywhy {version('saywhy')}\n")


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


def test_help_costs_less_than_400_ms() -> None:
    """`saywhy --help` takes under 400 ms of a processor, whatever else the machine does."""
    assert min(seconds_of_help() for _ in range(3)) < 0.4


def seconds_of_help() -> float:
    """What one run used, not how long it took: tests may run side by side."""
    process = subprocess.Popen([str(PROGRAM), "--help"], stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return used.ru_utime + used.ru_stime


FLOW = """
- id: f
  name: F
  steps:
    - {id: ask, type: SAY-GET, variable: n, value: "n?"}
    - {id: say, type: SAY, value: "got {{n}}"}
"""


def in_a_shell(folder: Path, words: str, text: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    (folder / "f.yaml").write_text(FLOW, encoding="utf-8")
    return subprocess.run(
        f'"{PROGRAM}" {words}',
        shell=True,
        cwd=folder,
        input=text,
        capture_output=True,
        check=False,
    )


@pytest.mark.parametrize("closed", ["<&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_streams_are_empty_ones(tmp_path: Path, closed: str) -> None:
    """A program that is started without some of its streams does what it can do without them."""
    done = in_a_shell(tmp_path, f"chat f.yaml --new --json {closed}")
    assert (done.returncode, b"Traceback" in done.stderr) == (0, False)


@pytest.mark.parametrize("command", ["export", "export --format json", "audit export --all"])
def test_what_goes_to_a_closed_stream_is_lost(tmp_path: Path, command: str) -> None:
    """Where it is all that the run is for, it is a failure; a device that keeps nothing is none."""
    in_a_shell(tmp_path, "chat f.yaml --new", b"F\n")
    done = in_a_shell(tmp_path, f"{command} >&-")
    assert done.returncode == 2
    assert done.stderr.endswith(
        b"saywhy: standard output is closed\n    open it, or name a file: --out FILE\n"
    )
    assert in_a_shell(tmp_path, f"{command} >/dev/null").returncode == 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
@pytest.mark.parametrize(
    "command",
    [
        *("draw f.yaml", "--help", "--version", "why --help"),
        *("export --format json", "export --format mermaid", "audit export --all"),
    ],
)
def test_output_that_cannot_be_written(tmp_path: Path, command: str) -> None:
    """One clear message where there is still a place for it."""
    if "export" in command:
        in_a_shell(tmp_path, "chat f.yaml --new", b"F\n")
    done = in_a_shell(tmp_path, f"{command} > /dev/full")
    assert done.returncode == 2
    assert b"saywhy: this cannot be written: No space left on device" in done.stderr
    assert b"Traceback" not in done.stderr
    assert b"Exception ignored" not in done.stderr


INTERRUPTED = """
import signal, sys

def interrupt(frame, event, _):
    if event == "call" and frame.f_code.co_name == wanted:
        sys.setprofile(None)
        signal.raise_signal(signal.SIGINT)

wanted, sys.argv = sys.argv[1], ["saywhy", "functions"]
from saywhy.cli.start import main
sys.setprofile(interrupt)
sys.exit(main())
"""


@pytest.mark.parametrize("place", ["<module>", "make_streams_safe", "get_command_from_info"])
def test_interrupted_before_it_begins(place: str) -> None:
    """Ctrl-C while the program is read in, or made ready, ends it without a word."""
    command = [sys.executable, "-c", INTERRUPTED, place]
    done = subprocess.run(command, capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"")


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    """They are read as question marks in their place; the conversation goes on."""
    done = in_a_shell(tmp_path, "chat f.yaml --new --no-guidance", b"F\na\xff\xfeb\n")
    assert done.returncode == 0
    assert done.stdout.decode() == "n?\ngot a\ufffd\ufffdb\n"
