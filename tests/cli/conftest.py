"""What the tests of commands share: a folder to work in, and one way to run a command."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from saywhy.cli.main import main


@dataclass(frozen=True)
class Done:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[str]:
        return self.out.splitlines()

    @property
    def data(self) -> list[Any]:
        return [json.loads(line) for line in self.lines]


Run = Callable[..., Done]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty current folder, and no settings of whoever runs the tests."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SAYWHY_STORE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    path = list(sys.path)
    yield tmp_path
    sys.path[:] = path
    for name, module in list(sys.modules.items()):
        if str(getattr(module, "__file__", "") or "").startswith(str(tmp_path)):
            del sys.modules[name]  # another test has a module of the same name


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command in this process, with `stdin` as its standard input."""

    def run_command(*arguments: object, stdin: str = "") -> Done:
        monkeypatch.setattr("sys.stdin", io.StringIO(stdin))
        code = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return Done(code, captured.out, captured.err)

    return run_command


PAY = [
    {
        "id": "pay",
        "name": "Pay",
        "version": "1.0",
        "primary": True,
        "prompt": "pay somebody",
        "description": "Pays an amount",
        "steps": [
            {"id": "ask", "type": "SAY-GET", "variable": "amount", "value": "How much?"},
            {"id": "fee", "type": "SET", "variable": "fee", "value": "Number(amount) / 10"},
            {
                "id": "tell",
                "type": "CASE",
                "branches": {
                    "condition: fee > 5": {"id": "high", "type": "SAY", "value": "Fee {{fee}}."},
                    "default": {"id": "low", "type": "SAY", "value": "No fee."},
                },
            },
            {"id": "who", "type": "SAY-GET", "variable": "payee", "value": "Who gets it?"},
            {"id": "done", "type": "SAY", "value": "{{amount}} for {{payee}}."},
        ],
    }
]


@pytest.fixture
def pay(folder: Path) -> str:
    """A file with a flow that asks for an amount and a payee."""
    return write(folder / "pay.json", PAY)


def write(path: Path, document: Any) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    text = document if isinstance(document, str) else json.dumps(document, indent=2)
    path.write_text(text, encoding="utf-8")
    return path.name
