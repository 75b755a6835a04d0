"""Promise: what the docs show works, what they link to exists, what is public is documented.

How a fenced example is treated depends on its first word:

* `python`: run, page by page in one namespace; `await` may stand at the top. A `text output` block
  right after it is what it prints.
* `console`: each line after `$ ` is run in a shell, the lines below are what it prints; a line
  `...` stands for any lines. A line `[exit 1]` is the exit code when it is not 0.
* `json`, `yaml`: read; with the word `step`, `flow` or `tool` after it also checked as such
  (`vars=a,b` names variables that steps shown elsewhere have set).
* `sh`: set-up commands, not run; a `make` target must exist.
* `text`, `mermaid`, `toml`: shown only.

A table whose first column is `expression` is evaluated row by row; see docs/tables.py.

`file=NAME` writes any block into the folder where the page's later examples run. Each page runs in
a folder of its own; the chapters of the tutorial run one after the other in one.
"""

from __future__ import annotations

import ast
import asyncio
import contextlib
import importlib
import inspect
import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from types import CodeType
from typing import Any

import pytest
import yaml

import generate
import tables
from pages import Fence, anchors, fences, links
from saywhy import Engine
from saywhy.errors import Problem
from saywhy.expr.names import JAVASCRIPT_GLOBALS
from saywhy.flows.guidance import KEYS as GUIDANCE_KEYS
from saywhy.flows.load import load_definitions
from saywhy.runtime.validation import report_of

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md")), ROOT / "examples" / "README.md"]
NEWS = ROOT / "news"
SHOWN = {"text", "mermaid", "toml"}
KINDS = {"added", "changed", "fixed", "removed"}

pages = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())


# ------------------------------------------------------------------ examples


class Runner:
    """Runs the examples of one page, one after the other, in one folder."""

    def __init__(self, page: Path, folder: Path) -> None:
        self.page = page
        self.folder = folder
        self.names: dict[str, Any] = {"__name__": "example"}
        self.printed = ""

    def run(self, fence: Fence, loop: asyncio.Runner) -> None:
        if fence.file:
            target = self.folder / fence.file
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(fence.text, encoding="utf-8")
        match fence.language:
            case "python" if not fence.file:
                self.python(fence, loop)
            case "console":
                self.console(fence)
            case "json":
                self.data(fence, json.loads(fence.text))
            case "yaml":
                self.data(fence, yaml.safe_load(fence.text))
            case "sh":
                self.setup(fence)
            case "text" if "output" in fence.words:
                self.same(fence, fence.text, self.printed)
            case language:
                assert language in SHOWN | {"python"}, (
                    f"{self.at(fence)}: a block of kind {language!r}; say python, console, json, "
                    "yaml or sh, or text for what is only shown"
                )

    def at(self, fence: Fence, line: int = 0) -> str:
        return f"{self.page.relative_to(ROOT)}:{fence.line + line}"

    def python(self, fence: Fence, loop: asyncio.Runner) -> None:
        blank = "\n" * (fence.line - 1)  # a traceback then names the line of the page
        code: CodeType = compile(
            blank + fence.text, str(self.page), "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
        )
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            result = eval(code, self.names)
            if asyncio.iscoroutine(result):
                loop.run(result)
        self.printed = out.getvalue()

    def console(self, fence: Fence) -> None:
        for line, command, expected in commands_of(fence):
            done = subprocess.run(
                ["bash", "-c", command],
                cwd=self.folder,
                env=environment(self.folder),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                timeout=60,
                check=False,
            )
            code = f"[exit {done.returncode}]\n" if done.returncode else ""
            self.same(fence, expected, done.stdout + code, line)

    def same(self, fence: Fence, expected: str, actual: str, line: int = 0) -> None:
        if not matches(expected, actual):
            raise AssertionError(
                f"{self.at(fence, line)}: the page shows\n\n{expected}\nbut it is\n\n{actual}"
            )

    def data(self, fence: Fence, tree: Any) -> None:
        """Flow language parts are checked as an author's file would be."""
        for kind in {"step", "flow", "tool"}.intersection(fence.words):
            errors = [found.render() for found in problems_of(kind, tree, fence.variables)]
            if errors:
                raise AssertionError("\n".join([f"{self.at(fence)}: not a right {kind}", *errors]))

    def setup(self, fence: Fence) -> None:
        makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
        for target in re.findall(r"^make (\w+)", fence.text, re.MULTILINE):
            assert re.search(rf"^{target}:", makefile, re.MULTILINE), (
                f"{self.at(fence)}: the Makefile has no target {target}"
            )


def commands_of(fence: Fence) -> list[tuple[int, str, str]]:
    """Line in the block, command and expected output of each command of a `console` block."""
    found: list[tuple[int, str, list[str]]] = []
    for number, line in enumerate(fence.text.splitlines()):
        if line.startswith("$ "):
            found.append((number, line.removeprefix("$ "), []))
        elif found and found[-1][1].endswith("\\") and not found[-1][2]:
            start, command, _ = found[-1]
            found[-1] = (start, f"{command}\n{line}", [])
        else:
            assert found, f"line {fence.line + number}: output before any command"
            found[-1][2].append(line)
    return [(start, command, "".join(f"{text}\n" for text in out)) for start, command, out in found]


def environment(folder: Path) -> dict[str, str]:
    """What an example's command sees: our program first, a home of its own, no colours."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    return {
        "PATH": path,
        "HOME": str(folder),
        "XDG_DATA_HOME": str(folder),
        "COLUMNS": "100",
        "NO_COLOR": "1",
        "TERM": "dumb",
        "LANG": "C.UTF-8",
        "PYTHONWARNINGS": "error",
    }


def matches(expected: str, actual: str) -> bool:
    """Whether `actual` is `expected`, where a line `...` stands for any lines, none included.

    How far a column stands to the right does not count.
    """
    expected, actual = one_gap(expected), one_gap(actual)
    parts = [re.escape(part) for part in re.split(r"^\.\.\.\n", expected, flags=re.MULTILINE)]
    return re.fullmatch(r"(?s:.*)".join(parts), actual) is not None


def one_gap(text: str) -> str:
    return re.sub(r"(?<=\S)  +(?=\S)", "  ", text)


def problems_of(kind: str, tree: Any, variables: list[str]) -> list[Problem]:
    """The errors in an example, as a set of definitions that has everything else it needs."""
    parts = tree if isinstance(tree, list) else [tree]
    if kind == "step":
        declared = {name: {"type": "string"} for name in variables}
        flow = {"id": "example", "name": "Example", "version": "1.0", "variables": declared}
        parts = [{**flow, "steps": parts}]
    flows, tools = ([], parts) if kind == "tool" else (parts, [])
    report = report_of(load_definitions(flows, tools), None)
    return list(report.errors)


TUTORIAL = DOCS / "tutorial"
CHAPTERS = [
    TUTORIAL / target
    for _, target in links(TUTORIAL / "README.md")
    if not target.startswith("http")
]


def books() -> dict[str, list[Path]]:
    """What runs in one folder: each page by itself, and the chapters of the tutorial in order."""
    alone = {page.relative_to(ROOT).as_posix(): [page] for page in PAGES if page not in CHAPTERS}
    return {**alone, "docs/tutorial": CHAPTERS}


@pytest.mark.parametrize("name", books())
def test_examples_run(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every example of the docs runs as it stands and gives what the page says it gives."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", environment(tmp_path)["PATH"])  # programs that an example starts
    with asyncio.Runner() as loop:
        for page in books()[name]:
            runner = Runner(page, tmp_path)
            for fence in fences(page):
                runner.run(fence, loop)


@pages
def test_tables_of_expressions_are_right(page: Path) -> None:
    """Each row of a table of expressions says what the expression gives, changes and reads."""
    wrong = [
        f"{page.relative_to(ROOT)}:{row.line}: {row.expression}  {found}"
        for world, row in tables.rows(page)
        if (found := tables.difference(world, row))
    ]
    assert not wrong, "\n".join(wrong)


# ------------------------------------------------------------------ links and generated parts


@pages
def test_links_lead_somewhere(page: Path) -> None:
    """Every link inside the repository names a file, and a heading in it, that exist."""
    wrong: list[str] = []
    for line, target in links(page):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        other = (page.parent / name).resolve() if name else page
        if not other.exists():
            wrong.append(f"{page.relative_to(ROOT)}:{line}: no file {name}")
        elif anchor and anchor not in anchors(other):
            wrong.append(f"{page.relative_to(ROOT)}:{line}: no heading #{anchor} in {other.name}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("part", ["tutorial", "how-to", "reference", "reasons"])
def test_every_page_is_in_its_index(part: str) -> None:
    """Each part of the docs has an index that links to all of its pages."""
    index = DOCS / part / "README.md"
    linked = {target.partition("#")[0] for _, target in links(index)}
    missing = {page.name for page in (DOCS / part).glob("*.md")} - linked - {"README.md"}
    assert not missing, f"{index.relative_to(ROOT)} does not link to {', '.join(sorted(missing))}"


def test_generated_parts_are_current() -> None:
    """Help texts, errors and public names in the docs are those of the program."""
    stale = [
        generate.difference(page, now, wanted)
        for page, now, wanted in generate.pages()
        if now != wanted
    ]
    assert not stale, "\n".join([*stale, "run `make docs` and commit what changes"])


def test_every_public_name_is_documented() -> None:
    """The names of each `__all__` and the headings of the reference page are the same."""
    page = DOCS / "reference" / "names.md"
    shown: dict[str, list[str]] = {}
    for line in page.read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            shown[line.removeprefix("## ")] = []
        elif line.startswith("### "):
            shown[list(shown)[-1]].append(line.removeprefix("### "))
    public = {name: sorted(importlib.import_module(name).__all__) for name in generate.packages()}
    assert {name: sorted(found) for name, found in shown.items()} == public, (
        "the page differs from the names in __all__: run `make docs` and commit what changes"
    )


def test_methods_are_shown_with_what_they_take() -> None:
    """Also those that an engine has from parts in other folders."""
    page = (DOCS / "reference" / "names.md").read_text(encoding="utf-8")
    rows = page.partition("### Engine\n")[2].partition("\n### ")[0]
    assert "| `await why(of: str \\| Session, target: Target \\| None = None, *, turn: " in rows
    assert "| `await replay(of: str \\| Session, *, flows: Any = None, " in rows


def test_every_option_of_the_engine_is_documented() -> None:
    """Each keyword of `Engine` and each key of `guidance` stands in a table of its page."""
    page = (DOCS / "reference" / "engine.md").read_text(encoding="utf-8")
    rows = " ".join(line.split("|")[1] for line in page.splitlines() if line.startswith("| `"))
    shown = set(re.findall(r"`(\w+)`", rows))
    options = set(inspect.signature(Engine).parameters)
    assert options | set(GUIDANCE_KEYS) - {"enabled"} <= shown


def test_every_key_is_explained() -> None:
    """Each key that files may have stands as code on the page that the list of all keys names."""
    missing: list[str] = []
    for what, where, known in generate.key_lists():
        pages = [DOCS / "reference" / name for name in re.findall(r"\(([\w-]+\.md)", where)]
        text = "\n".join(page.read_text(encoding="utf-8") for page in pages)
        words = set(re.findall(r"\w+", " ".join(re.findall(r"`[^`\n]+`", text))))
        missing += [f"{what}: {key}" for key in sorted(known - words)]
    assert not missing, "not explained where docs/reference/keys.md leads: " + ", ".join(missing)


def test_every_built_in_name_is_documented() -> None:
    """The names that JavaScript gives to expressions are those of the table, none more or less."""
    page = (DOCS / "reference" / "expressions.md").read_text(encoding="utf-8")
    section = page.partition("## Names that are built in\n")[2].partition("\n## ")[0]
    cells = [line.split("|")[2] for line in section.splitlines() if line.startswith("| ")]
    assert set(re.findall(r"`(\w+)`", " ".join(cells))) == JAVASCRIPT_GLOBALS


# ------------------------------------------------------------------ news


def test_news_entries_are_well_formed() -> None:
    """A news entry has a plain name, its kind in the first line and a few sentences for users."""
    wrong: list[str] = []
    for entry in sorted(NEWS.glob("*")):
        if entry.name == "README.md":
            continue
        text = entry.read_text(encoding="utf-8")
        first, _, body = text.partition("\n")
        if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*\.md", entry.name):
            wrong.append(f"{entry.name}: name it with lower-case words and dashes, ending in .md")
        if first.removeprefix("kind: ") not in KINDS or not first.startswith("kind: "):
            wrong.append(
                f"{entry.name}: the first line is `kind: ` and {' or '.join(sorted(KINDS))}"
            )
        if not 20 <= len(body.strip()) <= 900:
            wrong.append(f"{entry.name}: one to five sentences for the person who uses it")
    assert not wrong, "\n".join(wrong)


# ------------------------------------------------------------------ the tests' own tools


def test_examples_that_are_wrong_are_found(tmp_path: Path) -> None:
    """A wrong example fails with the line of the page and both texts."""
    page = ROOT / "README.md"
    runner = Runner(page, tmp_path)
    with asyncio.Runner() as loop:
        runner.run(Fence("console", "", "$ echo one\none\n", 7), loop)
        runner.run(Fence("console", "", "$ seq 4\n1\n...\n4\n$ false\n[exit 1]\n", 7), loop)
        with pytest.raises(AssertionError, match=r"README.md:8: the page shows\n\ntwo\n"):
            runner.run(Fence("console", "", "$ true\n$ echo one\ntwo\n", 7), loop)
        runner.run(
            Fence("python", "", "import asyncio\nprint(await asyncio.sleep(0, 5))\n", 3), loop
        )
        with pytest.raises(AssertionError, match="but it is\n\n5"):
            runner.run(Fence("text", "output", "6\n", 9), loop)
        with pytest.raises(AssertionError, match="no target nonsense"):
            runner.run(Fence("sh", "", "make nonsense\n", 1), loop)
        with pytest.raises(AssertionError, match="a block of kind 'pyhton'"):
            runner.run(Fence("pyhton", "", "", 1), loop)


def test_reading_a_page(tmp_path: Path) -> None:
    """Fences, headings and links are found where a reader sees them."""
    page = tmp_path / "page.md"
    page.write_text(
        "# One `two`\n\n[a](b.md#c) `[no](link)`\n\n```json step file=x.json\n{}\n```\n# One two\n"
    )
    (fence,) = fences(page)
    assert (fence.language, fence.words, fence.file, fence.line) == ("json", ["step"], "x.json", 6)
    assert anchors(page) == {"one-two", "one-two-1"}
    assert list(links(page)) == [(3, "b.md#c")]


def test_reading_tables_of_expressions(tmp_path: Path) -> None:
    """A row is compared with what its expression gives, in each column that has a known name."""
    page = tmp_path / "page.md"
    page.write_text(
        '```json variables now=2024-05-06T07:08:09Z\n{"a": 1, "xs": [2]}\n```\n\n'
        "| expression | value | note |\n|---|---|---|\n"
        "| `a \\|\\| 2` | `1` | a bar |\n| `` xs[0] + `x` `` | `'2x'` | |\n"
        "| `a` | `2` | wrong |\n\n"
        "| expression | changes | reads | may change | exact |\n|---|---|---|---|---|\n"
        "| `xs.push(a)` | `xs[1] = 1` | `xs` `a` | `xs` | yes |\n\n"
        "| name | value |\n|---|---|\n| `a` | `7` |\n\n"
        "| expression | error | place | hint |\n|---|---|---|---|\n"
        "| `a + b` | `ReferenceError: b is not defined` | `b` | |\n\n"
        "| expression | in a text | in an argument |\n|---|---|---|\n| `xs` | `[2]` | `[2]` |\n"
    )
    found = [
        (row.expression, tables.difference(*pair)) for pair in tables.rows(page) for row in pair[1:]
    ]
    assert found == [
        ("a || 2", ""),
        ("xs[0] + `x`", ""),
        ("a", "value: the page shows `2`, but it is `1`"),
        ("xs.push(a)", ""),
        ("a + b", ""),
        ("xs", ""),
    ]
