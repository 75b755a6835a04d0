"""`saywhy chat` with a user who says nothing: words that come by themselves."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import IO, Any

import pytest

from .conftest import Run, write
from .test_terminal import CTRL_D, ENTER, Terminal

FLOW: dict[str, Any] = {
    "id": "order",
    "name": "Order",
    "version": "1",
    "steps": [
        {
            "id": "size",
            "type": "SAY-GET",
            "value": "Which size?",
            "variable": "size",
            "timeout": {"after": 1000, "max": 1, "ask": "Still there?", "value": "M"},
        },
        {"id": "more", "type": "SAY-GET", "value": "Size {{size}}. More?", "variable": "more"},
        {"id": "bye", "type": "SAY", "value": "Bye, {{more}}."},
    ],
}


@pytest.fixture
def order(folder: Path) -> str:
    return write(folder / "order.json", [FLOW])


class Pipe:
    """The chat over pipes, with a watch on when its lines come."""

    def __init__(self, *options: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "saywhy", "chat", *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            bufsize=1,
        )

    def say(self, text: str) -> None:
        stream: IO[str] = self.process.stdin  # type: ignore[assignment]
        stream.write(text + "\n")
        stream.flush()

    def line(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().rstrip("\n")

    def end(self) -> int:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        code = self.process.wait(timeout=30)
        self.process.stdout.close()
        return code


def test_silence_over_pipes(order: str) -> None:
    """What is due comes in its time, though no line comes; lines that come go on from there."""
    chat = Pipe(order, "--no-guidance")
    chat.say("Order")
    assert chat.line() == "Which size?"
    began = time.monotonic()
    assert chat.line() == "Still there?"
    assert chat.line() == "Size M. More?"
    assert 1.5 < time.monotonic() - began < 20
    chat.say("no")
    assert chat.line() == "Bye, no."
    assert chat.end() == 0


def test_silence_as_json(order: str) -> None:
    """As JSON, what comes by itself is marked as unasked."""
    chat = Pipe(order, "--no-guidance", "--json")
    assert json.loads(chat.line())["resumed"] is False
    chat.say('"Order"')
    assert "unasked" not in json.loads(chat.line())
    told = json.loads(chat.line())
    assert (told["response"], told["unasked"], told["turn"]) == ("Still there?", True, 2)
    assert told["question"] == "Still there?"
    assert chat.end() == 0


def test_lines_that_are_there_go_before_silence(run: Run, order: str) -> None:
    """Lines that come at once are answered at once, the last one without an end too."""
    done = run("chat", order, "--no-guidance", stdin="Order\nL\nno")
    assert done.out == "Which size?\nSize L. More?\nBye, no.\n"


def test_silence_at_a_terminal(folder: Path, order: str) -> None:
    """Words that come by themselves stand above the line that is being typed, which stays."""
    terminal = Terminal(folder, "-m", "saywhy", "chat", order, "--no-guidance")
    terminal.wait_for("you:")
    terminal.type("Order" + ENTER)
    terminal.wait_for("Which size?")
    terminal.type("XX")
    terminal.wait_for("Still there?")
    terminal.wait_for("XX")
    terminal.type("L" + ENTER)
    terminal.wait_for("Size XXL. More?")
    terminal.wait_for("you:")
    terminal.type(CTRL_D)
    assert terminal.end() == 0
