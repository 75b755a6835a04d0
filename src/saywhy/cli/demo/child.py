"""A `saywhy chat` in a process of its own, driven over pipes; it can be killed like any other."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any, Final, Self, cast

from saywhy.errors import SaywhyError

HERE: Final = Path(__file__).parent
FILES: Final = ("payment.flows.json", "payment.tools.json")
FUNCTIONS: Final = "saywhy.cli.demo.functions:FUNCTIONS"


class ChildFailed(SaywhyError):
    """The other process ended where it should have answered."""


def chat_command(store: Path, session_id: str) -> list[str]:
    """The command line of a chat on the demo's flows; it is run in their folder."""
    # -P: what lies in the folder where the program runs must not stand in for a module of ours.
    program = [sys.executable, "-P", "-m", "saywhy", "chat", *FILES]
    options = ["--functions", FUNCTIONS, "--store", str(store), "--session", session_id]
    return [*program, *options, "--no-guidance"]


class ChatProcess:
    """A running chat. `start` is what it said about where the conversation stands."""

    def __init__(self, command: list[str], folder: Path, environment: Mapping[str, str]) -> None:
        self._process = subprocess.Popen(
            [*command, "--json"],
            cwd=folder,
            env={**os.environ, **environment},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )
        self.start = self._read()

    def say(self, text: str, message_id: str) -> dict[str, Any]:
        """Send a message and give what came of it."""
        self.send(text, message_id)
        return self._read()

    def send(self, text: str, message_id: str) -> None:
        """Send a message and do not wait."""
        message = json.dumps({"content": text, "message_id": message_id})
        stdin = cast(IO[str], self._process.stdin)
        stdin.write(message + "\n")
        stdin.flush()

    def kill(self) -> None:
        """End the process without a warning (SIGKILL)."""
        self._process.kill()
        self._process.wait()
        self._close()

    def leave(self) -> None:
        """Let the process end by itself."""
        self._close()
        self._process.wait()

    def _close(self) -> None:
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                stream.close()

    def _read(self) -> dict[str, Any]:
        line = cast(IO[str], self._process.stdout).readline()
        if not line:
            code = self._process.wait()
            raise ChildFailed(f"the conversation's process ended with exit code {code}")
        return json.loads(line)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *ignored: object) -> None:
        self.leave()
