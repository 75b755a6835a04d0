"""Promise: the program in the process starts lean, answers what it is asked, and ends with it."""

from __future__ import annotations

import marshal
import subprocess
import sys
from typing import Any

from saywhy.expr import process
from saywhy.expr.sandbox import Limits


class Conversation:
    """The program, asked by hand."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            process._command(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={}
        )
        assert self.ask((tuple(Limits()), 60)) == b"n"

    def ask(self, request: Any) -> bytes:
        assert self.process.stdin and self.process.stdout
        data = marshal.dumps(request)
        self.process.stdin.write(len(data).to_bytes(4, "little") + data)
        self.process.stdin.flush()
        size = int.from_bytes(self.process.stdout.read(4), "little")
        return self.process.stdout.read(size)


def test_answers() -> None:
    """Values by their letters, refusals and failures with their reasons; then a new context."""
    talk = Conversation()
    echo = "(kit, bounds) => x => x"
    assert talk.ask((1, None, echo, False)) == b"n"
    assert talk.ask((1, ("ä",))) == "sä".encode()
    assert talk.ask((1, (7,))) == b"i" + (7).to_bytes(8, "little")
    assert talk.ask((1, (True,))) == b"t"
    assert talk.ask((2, None, "(kit, bounds) =>", False)).startswith(b"cSyntaxError")
    assert talk.ask((3, (), "(k, b) => () => { for (;;); }", False)).startswith(
        b"eInternalError: i"
    )
    assert talk.ask((1, ("again",), echo, False)) == b"sagain"
    long = "x" * 300_000
    assert talk.ask((1, (long,))) == b"s" + long.encode()
    assert talk.process.stdin
    talk.process.communicate()
    assert talk.process.returncode == 0


def test_it_imports_little() -> None:
    """What makes a start slow is not loaded: no decoder of ours, no dataclasses, no parser."""
    heavy = (
        "msgspec",
        "dataclasses",
        "tree_sitter",
        "asyncio",
        "importlib.resources",
        "saywhy.values",
    )
    program = process._command()[-1].replace("main()", "print(*sorted(sys.modules))")
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program], capture_output=True, text=True, check=True
    )
    loaded = done.stdout.split()
    assert "saywhy.expr.sandbox" in loaded
    assert not set(heavy) & set(loaded)
