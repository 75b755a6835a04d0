"""Promise: a process has nothing of ours, and nothing it says is believed unseen."""

from __future__ import annotations

import os
import resource
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from saywhy.expr import process as module
from saywhy.expr.process import Late, Lost, Process
from saywhy.expr.sandbox import Limits, engine_errors
from saywhy.expr.watch import Watch

ECHO = "(kit, bounds) => x => x"
LIMITS = Limits(deadline_seconds=1.0)

FRAME = """
import os, struct
def send(body, size=None):
    size = len(body) if size is None else size
    os.write(1, struct.pack("<I", size) + body)
os.read(0, 65536); send(b"n"); os.read(0, 65536)
"""


@pytest.fixture
def process() -> Iterator[Process]:
    process = Process(LIMITS, Watch(1.0))
    yield process
    process.end()


@pytest.mark.parametrize(
    "value", [None, True, False, 0, -(2**31), 1.5, -0.0, "", "ä", "x" * 999_999]
)
def test_scalars_go_there_and_back(process: Process, value: Any) -> None:
    """What the engine takes and gives as it is comes through the pipe as it is."""
    found = process.ask(1, ECHO, (value,))
    assert (type(found), repr(found)) == (type(value), repr(value))


def test_a_program_is_sent_once(process: Process) -> None:
    """The second time its number is enough, until a new context is wanted."""
    assert process.ask(1, ECHO, (5,)) == 5
    assert process.ask(1, "no JavaScript", (6,)) == 6
    process.is_stale = True
    with pytest.raises(engine_errors(), match="SyntaxError"):
        process.ask(1, "no JavaScript", (7,))
    assert process.ask(2, ECHO, (8,)) == 8


@pytest.mark.skipif(sys.platform != "linux", reason="what /proc tells")
def test_it_has_nothing_of_ours(process: Process, tmp_path: Path) -> None:
    """No environment but how memory is kept, no open files but its pipes, a group of its own, and
    hard limits."""
    with (tmp_path / "open").open("w") as held:
        os.set_inheritable(held.fileno(), True)
        other = Process(LIMITS, Watch(1.0))
    folder = Path(f"/proc/{other.pid}")
    names = [line.split(b"=")[0] for line in (folder / "environ").read_bytes().split(b"\0")]
    own = [name for name in names if not name.startswith(b"MALLOC_")]
    assert set(own) - {b"", b"LD_LIBRARY_PATH", b"LC_CTYPE"} == set()
    assert sorted(one.name for one in (folder / "fd").iterdir()) == ["0", "1", "2"]
    assert str((folder / "fd" / "2").readlink()) == "/dev/null"
    assert os.getpgid(other.pid) == other.pid
    assert str((folder / "cwd").readlink()) == "/"
    for name, most in (
        ("RLIMIT_AS", 1 << 30),
        ("RLIMIT_CPU", 600),
        ("RLIMIT_FSIZE", 0),
        ("RLIMIT_NOFILE", 3),
        ("RLIMIT_CORE", 0),
        ("RLIMIT_NPROC", 0),
    ):
        soft, hard = resource.prlimit(other.pid, getattr(resource, name))
        assert 0 <= soft == hard <= most, name
    other.end()


@pytest.mark.parametrize(
    ("says", "message"),
    [
        ('send(b"", 0)', "an answer that cannot be read"),
        ('send(b"?")', "an answer that cannot be read"),
        ('send(b"i12")', "an answer that cannot be read"),
        ('send(b"f12")', "an answer that cannot be read"),
        ('send(b"nothing")', "an answer that cannot be read"),
        ('send(b"s\\xff\\xff")', "an answer that cannot be read"),
        ('send(b"n" * 9, 3)', "an answer that cannot be read"),
        ('os.write(1, b"ab")', "an answer that cannot be read"),
        ('send(b"s", 0xffffffff)', "an answer that is too long"),
        ('send(b"s", 50); os._exit(7)', r"ended before it answered \(exit code 7\)"),
        ("os.abort()", r"ended before it answered \(killed by signal 6\)"),
    ],
)
def test_nothing_it_says_is_believed(
    monkeypatch: pytest.MonkeyPatch, says: str, message: str
) -> None:
    """A process that was taken over is ended, and whoever asked gets a named error."""
    program = f"{FRAME}{says}\nimport time; time.sleep(60)"
    monkeypatch.setattr(module, "_command", lambda: (sys.executable, "-I", "-S", "-c", program))
    process = Process(LIMITS, Watch(1.0))
    with pytest.raises(Lost, match=message):
        process.ask(1, ECHO, (1,))
    assert process.over
    with pytest.raises(ProcessLookupError):
        os.kill(process.pid, 0)


def test_byte_by_byte_is_late_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """The deadline is that of the whole answer."""
    program = (
        FRAME + "import time\nos.write(1, struct.pack('<I', 9999) + b's')\n"
        "while True: os.write(1, b'x'); time.sleep(0.1)"
    )
    monkeypatch.setattr(module, "_command", lambda: (sys.executable, "-I", "-S", "-c", program))
    process = Process(LIMITS, Watch(1.0))
    started = time.monotonic()
    with pytest.raises(Late):
        process.ask(1, ECHO, (1,))
    assert time.monotonic() - started < 3


@pytest.mark.parametrize(
    ("program", "message"),
    [
        (
            "raise SystemExit",
            "a process for expressions cannot be started|ended before it answered",
        ),
        (FRAME.replace('b"n"', 'b"eImportError: no"'), "cannot be started: ImportError: no"),
    ],
)
def test_a_start_that_fails_says_why(
    monkeypatch: pytest.MonkeyPatch, program: str, message: str
) -> None:
    """What went wrong while it started is in the message."""
    monkeypatch.setattr(module, "_command", lambda: (sys.executable, "-I", "-S", "-c", program))
    with pytest.raises(Lost, match=message):
        Process(LIMITS, Watch(1.0))


def test_it_wears_out(process: Process, monkeypatch: pytest.MonkeyPatch) -> None:
    """After so many evaluations, or when it has grown, it is time for another one."""
    monkeypatch.setattr(module, "LOOK_EVERY", 1)
    process.credit = 1
    process.ask(1, ECHO, (1,))
    assert process.credit == 0
    assert not process.is_worn()
    process._looks = 1
    process.credit = 0
    assert process.is_worn()
    process._looks, process.credit = 9, 0
    process._first_memory = -(1 << 40)
    assert process.is_worn() == (sys.platform == "linux")
