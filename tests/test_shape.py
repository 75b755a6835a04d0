"""Promise: functions and files stay short enough to read in one go.

The limits are 60 lines for a function and 500 for a file. One that has to be longer says why in
its docstring, in a sentence that begins with "Long because".
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FOLDERS = ("src", "tests", "bench", "docs", "examples")
MAX_FUNCTION_LINES = 60
MAX_FILE_LINES = 500
REASON = "Long because"


def files() -> list[Path]:
    return sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py"))


def has_reason(node: ast.Module | ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return REASON in (ast.get_docstring(node) or "")


def long_parts(source: str) -> Iterator[tuple[int, str]]:
    """Line and description of everything in `source` that is too long and gives no reason."""
    tree = ast.parse(source)
    lines = len(source.splitlines())
    if lines > MAX_FILE_LINES and not has_reason(tree):
        yield 1, f"the file has {lines} lines, more than {MAX_FILE_LINES}: split it by noun"
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not has_reason(node):
            size = (node.end_lineno or node.lineno) - node.lineno + 1
            if size > MAX_FUNCTION_LINES:
                yield (
                    node.lineno,
                    f"{node.name} has {size} lines, more than {MAX_FUNCTION_LINES}: "
                    "its sections want to be functions",
                )


@pytest.mark.parametrize("path", files(), ids=lambda path: path.relative_to(ROOT).as_posix())
def test_is_short_enough(path: Path) -> None:
    """No function over 60 lines and no file over 500, unless the docstring says why."""
    found = [
        f"{path.relative_to(ROOT)}:{line}: {text}"
        for line, text in long_parts(path.read_text(encoding="utf-8"))
    ]
    hint = f'or give the reason in the docstring: "{REASON} …"'
    assert not found, "\n".join([*found, hint])


@pytest.mark.parametrize(
    "path",
    sorted((ROOT / "src").rglob("*.py")),
    ids=lambda path: path.relative_to(ROOT).as_posix(),
)
def test_says_what_it_answers(path: Path) -> None:
    """Every module of the package begins with a docstring."""
    assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))), (
        f"{path.relative_to(ROOT)} has no docstring: say which question the file answers"
    )


def test_the_limits_hold() -> None:
    """The check itself finds what is too long and accepts what gives a reason."""
    body = "    x = 1\n" * MAX_FUNCTION_LINES
    assert [line for line, _ in long_parts(f"def f():\n{body}")] == [1]
    reasoned = f'def f():\n    """{REASON} a table is read top to bottom."""\n{body}'
    assert list(long_parts(reasoned)) == []
    assert [line for line, _ in long_parts("x = 1\n" * (MAX_FILE_LINES + 1))] == [1]
