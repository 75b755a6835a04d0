"""Promise: the engine has never heard of the trace, so that it can be taken away."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent.parent / "src" / "saywhy"
ENGINE = ("chart", "expr", "tools", "models", "stores", "agent")
QUERIES = ("agent/receipts/", "agent/recorders/", "agent/slots/injected.py")
"""Parts of agents that read records and run nothing."""
MASKING = ("saywhy.trace.masking",)
"""What flows may use: what they show of variables is masked by the one rule there is."""


def imported(source: str) -> set[str]:
    """Every module a source text imports, wherever the import stands."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found.update(name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
            found.update(f"{node.module}.{name.name}" for name in node.names)
    return found


def names_the_trace(source: str, besides: tuple[str, ...] = ()) -> bool:
    named = {name for name in imported(source) if f"{name}.".startswith("saywhy.trace.")}
    return any(not name.startswith(besides) for name in named) if besides else bool(named)


@pytest.mark.parametrize("folder", ENGINE)
def test_the_engine_does_not_import_the_trace(folder: str) -> None:
    """What runs conversations reports commits to a function it is handed, and knows no more."""
    files = sorted((PACKAGE / folder).rglob("*.py"))
    known = [
        path.relative_to(PACKAGE).as_posix()
        for path in files
        if names_the_trace(path.read_text(encoding="utf-8"))
    ]
    assert [name for name in known if not name.startswith(QUERIES)] == []


def test_flows_only_use_the_masking() -> None:
    """Flows run without the record and everything that reads it."""
    files = sorted((PACKAGE / "flows").rglob("*.py"))
    known = [
        path.relative_to(PACKAGE).as_posix()
        for path in files
        if names_the_trace(path.read_text(encoding="utf-8"), MASKING)
    ]
    assert known == []


def test_the_check_finds_an_import() -> None:
    """An import of the trace is found in each of its forms."""
    assert names_the_trace("from saywhy.trace.record import Recorder")
    assert names_the_trace("def f():\n    import saywhy.trace.causes.why")
    assert names_the_trace("from saywhy import trace")
    assert not names_the_trace("from saywhy.tools import traces")
    assert not names_the_trace("from saywhy.trace.masking.redact import Redactor", MASKING)
    assert names_the_trace("from saywhy.trace.causes.why import why", MASKING)
