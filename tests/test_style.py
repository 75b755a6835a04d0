"""Promise: what is in the repository speaks of the project alone.

No path of somebody's machine, no host of a package registry, no name of another product; the only
exceptions are the error names that hosts of older flow files match on.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

# Written in pieces, so that this file does not find itself.
MACHINE_PATH = re.compile(
    r"(?<![\w./~}-])/(?:wo" + r"rk|tm" + r"p|ho" + r"me|ro" + r"ot|Use" + r"rs)/"
)
REGISTRY = re.compile(
    r"pypi\." + r"org|pythonhosted\." + r"org|registry\.npm" + r"js|deb\.debian\." + r"org"
    r"|crates\." + r"io|proxy\.golang\." + r"org",
    re.IGNORECASE,
)
OTHER_PRODUCT = re.compile(
    r"JS" + r"FE(?!ExecutionError|RequiredSetFailed|ActiveFlowEmptyResponse)"
    r"|(?:agent)?foot" + r"print(?:js)?\b(?=js|\.js|\s+engine)|agentfoot" + r"print",
    re.IGNORECASE,
)

RULES = {
    "names a path of one machine": MACHINE_PATH,
    "names a package registry": REGISTRY,
    "names another product": OTHER_PRODUCT,
}


def tracked() -> list[Path]:
    """The files git knows; every file where this is no git checkout."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if listed.returncode == 0:
        return [ROOT / name for name in listed.stdout.split("\0") if name]
    skip = {".venv", ".git", "__pycache__"}
    return [
        path for path in ROOT.rglob("*") if path.is_file() and not skip.intersection(path.parts)
    ]


def findings(text: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(text.splitlines(), start=1):
        for problem, pattern in RULES.items():
            if found := pattern.search(line):
                yield number, f"{problem}: {found.group()!r}"


def test_no_file_speaks_of_anything_else() -> None:
    """No tracked file names a machine's path, a registry host or another product."""
    wrong: list[str] = []
    for path in tracked():
        if not path.is_file():  # deleted, not committed yet
            continue
        name = path.relative_to(ROOT).as_posix()
        text = name + "\n" + path.read_text(encoding="utf-8", errors="replace")
        wrong += [f"{name}:{line - 1}: {problem}" for line, problem in findings(text)]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    "line",
    [
        "see /wo" + "rk/main",
        "open('/tm" + "p/x.json')",
        "https://pypi." + "org/simple",
        "like js" + "fe does",
        "agentfoot" + "print 1.0",
    ],
)
def test_the_rules_find_what_they_are_for(line: str) -> None:
    """Each rule recognises what it forbids."""
    assert list(findings(line))


@pytest.mark.parametrize(
    "line", ["JSFEExecutionError", "in a/tmp/file", "~/.venv", "a small footprint", "work/main"]
)
def test_the_rules_leave_the_rest_alone(line: str) -> None:
    """What only resembles a forbidden word is no finding."""
    assert not list(findings(line))
