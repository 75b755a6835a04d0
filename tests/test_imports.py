"""Promise: imports go downwards, each outside package stays in its place, the core does no I/O.

The rows are those of docs/reasons/architecture.md. Every import counts, wherever it stands: at the
top of a module, inside a function, or for the type checker only.
"""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src"
PACKAGE = SOURCE / "saywhy"

ROWS = {
    "errors": 0,
    "quiet": 0,
    "scalars": 0,
    "values": 0,
    "messages": 0,
    "clock": 0,
    "cancel": 0,
    "marks": 0,
    "host": 0,
    "library": 0,
    "expr": 1,
    "chart": 1,
    "models": 1,
    "tools": 2,
    "trace": 2,
    "stores": 2,
    "helpers": 2,
    "flows": 3,
    "agent": 3,
    "runtime": 4,
    "server": 5,
    "testing": 5,
    "cli": 6,
    "__main__": 7,
}
"""Layer (folder, or module beside the folders) → row. A row may use the rows below it."""

PLACES = {
    "msgspec": ("",),
    "quickjs": ("expr/",),
    "_quickjs": ("expr/",),
    "babel": ("expr/locales/", "helpers/"),
    "tree_sitter": ("expr/",),
    "tree_sitter_javascript": ("expr/",),
    "jsonschema_rs": ("tools/",),
    "email_validator": ("helpers/",),
    "phonenumbers": ("helpers/", "flows/forms/readers.py"),
    "price_parser": ("helpers/",),
    "text_to_num": ("helpers/",),
    "pydantic": ("tools/", "models/", "agent/", "server/"),
    "yaml": ("flows/",),
    "typer": ("cli/",),
    "click": ("cli/",),
    "rich": ("cli/",),
    "prompt_toolkit": ("cli/",),
    # Optional packages: the one leaf that needs them.
    "openai": ("models/openai.py",),
    "anthropic": ("models/anthropic.py",),
    "google": ("models/google.py",),
    "httpcore2": ("tools/http/transport.py",),
    "httpx2": ("tools/http/", "tools/mcp/web.py"),
    "mcp": ("tools/mcp/", "server/mcp/"),
    "mcp_types": ("tools/mcp/", "server/mcp/"),
    "anyio": ("tools/mcp/",),
    "brotli": ("stores/encoding.py",),
    "psycopg": ("stores/postgres.py",),
    "opentelemetry": ("trace/export/otel.py",),
    "starlette": ("server/",),
    "uvicorn": ("server/",),
}
"""Outside package → the paths below src/saywhy that may import it ("" is all of them)."""

CORE = ("chart/", "flows/", "agent/", "host/")

IMPURE = frozenset(
    {
        "asyncio",
        "concurrent",
        "glob",
        "http",
        "io",
        "multiprocessing",
        "os",
        "pathlib",
        "random",
        "secrets",
        "select",
        "selectors",
        "shutil",
        "signal",
        "socket",
        "sqlite3",
        "ssl",
        "subprocess",
        "tempfile",
        "threading",
        "time",
        "urllib",
        "uuid",
    }
)
"""Modules of the standard library that reach a clock, chance, a thread or the world outside."""

IMPURE_CALLS = frozenset({"open", "print", "input"})

ALLOWED = {
    ("chart/drive.py", "asyncio"): "drive() is the one function of the core that awaits answers",
    ("flows/load.py", "pathlib"): "the one file of the core that opens the author's files",
    ("host/hedge.py", "asyncio"): "hedge() awaits two functions of the host, and nothing else",
    ("agent/loop/answers.py", "asyncio"): "who answers what a loop asks awaits models and tools",
    ("agent/recorders/later.py", "asyncio"): "what judges are asked goes on beside the run",
    ("agent/recorders/composite.py", "asyncio"): "async hooks of several recorders are one",
    ("agent/slots/awaiting.py", "asyncio"): "all_of() awaits what resolvers give, side by side",
}
"""Exceptions to CORE, each with its reason."""

HEAVY = frozenset(PLACES) - {"msgspec"}
"""Outside packages that `import saywhy` must not load; msgspec is small and carries our values."""


@dataclass(frozen=True, slots=True)
class Import:
    """One imported module, by its full name, and the line it stands on."""

    module: str
    line: int


def modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def inside(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()


def layer_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imports_of(path: Path) -> Iterator[Import]:
    """Every import of a file; `from saywhy.chart import model` counts as both spellings."""
    package = ["saywhy", *path.relative_to(PACKAGE).parts[:-1]]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            for name in node.names:
                yield Import(name.name, node.lineno)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            if module == "saywhy":
                for name in node.names:
                    yield Import(f"saywhy.{name.name}", node.lineno)
            else:
                yield Import(module, node.lineno)


def wrong_direction(path: Path, found: Import) -> str:
    """Why the import of one of our own modules is refused; empty when it is fine."""
    own = layer_of(path)
    target = found.module.split(".")[1] if "." in found.module else ""
    if own in {"__init__", target}:
        return ""
    if target not in ROWS:
        return "imports the front door of the package; import from the module that defines the name"
    if ROWS[target] < ROWS[own] or ROWS[target] == ROWS[own] == 0:
        return ""
    relation = "another folder of its own row" if ROWS[target] == ROWS[own] else "upwards"
    return f"imports {relation}: {own} is in row {ROWS[own]}, {target} in row {ROWS[target]}"


def report(path: Path, line: int, text: str) -> str:
    return f"src/saywhy/{inside(path)}:{line}: {text}"


def test_every_layer_has_a_row() -> None:
    """Each folder and module of the package stands in the table of rows."""
    unknown = sorted({layer_of(path) for path in modules()} - {"__init__"} - ROWS.keys())
    assert not unknown, (
        f"no row for {', '.join(unknown)}: decide which layers it may use, then add it to ROWS "
        "here and to the table in docs/reasons/architecture.md"
    )


def test_imports_only_go_downwards() -> None:
    """No module imports a higher row, or another folder of its own row."""
    wrong = [
        report(path, found.line, problem)
        for path in modules()
        for found in imports_of(path)
        if found.module.split(".")[0] == "saywhy" and (problem := wrong_direction(path, found))
    ]
    assert not wrong, "\n".join(wrong)


def test_outside_packages_stay_in_their_place() -> None:
    """An outside package is imported only where the table of places allows it."""
    wrong: list[str] = []
    for path in modules():
        for found in imports_of(path):
            top = found.module.split(".")[0]
            if top == "saywhy" or top in sys.stdlib_module_names:
                continue
            places = PLACES.get(top)
            if places is None:
                wrong.append(report(path, found.line, f"{top} is not in PLACES of this test"))
            elif not inside(path).startswith(places):
                wrong.append(report(path, found.line, f"{top} belongs in {' or '.join(places)}"))
    assert not wrong, "\n".join(wrong)


def test_the_core_does_no_io() -> None:
    """chart, flows, agent and host reach no clock, no chance, no thread, no file and no network."""
    wrong: list[str] = []
    for path in modules():
        if not inside(path).startswith(CORE):
            continue
        for found in imports_of(path):
            top = found.module.split(".")[0]
            if top in IMPURE and (inside(path), top) not in ALLOWED:
                wrong.append(report(path, found.line, f"the core must not import {top}"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            match node:
                case ast.Call(func=ast.Name(id=name)) if name in IMPURE_CALLS:
                    wrong.append(report(path, node.lineno, f"the core must not call {name}()"))
                case _:
                    pass
    hint = "hand it in as a value, or do it at the rim (runtime, cli)"
    assert not wrong, "\n".join([*wrong, hint])


def test_no_exception_outlives_its_reason() -> None:
    """An exception that nothing needs any more is taken out of the table."""
    needed = {
        (inside(path), found.module.split(".")[0])
        for path in modules()
        for found in imports_of(path)
    }
    present = {key for key in ALLOWED if (PACKAGE / key[0]).exists()}
    assert not present - needed, f"no longer needed in ALLOWED: {sorted(present - needed)}"


def test_packages_only_list_their_names() -> None:
    """An `__init__.py` holds a docstring, imports, `__all__` and at most a lazy `__getattr__`."""
    wrong: list[str] = []
    for path in modules():
        if path.name != "__init__.py":
            continue
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if not lists_names(node):
                wrong.append(report(path, node.lineno, "an __init__ lists names and does no work"))
    assert not wrong, "\n".join(wrong)


def lists_names(node: ast.stmt) -> bool:
    match node:
        case ast.Expr(value=ast.Constant()) | ast.Import() | ast.ImportFrom():
            return True
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
            return name.startswith("_")
        case ast.FunctionDef(name="__getattr__" | "__dir__"):
            return True
        case ast.If(test=ast.Name(id="TYPE_CHECKING")):
            return True
        case _:
            return False


@pytest.mark.parametrize("statement", ["pass", "import saywhy"])
def test_importing_saywhy_loads_nothing_heavy(statement: str) -> None:
    """`import saywhy` loads no heavy package; those are loaded by the function that needs them."""
    code = f"{statement}\nimport json, sys\nprint(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {name.split(".")[0] for name in json.loads(done.stdout)}
    heavy = sorted(loaded & HEAVY)
    assert not heavy, f"`{statement}` loads {', '.join(heavy)}: import inside the function instead"
