"""`saywhy agent` as a process of its own: Ctrl-C, readers that leave, a terminal."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

from ..conftest import write
from ..test_terminal import CTRL_D, ENTER, Terminal

SLOW = """
import asyncio
from saywhy import Agent, ModelReply, StopPiece, TextPiece


class Model:
    async def ask(self, ask):
        yield TextPiece("one ")
        if "wait" in ask.user:
            try:
                await asyncio.Event().wait()
            finally:
                print("closed", flush=True)
        yield TextPiece(f"of {len(ask.messages)}")
        yield StopPiece("stop", "slow")


agent = Agent(Model(), name="slow")
"""


@contextmanager
def started(*arguments: str) -> Generator[subprocess.Popen[str]]:
    """`saywhy agent` in a process of its own."""
    program = subprocess.Popen(
        [sys.executable, "-m", "saywhy", "agent", *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    try:
        yield program
    finally:
        program.kill()
        program.communicate()


def say(program: subprocess.Popen[str], text: str) -> None:
    stdin = cast(IO[str], program.stdin)
    stdin.write(text + "\n")
    stdin.flush()


def test_it_can_be_cancelled(folder: Path) -> None:
    """Ctrl-C ends the answer that is being given, and the conversation goes on as it was before."""
    write(folder / "slow.py", SLOW)
    with started("slow.py", "--session", "kept.json") as program:
        out = cast(IO[str], program.stdout)
        say(program, "hi")
        assert out.readline() == "one of 1\n"
        say(program, "wait")
        assert out.read(4) == "one "  # the pieces come before the answer is whole
        program.send_signal(signal.SIGINT)
        assert out.readline() == "closed\n"
        say(program, "hello")
        assert out.readline() == "\n"
        assert out.readline() == "one of 3\n"  # hi, its answer, hello
        rest, errors = program.communicate(timeout=20)
    assert (program.returncode, rest) == (0, "")
    assert "cancelled; the conversation is as it was before\n" in errors
    assert "Traceback" not in errors


ASLEEP = """
import signal, threading, time
from saywhy import Agent, ScriptedModel, define_tool


def sleep(args):
    print("asleep", flush=True)
    time.sleep(0.3)  # by now the main thread sleeps as well
    signal.pthread_kill(threading.get_ident(), signal.SIGINT)
    time.sleep(600)


SLEEP = define_tool("sleep", "Sleeps.", {"type": "object"}, sleep, timeout_ms=60_000)
MODEL = ScriptedModel([{"tool_calls": [{"name": "sleep", "arguments": {}}]}])
agent = Agent(MODEL, name="asleep", tools=[SLEEP])
"""


def test_a_signal_wakes_it_that_another_thread_takes_in(folder: Path) -> None:
    """Ctrl-C cancels an answer at once, whichever thread the system hands the signal to."""
    write(folder / "asleep.py", ASLEEP)
    with started("asleep.py", "--message", "wait") as program:
        assert cast(IO[str], program.stdout).readline() == "asleep\n"
        _, errors = program.communicate(timeout=20)
    assert (program.returncode, errors) == (1, "cancelled; the conversation is as it was before\n")


def test_it_can_be_left(folder: Path) -> None:
    """Ctrl-C between two answers leaves, and says where the conversation is."""
    write(folder / "slow.py", SLOW)
    with started("slow.py", "--session", "kept.json") as program:
        say(program, "hi")
        assert cast(IO[str], program.stdout).readline() == "one of 1\n"
        time.sleep(0.3)  # it waits for a line again
        program.send_signal(signal.SIGINT)
        _, errors = program.communicate(timeout=20)
    assert program.returncode == 0
    assert errors.endswith("left; the conversation is kept in kept.json\n")
    assert len(json.loads(Path("kept.json").read_text(encoding="utf-8"))["history"]) == 2


def test_one_message_can_be_cancelled(folder: Path) -> None:
    """Ctrl-C in a single message ends the program with exit code 1, and nothing is kept."""
    write(folder / "slow.py", SLOW)
    with started("slow.py", "--message", "wait", "--session", "kept.json") as program:
        assert cast(IO[str], program.stdout).read(4) == "one "
        program.send_signal(signal.SIGINT)
        _, errors = program.communicate(timeout=20)
    assert (program.returncode, errors) == (1, "cancelled; the conversation is as it was before\n")
    assert not Path("kept.json").exists()


def test_nobody_reads(folder: Path) -> None:
    """Where the reader has left, the run is cancelled and the program ends without a word."""
    write(
        folder / "slow.py",
        SLOW.replace(
            'yield TextPiece(f"of', 'yield TextPiece("x" * 200_000)\n        yield TextPiece(f"of'
        ),
    )
    with started("slow.py", "--message", "hi") as program:
        cast(IO[str], program.stdout).close()
        program.stdout = None
        _, errors = program.communicate(timeout=20)
    assert program.returncode == 1
    assert "Traceback" not in errors


def test_at_a_terminal(folder: Path) -> None:
    """At a terminal answers stand below what is typed, Ctrl-C cancels one and Ctrl-D leaves."""
    write(folder / "slow.py", SLOW)
    terminal = Terminal(folder, "-m", "saywhy", "agent", "slow.py")
    try:
        terminal.wait_for("you:")
        terminal.type("hi" + ENTER)
        terminal.wait_for("one of 1")
        terminal.wait_for("you:")
        terminal.type("wait" + ENTER)
        terminal.wait_for("one ")
        terminal.process.send_signal(signal.SIGINT)
        terminal.wait_for("cancelled; the conversation is as it was before")
        terminal.wait_for("you:")
        terminal.type("again" + ENTER)
        terminal.wait_for("one of 3")
        terminal.wait_for("you:")
        terminal.type(CTRL_D)
        assert terminal.process.wait(timeout=30) == 0
    finally:
        terminal.close()
