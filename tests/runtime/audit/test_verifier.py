"""The single file checks bundles by itself: any Python from 3.9 on, nothing installed."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

from saywhy.runtime.audit import verifier
from tests.runtime.audit.tampering import Lines, at, replaced, with_entry, without

FILE = Path(verifier.__file__)


def run(path: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The file run by an interpreter that sees neither this package nor what is installed."""
    copy = path.parent / "verify.py"
    copy.write_bytes(FILE.read_bytes())
    return subprocess.run(
        [sys.executable, "-I", "-S", str(copy), str(path), *arguments],
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def bundle(whole: Lines, tmp_path: Path) -> Path:
    path = tmp_path / "bundle.jsonl"
    path.write_bytes(b"".join(whole))
    return path


def test_says_what_was_verified(whole: Lines, bundle: Path) -> None:
    """A bundle that holds: figures, and exit code 0."""
    done = run(bundle)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0].startswith("verified: 7 turns in 2 chains, ")
    assert lines[0].endswith(" commits, 13 messages, 0 turns erased")
    assert lines[1] == (
        "receipts that agree: 3, that cannot be compared: 0; parts of requests that are there: 9"
    )
    assert lines[2] == "anchors that hold: 1"
    assert lines[3] == f"seal {json.loads(whole[-1])['end']['seal']}"


TAMPERED = {
    "flipped byte": (
        lambda lines: replaced(lines, at(lines, "commit"), b"help", b"hulp"),
        "commit",
    ),
    "dropped line": (lambda lines: without(lines, at(lines, "message")), "message"),
    "swapped lines": (
        lambda lines: [
            *lines[: at(lines, "message")],
            lines[at(lines, "message", 1)],
            lines[at(lines, "message")],
            *lines[at(lines, "message", 1) + 1 :],
        ],
        "message",
    ),
    "replaced salt": (
        lambda lines: with_entry(lines, at(lines, "turn"), salt="ab" * 16),
        "message",
    ),
    "truncated end": (lambda lines: lines[:-1], ""),
    "edited reply": (
        lambda lines: replaced(lines, at(lines, "message", 1), b"Which", b"Whose"),
        "message2",
    ),
    "foreign chart": (
        lambda lines: replaced(lines, at(lines, "chart"), b'"digest":"', b'"digest":"0'),
        "chart",
    ),
}


@pytest.mark.parametrize("name", TAMPERED)
def test_names_the_first_line_that_does_not_hold(whole: Lines, bundle: Path, name: str) -> None:
    """Each kind of tampering: exit code 1, and the line by its number."""
    change, kind = TAMPERED[name]
    bundle.write_bytes(b"".join(change(whole)))
    number = {
        "": len(whole),
        "message2": at(whole, "message", 1) + 1,
    }.get(kind) or at(whole, kind) + 1
    done = run(bundle, "--json")
    assert (done.returncode, done.stderr) == (1, "")
    assert json.loads(done.stdout)["line"] == number
    assert run(bundle).stdout.startswith(f"NOT VERIFIED: line {number}: ")


def test_looks_for_what_was_given_away(whole: Lines, bundle: Path) -> None:
    """With --known a digest has to be there."""
    seal = json.loads(whole[-1])["end"]["seal"]
    assert run(bundle, "--known", seal).returncode == 0
    done = run(bundle, "--known", seal, "cd" * 32)
    assert done.returncode == 1
    assert done.stdout == f"NOT VERIFIED: the digest {'cd' * 32} is not in this bundle\n"


def test_says_how_it_is_used(bundle: Path) -> None:
    """A file that is not there, or none: exit code 2."""
    assert verifier.main([]) == 2
    done = run(bundle, "another.jsonl")
    assert done.returncode == 2
    bundle.unlink()
    assert run(bundle).stderr == f"{bundle} cannot be read: No such file or directory\n"


def test_needs_only_the_standard_library() -> None:
    """Its imports are of the standard library, and its words are those of Python 3.9."""
    tree = ast.parse(FILE.read_text(encoding="utf-8"), feature_version=(3, 9))
    names = {
        name.split(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in (
            [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else [a.name for a in node.names]
        )
    }
    assert names <= set(sys.stdlib_module_names)
    assert not [node for node in ast.walk(tree) if isinstance(node, ast.Match)]
