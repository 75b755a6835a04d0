"""Promise: the examples pass `saywhy check`, and their scenarios pass `saywhy test`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"
FOLDERS = sorted(path for path in EXAMPLES.iterdir() if (path / "scenarios").is_dir())

folders = pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: path.name)


def saywhy(*arguments: str) -> subprocess.CompletedProcess[str]:
    program = Path(sys.executable).with_name("saywhy")
    return subprocess.run(
        [str(program), *arguments],
        cwd=EXAMPLES,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@folders
def test_flows_have_no_problem(folder: Path) -> None:
    """`saywhy check` finds neither errors nor warnings in the flow and tool files."""
    files = [
        path.relative_to(EXAMPLES).as_posix()
        for path in sorted(folder.iterdir())
        if path.name.endswith((".flows.json", ".flows.yaml", ".tools.json"))
    ]
    functions = ["--functions", f"{folder.name}.functions:FUNCTIONS"]
    done = saywhy("check", *files, *(functions if (folder / "functions.py").exists() else []))
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1].endswith(": 0 errors, 0 warnings"), done.stdout


@folders
def test_scenarios_pass(folder: Path) -> None:
    """`saywhy test` passes every scenario of the example."""
    done = saywhy("test", folder.name)
    assert done.returncode == 0, done.stdout + done.stderr
    count = len(list((folder / "scenarios").glob("*.json")))
    assert done.stdout.splitlines()[-1] == f"{count} passed, 0 failed"
