"""Writes the parts of the docs that come from the program: help texts, errors, keys, names, tree.

    python docs/generate.py            writes them
    python docs/generate.py --check    exit code 1 when a page differs from what would be written

A page asks for a part with a pair of comments, `<!-- begin errors -->` and `<!-- end -->`; what
stands between them is replaced. Everything else on the page is written by hand.
"""

from __future__ import annotations

import ast
import difflib
import importlib
import inspect
import os
import pkgutil
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import author
from libraries import library

DOCS = Path(__file__).parent
PART = re.compile(r"(<!-- begin (\w+)(?: (\S+))? -->\n).*?(<!-- end -->)", re.DOTALL)
HELP_COLUMNS = "88"
LONGEST_LINE = 88
LONGEST_DEFAULT = 30
LONGEST_NOTE = 92


def main(arguments: list[str]) -> int:
    """Exit code: 0, or 1 when `--check` found a page that is out of date."""
    check = "--check" in arguments
    stale = False
    for page, now, wanted in pages():
        if now == wanted:
            continue
        if check:
            stale = True
            print(difference(page, now, wanted))
        else:
            page.write_text(wanted, encoding="utf-8")
            print(f"wrote {page.relative_to(DOCS.parent)}")
    if stale:
        print("out of date: run `make docs` and commit what changes")
    return int(stale)


def pages() -> Iterator[tuple[Path, str, str]]:
    """Each page with generated parts: the file, its text now, its text as it should be."""
    for page in sorted(DOCS.rglob("*.md")):
        now = page.read_text(encoding="utf-8")
        if PART.search(now):
            yield page, now, PART.sub(filled, now)
    yield author_reference()


def author_reference() -> tuple[Path, str, str]:
    """The text for flow authors that comes with the package: its file, as it is and should be."""
    file = DOCS.parent / "src/saywhy/library/author-reference.md"
    texts = {name: PART.sub(filled, text) for name, text in author.read().items()}
    now = file.read_text(encoding="utf-8") if file.exists() else ""
    return file, now, author.text_of(texts)


def filled(match: re.Match[str]) -> str:
    begin, kind, argument, end = match.groups()
    text = PARTS[kind](argument) if argument else PARTS[kind]()
    return f"{begin}\n{text.strip()}\n\n{end}"


def difference(page: Path, now: str, wanted: str) -> str:
    name = page.relative_to(DOCS.parent).as_posix()
    lines = difflib.unified_diff(
        now.splitlines(), wanted.splitlines(), name, f"{name} (generated)", lineterm="", n=1
    )
    return "\n".join(lines)


# ------------------------------------------------------------------ command line


def commands() -> str:
    """The help text of the program and of each of its commands."""
    parts = ["## saywhy", fenced(help_text())]
    for name in command_names():
        parts += [f"## saywhy {name}", fenced(help_text(*name.split()))]
    return "\n\n".join(parts)


def command_names() -> list[str]:
    import typer

    app = importlib.import_module("saywhy.cli.main").app
    return [" ".join(path) for path in inner_commands(typer.main.get_command(app))]


def inner_commands(group: Any) -> Iterator[tuple[str, ...]]:
    """The commands of a group, each followed by those inside it."""
    for name, command in getattr(group, "commands", {}).items():
        yield (name,)
        for path in inner_commands(command):
            yield (name, *path)


def help_text(*command: str) -> str:
    """What `saywhy COMMAND --help` prints, without colours and at one width."""
    program = Path(sys.executable).with_name("saywhy")
    environment = os.environ | {"COLUMNS": HELP_COLUMNS, "NO_COLOR": "1", "TERM": "dumb"}
    environment |= {"TERMINAL_WIDTH": HELP_COLUMNS, "GITHUB_ACTIONS": "", "FORCE_COLOR": ""}
    done = subprocess.run(
        [str(program), *command, "--help"],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return "\n".join(line.rstrip() for line in done.stdout.strip("\n").splitlines())


def fenced(text: str) -> str:
    return f"```text\n{text}\n```"


# ------------------------------------------------------------------ the tree


def tree() -> str:
    """Every module of the package, with the first sentence of its docstring."""
    source = DOCS.parent / "src" / "saywhy"
    folders = sorted(path for path in source.rglob("__init__.py") if path.parent != source)
    parts = [folder_list(source, "saywhy")]
    for folder in (path.parent for path in folders):
        parts.append(folder_list(folder, folder.relative_to(source).as_posix() + "/"))
    return fenced("\n\n".join(parts))


def folder_list(folder: Path, title: str) -> str:
    rows = [title]
    for path in sorted(folder.glob("*.py")):
        if path.name != "__init__.py":
            rows.append(f"  {path.name:<24}{first_sentence(path)}")
    return "\n".join(rows)


def first_sentence(path: Path) -> str:
    """The first sentence of a module's docstring, or its beginning where it is too long."""
    text = " ".join((ast.get_docstring(ast.parse(path.read_text("utf-8"))) or "").split())
    for end in (r"(?<=[.?]) ", r"(?<=[.?;]) ", r"(?<=[.?;:]) "):
        sentence = re.split(end, text, maxsplit=1)[0].rstrip(".:;")
        if len(sentence) <= LONGEST_NOTE:
            return sentence
    return sentence[:LONGEST_NOTE].rsplit(" ", 1)[0] + " …"


# ------------------------------------------------------------------ errors


def errors() -> str:
    """Every error class by kind: whom it concerns, and what hosts match on."""
    module = importlib.import_module("saywhy.errors")
    root = module.SaywhyError
    kinds = [kind for kind in own_classes(module) if kind.__bases__ == (root,)]
    parts = [error_table([root])]
    for kind in kinds:
        family = [found for found in own_classes(module) if issubclass(found, kind)]
        parts += [f"## {kind.__name__}", error_table(family)]
    return "\n\n".join(parts)


def own_classes(module: ModuleType) -> list[type[Any]]:
    """The error classes a module defines, in the order in which it defines them."""
    return [
        found
        for found in vars(module).values()
        if inspect.isclass(found)
        and issubclass(found, Exception)
        and found.__module__ == module.__name__
    ]


def error_table(classes: list[type[Any]]) -> str:
    rows = ["| class | is a | `name` | means |", "|---|---|---|---|"]
    for found in classes:
        base = found.__bases__[0].__name__
        text = first_paragraph(found).replace("|", "\\|")
        rows.append(f"| `{found.__name__}` | `{base}` | `{found.name}` | {text} |")
    return "\n".join(rows)


# ------------------------------------------------------------------ public names


def names() -> str:
    """The public names of every package that lists some."""
    return "\n\n".join(names_of(package) for package in packages())


def names_of(package: str) -> str:
    """The public names of a package with their signatures, docs and methods."""
    module = importlib.import_module(package)
    parts = [f"## {package}", first_paragraph(module)]
    for name in sorted(module.__all__, key=str.lower):
        found = getattr(module, name)
        parts.append(f"### {name}")
        is_error = inspect.isclass(found) and issubclass(found, Exception)
        if not is_error and (signature := signature_of(name, found)):
            parts.append(fenced(signature))
        parts.append(documentation(module, name, found))
        if inspect.isclass(found) and not is_error and (table := methods(found)):
            parts.append(table)
    return "\n\n".join(parts)


def methods(found: type[Any]) -> str:
    """A table of the public methods and properties of a class of ours.

    What a public protocol promises is described there, and not again for each class that keeps it.
    """
    rows = ["| name | gives |", "|---|---|"]
    promised = promised_methods(found)
    for name, member in members(found).items():
        inner = getattr(member, "__func__", getattr(member, "fget", member))
        if name.startswith("_") or name in promised or not inspect.isfunction(inner):
            continue
        call = "" if isinstance(member, property) else arguments(member, inner)
        waits = "await " if inspect.iscoroutinefunction(inner) else ""
        text = first_paragraph(inner, f"{found.__name__}.{name}")
        rows.append(f"| `{in_cell(waits + name + call)}` | {in_cell(text)} |")
    return "\n".join(rows) if len(rows) > 2 else ""


def arguments(member: Any, inner: Callable[..., Any]) -> str:
    """What a method takes, as it is called: without `self`."""
    parts = parameters(inspect.signature(inner))
    return f"({', '.join(parts if isinstance(member, staticmethod) else parts[1:])})"


def in_cell(text: str) -> str:
    """Text as it stands in a table."""
    return text.replace("|", "\\|")


def members(found: type[Any]) -> dict[str, Any]:
    """What a class defines, itself and in parts of its folder that are no public names."""
    front = importlib.import_module("saywhy")
    public = {getattr(front, name) for name in front.__all__}
    folder = found.__module__.rpartition(".")[0]
    parts = [
        one
        for one in found.__mro__[1:]
        if one.__module__.startswith(f"{folder}.") and one not in public
    ]
    return {name: member for one in (*parts, found) for name, member in vars(one).items()}


def promised_methods(found: type[Any]) -> set[str]:
    """The methods of the public protocols that a class keeps; a namesake elsewhere is its own."""
    front = importlib.import_module("saywhy")
    promised: set[str] = set()
    for protocol in (getattr(front, name) for name in front.__all__):
        if not is_protocol(protocol) or protocol is found:
            continue
        ours = [one for one in protocol.__mro__ if one.__module__.startswith("saywhy.")]
        names = {name for one in ours for name in vars(one) if not name.startswith("_")}
        if all(hasattr(found, n) for n in names):
            promised |= names
    return promised


def is_protocol(found: Any) -> bool:
    return bool(getattr(found, "_is_protocol", False))


def packages() -> list[str]:
    """The packages that list public names, the front door first."""
    root = importlib.import_module("saywhy")
    found = ["saywhy"] + [
        f"saywhy.{module.name}" for module in pkgutil.iter_modules(root.__path__) if module.ispkg
    ]
    found.append("saywhy.tools.wrappers")  # small functions of one kind, imported by their names
    return [name for name in found if hasattr(importlib.import_module(name), "__all__")]


def signature_of(name: str, found: Any) -> str:
    """How it is called: on one line, or a parameter a line where that is too long."""
    if not callable(found) or is_protocol(found):
        return ""
    try:
        signature = inspect.signature(found)
    except (ValueError, TypeError):
        return ""
    parts = parameters(signature)
    result = "" if inspect.isclass(found) else f" -> {annotation(signature.return_annotation)}"
    short = f"{name}({', '.join(parts)}){result}"
    if len(short) <= LONGEST_LINE:
        return short
    return "\n".join([f"{name}(", *(f"    {part}," for part in parts), f"){result}"])


def parameters(signature: inspect.Signature) -> list[str]:
    found: list[str] = []
    keyword_only = False
    for parameter in signature.parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY and not keyword_only:
            keyword_only = True
            found.append("*")
        keyword_only |= parameter.kind is parameter.VAR_POSITIONAL
        stars = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}
        name = f"{stars.get(parameter.kind, '')}{parameter.name}"
        text = f"{name}: {annotation(parameter.annotation)}"
        if parameter.default is not parameter.empty:
            text += f" = {default(parameter.default)}"
        found.append(text)
    return found


def annotation(found: Any) -> str:
    text = found if isinstance(found, str) else inspect.formatannotation(found)
    return text.replace("typing.", "")


def default(value: Any) -> str:
    """The default as code; an ellipsis where it has no short form."""
    text = repr(value)
    return "…" if "<" in text or len(text) > LONGEST_DEFAULT else text


def documentation(module: ModuleType, name: str, found: Any) -> str:
    if inspect.isclass(found) or inspect.isroutine(found) or inspect.ismodule(found):
        return first_paragraph(found)
    return constant_note(module, name) or f"A `{type(found).__name__}`."


def constant_note(module: ModuleType, name: str) -> str:
    """The string below the assignment of a constant, in the module that defines it."""
    for candidate in [module, *(m for n, m in sys.modules.items() if n.startswith("saywhy."))]:
        source = Path(candidate.__file__ or "").read_text(encoding="utf-8")
        if note := re.search(rf'^{name}\b.*?\n"""(.+?)"""', source, re.MULTILINE):
            return note.group(1)
    return ""


def first_paragraph(found: Any, name: str = "") -> str:
    """The first paragraph of a docstring as one line, without pointers for maintainers."""
    text = (inspect.getdoc(found) or "").split("\n\n")[0]
    if not text:
        raise SystemExit(f"{name or found!r} has no docstring: say in one sentence what it gives")
    return re.sub(r"\s*spec: .*", "", " ".join(text.split()))


# ------------------------------------------------------------------ messages


def messages() -> str:
    """Id and English text of each sentence that the library says by itself."""
    from saywhy.flows.phrases import BUILT_IN

    rows = ["| id | English |", "|---|---|"]
    for name, text in BUILT_IN["en"].items():
        shown = " ⏎ ".join(line for line in text.splitlines() if line).replace("|", "\\|")
        rows.append(f"| `{name}` | {shown} |")
    return "\n".join(rows)


# ------------------------------------------------------------------ keys


def keys() -> str:
    """The keys of flow, tool and scenario files, from the lists that `check` judges them by."""
    rows = ["| on | keys | explained in |", "|---|---|---|"]
    for what, page, known in key_lists():
        rows.append(f"| {what} | {', '.join(f'`{key}`' for key in sorted(known))} | {page} |")
    return "\n".join(rows)


def key_lists() -> Iterator[tuple[str, str, frozenset[str]]]:
    """What has keys, a link to the page that explains them, and the keys."""
    from saywhy.flows.checks import forms, silence
    from saywhy.flows.checks import keys as known
    from saywhy.testing import scenario_file as scenarios

    flow, steps = "[flow files](flow-files.md#keys-of-a-flow)", "steps.md"
    yield "a flow", flow, known.FLOW_KEYS
    yield "any step", f"[steps]({steps})", known.COMMON_KEYS
    for kind, own in known.STEP_KEYS.items():
        if own:
            yield kind, f"[steps]({steps}#{kind.lower()})", own
    yield "`timeout`", f"[steps]({steps}#timeout)", frozenset(silence.TIMEOUT_KEYS)
    yield "an input of a FORM", f"[steps]({steps}#form)", forms.INPUT_KEYS
    yield "`money`", f"[steps]({steps}#form)", forms.MONEY_KEYS
    yield "a choice", f"[steps]({steps}#form)", forms.CHOICE_KEYS
    yield "a tool", "[tool files](tool-files.md), [HTTP](http-tools.md)", known.TOOL_KEYS
    outside = "[tools](tool-files.md), [HTTP](http-tools.md), [MCP](mcp-tools.md)"
    yield "`implementation`", outside, known.IMPLEMENTATION_KEYS
    places = ("keys-of-a-scenario", "turns")
    about, turns = (f"[scenarios](scenario-files.md#{at})" for at in places)
    yield "a scenario", about, frozenset(scenarios.SCENARIO_KEYS)
    yield "`engine` of it", about, frozenset(scenarios.ENGINE_KEYS)
    yield "a turn of it", turns, frozenset(scenarios.TURN_KEYS)
    yield "`expect`", turns, frozenset(scenarios.EXPECT_KEYS)


def frame() -> str:
    """What a session tells of the flow that is open."""
    from saywhy.runtime.frame_view import FIELDS, FrameView

    rows = ["| attribute | meaning |", "|---|---|"]
    for name in FIELDS.values():
        rows.append(f"| `{name}` | {first_paragraph(getattr(FrameView, name).fget)} |")
    return "\n".join(rows)


# ------------------------------------------------------------------ standard functions


def helpers() -> str:
    """The standard functions by group: the call, what it gives, and its example, carried out."""
    catalogue = importlib.import_module("saywhy.helpers").CATALOGUE
    examples = importlib.import_module("saywhy.helpers.examples")
    parts: list[str] = []
    for helper in catalogue:
        if f"## {helper.group}" not in parts:
            parts.append(f"## {helper.group}")
        value = examples.text_of_value(examples.value_of(helper))
        parts += [f"### {helper.name}", fenced(helper.signature), helper.summary]
        parts += [text for text in helper.details.split("\n") if text]
        parts.append(fenced(f"{helper.example}\n→ {value}"))
    return "\n\n".join(parts)


PARTS: dict[str, Callable[..., str]] = {
    "commands": commands,
    "errors": errors,
    "frame": frame,
    "helpers": helpers,
    "keys": keys,
    "library": library,
    "messages": messages,
    "names": names,
    "tree": tree,
}

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
