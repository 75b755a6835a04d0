"""`saywhy chat` at a terminal: a line to edit, history, secrets, and leaving."""

from __future__ import annotations

import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from .conftest import write

UP = "\x1b[A"
ENTER = "\r"
CTRL_C = "\x03"
CTRL_D = "\x04"
WHERE_IS_THE_CURSOR = "\x1b[6n"
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[=>]|\r")


class Terminal:
    """A program at a terminal of its own."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        self.controller, device = pty.openpty()
        self.seen = ""
        self.looked_at = 0
        self.process = subprocess.Popen(
            [sys.executable, *arguments],
            cwd=folder,
            env={**os.environ, "TERM": "xterm-256color", "COLUMNS": "100", "LINES": "30"},
            stdin=device,
            stdout=device,
            stderr=device,
            start_new_session=True,
        )
        os.close(device)

    def type(self, text: str) -> None:
        os.write(self.controller, text.encode())

    def wait_for(self, text: str, seconds: float = 30) -> str:
        """What was shown up to `text`; what comes later is looked at by the next call."""
        deadline = time.monotonic() + seconds
        while text not in self.shown[self.looked_at :]:
            assert time.monotonic() < deadline, f"no {text!r} in {self.seen!r}"
            self._read(0.1)
        start = self.looked_at
        self.looked_at = self.shown.index(text, start) + len(text)
        return self.shown[start : self.looked_at]

    @property
    def shown(self) -> str:
        """All that was shown so far, as plain text."""
        return ESCAPES.sub("", self.seen)

    def _read(self, seconds: float) -> None:
        if not select.select([self.controller], [], [], seconds)[0]:
            return
        try:
            data = os.read(self.controller, 65536).decode("utf-8", "replace")
        except OSError:  # the program ended
            return
        if WHERE_IS_THE_CURSOR in data:
            self.type("\x1b[1;1R")
        self.seen += data

    def end(self) -> int:
        """The exit code, once everything was shown."""
        deadline = time.monotonic() + 30
        while self.process.poll() is None and time.monotonic() < deadline:
            self._read(0.05)
        return self.process.wait(timeout=1)

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()
        os.close(self.controller)


Open = Callable[..., Terminal]


@pytest.fixture
def terminal(folder: Path) -> Iterator[Open]:
    opened: list[Terminal] = []

    def start(*arguments: str) -> Terminal:
        program = () if arguments[0] == "-c" else ("-m", "saywhy")
        opened.append(Terminal(folder, *program, *arguments))
        return opened[-1]

    yield start
    for each in opened:
        each.close()


def test_a_conversation(terminal: Open, pay: str) -> None:
    """Typed lines are answered; Ctrl-D leaves and says how to go on."""
    chat = terminal("chat", pay, "--no-guidance", "--session", "mine")
    chat.wait_for("new conversation mine in saywhy.db; flows here: Pay")
    chat.wait_for("you:")
    chat.type("Pay" + ENTER)
    chat.wait_for("How much?")
    chat.type("80" + ENTER)
    chat.wait_for("Who gets it?")
    chat.wait_for("you:")
    chat.type(CTRL_D)
    chat.wait_for("to go on: saywhy chat … --session mine\n")
    assert chat.end() == 0


def test_commands(terminal: Open, folder: Path) -> None:
    """A line that is one is not said; with a second slash, or with words around it, it is."""
    steps = [
        {"id": "one", "type": "SAY-GET", "variable": "one", "value": "One?"},
        {"id": "two", "type": "SAY-GET", "variable": "two", "value": "Two?"},
        {"id": "end", "type": "SAY", "value": "<{{one}}> <{{two}}>"},
    ]
    path = write(folder / "a.json", [{"id": "a", "name": "Talk", "steps": steps}])
    chat = terminal("chat", path, "--no-guidance", "--session", "mine")
    chat.wait_for("/help tells what else there is")
    for typed, shown in (
        ("/why", "(there is no conversation"),
        ("Talk", "One?"),
        ("/help", "/quit   leaves"),
        ("//help", "Two?"),
        ("/why", '"two" of Talk'),
        ("/quit now", "</help> </quit now>"),
        ("/quit", "to go on: saywhy chat … --session mine\n"),
    ):
        chat.wait_for("you:")
        chat.type(typed + ENTER)
        chat.wait_for(shown)
    assert chat.end() == 0


def test_a_secret_may_look_like_a_command(terminal: Open, folder: Path) -> None:
    """Whatever is typed where something sensitive is asked for is the answer."""
    steps = [
        {"id": "word", "type": "SAY-GET", "variable": "word", "value": "Password?", "pii": True},
        {"id": "end", "type": "SAY", "value": "{{word.length}} letters."},
    ]
    path = write(folder / "a.json", [{"id": "a", "name": "A", "steps": steps}])
    chat = terminal("chat", path, "--no-guidance")
    chat.wait_for("you:")
    chat.type("A" + ENTER)
    chat.wait_for("Password?")
    chat.wait_for("you:")
    chat.type("/quit" + ENTER)
    chat.wait_for("5 letters.")


def test_the_hint_of_a_failed_call(terminal: Open, folder: Path) -> None:
    """It stands below what the flow says, for whoever tries the flow out."""
    call = {"id": "c", "type": "CALL-TOOL", "tool": "t", "args": {}, "variable": "r"}
    call["onFail"] = {"id": "f", "type": "SAY", "value": "Sorry."}  # type: ignore[assignment]
    schema = {"type": "object", "required": ["n"]}
    path = write(folder / "a.json", [{"id": "p", "name": "P", "steps": [call]}])
    tool = {"id": "t", "parameters": schema, "implementation": {"type": "mock"}}
    chat = terminal("chat", path, write(folder / "t.json", {"tools": [tool]}), "--no-guidance")
    chat.wait_for("you:")
    chat.type("P" + ENTER)
    chat.wait_for("Sorry.")
    chat.wait_for('hint: t: Tool argument validation failed: root must have the property "n"')


def test_leaving_a_conversation_in_another_store(terminal: Open, pay: str) -> None:
    """What is said on the way out names the store, where it is not the usual one."""
    chat = terminal("chat", pay, "--session", "mine", "--store", "other.db")
    chat.wait_for("you:")
    chat.type(CTRL_D)
    chat.wait_for("to go on: saywhy chat … --session mine --store other.db\n")
    assert chat.end() == 0


def test_history_comes_back(terminal: Open, pay: str) -> None:
    """The words of earlier runs can be called up again; Ctrl-C leaves without a traceback."""
    first = terminal("chat", pay, "--no-guidance", "--session", "mine")
    first.wait_for("you:")
    first.type("Pay" + ENTER)
    first.wait_for("How much?")
    first.wait_for("you:")
    first.type(CTRL_D)
    assert first.end() == 0

    second = terminal("chat", pay, "--no-guidance", "--session", "mine")
    second.wait_for("goes on; the last reply was:")
    second.wait_for("you:")
    second.type(UP + ENTER)
    second.wait_for("Who gets it?")
    second.wait_for("you:")
    second.type("half a line" + CTRL_C)
    assert "Traceback" not in second.wait_for("left; the conversation mine is kept in saywhy.db")
    assert second.end() == 0


def test_secrets_are_not_shown(terminal: Open, folder: Path) -> None:
    """A sensitive answer is not shown while it is typed, nor offered again."""
    steps = [
        {"id": "pin", "type": "SAY-GET", "variable": "pin", "value": "PIN?", "pii": True},
        {"id": "more", "type": "SAY-GET", "variable": "more", "value": "More?"},
        {"id": "end", "type": "SAY", "value": "{{more.length}} letters."},
    ]
    path = write(folder / "a.json", [{"id": "a", "name": "A", "steps": steps}])
    chat = terminal("chat", path, "--no-guidance")
    chat.wait_for("you:")
    chat.type("A" + ENTER)
    chat.wait_for("PIN?")
    chat.wait_for("you:")
    chat.type("4711" + ENTER)
    shown = chat.wait_for("More?")
    assert "4711" not in shown
    assert "****" in shown
    chat.wait_for("you:")
    chat.type(UP + ENTER)
    assert "4711" not in chat.wait_for("1 letters.")


AT_ONCE = "import saywhy.cli.demo.play as play; play.PAUSE_SECONDS = 0; "
DEMO = AT_ONCE + "from saywhy.cli.main import main; raise SystemExit(main(['demo']))"


def test_the_demo_hands_over_the_keyboard(terminal: Open) -> None:
    """After the demo the user talks to its flows, in a conversation of their own."""
    demo = terminal("-c", DEMO)
    demo.wait_for("A payment, played by itself.")
    demo.wait_for("Why was that said?")
    demo.wait_for("Now you. Begin with: pay")
    demo.wait_for("new conversation demo-you in")
    demo.wait_for("you:")
    demo.type("pay" + ENTER)
    demo.wait_for("Who gets the money?")
    demo.wait_for("you:")
    demo.type(CTRL_D)
    demo.wait_for("to go on: saywhy chat … --session demo-you --store ")
    assert demo.end() == 0
