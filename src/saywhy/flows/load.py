"""Files, or data that a host hands over → a `Library` of flows and tools.

A file holds a list, or an object with `flows`, `tools` or both; whether a list holds flows or tools
is seen from its items. Bad content never raises: it becomes problems of the library, all of them
in one run. What is wrong inside a flow is left to `check`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import FunctionType
from typing import Any, Final, Literal, TypeAlias

from saywhy.errors import CallerError, DefinitionError, Place, Problem, StateValueError
from saywhy.flows.json_text import read_json
from saywhy.flows.model import Flow, Library, ToolDefinition
from saywhy.flows.read_flow import kind_of, read_flow, read_tool
from saywhy.flows.source import Document, SourceMap, join
from saywhy.flows.wraps import resolve_wraps
from saywhy.library import named
from saywhy.tools.function_tool import FunctionTool, tool_of
from saywhy.tools.tool import Tool
from saywhy.values import freeze, thaw

Kind: TypeAlias = Literal["flow", "tool"]
Definitions: TypeAlias = "Sequence[Any] | Mapping[str, Any] | str | Path | None"
"""Flows or tools as a host passes them: a list, an object with `flows` or `tools`, or a path.
`library:system` is one as well."""

MAX_BYTES: Final = 10_000_000
"""Larger files are refused: they are something else by mistake."""

_TOOL_KEYS: Final = frozenset({"implementation", "schema", "returns", "security"})


def load_files(paths: Iterable[str | Path]) -> Library:
    """The library in these files. Each file may hold flows, tools or both, as JSON or YAML.

    Nothing in a file raises, nor does a file that is missing: see `Library.problems`.
    """
    loader = _Loader()
    for path in paths:
        loader.path(path, "flow", "tool")
    return loader.library()


def load_definitions(flows: Definitions = None, tools: Definitions = None) -> Library:
    """The library in data that a host built, or in files named by paths, also mixed in one list.

    The data is copied: later changes of it change nothing here.
    """
    loader = _Loader()
    loader.given(flows, "flow")
    loader.given(tools, "tool")
    return loader.library()


class _Loader:
    """Collects flows, tools and problems from one source after another."""

    def __init__(self) -> None:
        self.flows: list[Flow] = []
        self.tools: list[ToolDefinition] = []
        self.problems: list[Problem] = []
        self.files: list[str] = []

    def library(self) -> Library:
        flows, problems = resolve_wraps(self.flows)
        return Library(flows, tuple(self.tools), (*self.problems, *problems), tuple(self.files))

    def path(self, path: str | Path, *kinds: Kind) -> None:
        """A file; or of a library that comes with the package the flows, the tools, or both."""
        if not named.is_library(path):
            return self.file(path)
        try:
            for kind in kinds:
                find = named.flows if kind == "flow" else named.tools
                self.file(find(named.name_in(path)))
        except CallerError as unknown:
            self.problems.append(Problem(str(unknown), Place(str(path)), unknown.hint))

    def file(self, path: str | Path) -> None:
        if str(path) in self.files:
            return
        self.files.append(str(path))
        text = _read_text(path)
        if isinstance(text, Problem):
            self.problems.append(text)
            return
        document = read_document(text, str(path))
        self.problems.extend(document.problems)
        if document.value is not None or not document.problems:
            self.content(document.value, document.source.place(""), document.source)

    def given(self, given: Any, kind: Kind) -> None:
        if given is None:
            return
        if kind == "tool" and is_tool(given):
            given = [given]
        if isinstance(given, str | Path):
            self.path(given, kind)
        elif isinstance(given, Mapping):
            self.python(given, "", kind)
        elif not isinstance(given, Iterable):
            message = f"{kind}s must be a list, this is {kind_of(given)}"
            self.problems.append(Problem(message, hint="hand over a list of objects or of paths"))
        else:
            for index, item in enumerate(given):
                if isinstance(item, str | Path):
                    self.path(item, kind)
                elif kind == "tool" and is_tool(item):
                    self.tools.append(tool_definition(item))
                else:
                    self.python(item, f"/{index}", kind)

    def python(self, item: Any, pointer: str, kind: Kind) -> None:
        place = Place(pointer=pointer)
        try:
            copied = thaw(freeze(item))
        except StateValueError as bad:
            inside = Place(pointer=join(pointer, *bad.key))
            hint = "definitions hold JSON values only"
            self.problems.append(Problem(f"this {bad.problem}", inside, hint))
            return
        if isinstance(copied, dict) and not ({"flows", "tools"} & copied.keys()):
            self.item(copied, place, None, kind)
        else:
            self.content(copied, place, None)

    def content(self, value: Any, place: Place, source: SourceMap | None) -> None:
        """A whole file, or a host's object that may hold `flows` and `tools`."""
        if isinstance(value, list):
            self.items(value, place, source, None)
        elif not isinstance(value, dict):
            message = f"flows or tools are wanted here, this is {kind_of(value)}"
            hint = 'write a list, or {"flows": […], "tools": […]}'
            self.problems.append(Problem(message, place, hint))
        elif "flows" in value or "tools" in value:
            self.section(value, "flows", "flow", place, source)
            self.section(value, "tools", "tool", place, source)
            self.misspelt_sections(value, place, source)
        elif single := kind_of_item(value):
            self.item(value, place, source, single)
        else:
            message = "this object holds neither `flows` nor `tools`"
            hint = 'write a list of flows, or {"flows": […], "tools": […]}'
            self.problems.append(Problem(message, place, hint))

    def section(
        self, value: dict[str, Any], key: str, kind: Kind, place: Place, source: SourceMap | None
    ) -> None:
        items = value.get(key)
        inside = _below(place, source, key)
        if isinstance(items, list):
            self.items(items, inside, source, kind)
        elif items is not None:
            message = f"`{key}` must be a list, this is {kind_of(items)}"
            self.problems.append(Problem(message, inside, f'write "{key}": [ … ]'))

    def misspelt_sections(
        self, value: dict[str, Any], place: Place, source: SourceMap | None
    ) -> None:
        """`tool` beside `flows` would be left out without a word."""
        from difflib import get_close_matches

        free = [key for key in ("flows", "tools") if key not in value]
        for key in value:
            if near := get_close_matches(key, free, n=1, cutoff=0.8):
                pointer = join(place.pointer, key)
                where = source.key_place(pointer) if source else Place(place.file, pointer=pointer)
                message, hint = f'unknown key "{key}"', f'did you mean "{near[0]}"?'
                self.problems.append(Problem(message, where, hint, "warning"))

    def items(
        self, items: list[Any], place: Place, source: SourceMap | None, kind: Kind | None
    ) -> None:
        kinds: list[Kind | None] = [kind_of_item(item) for item in items]
        usual: Kind = "flow" if "flow" in kinds or "tool" not in kinds else "tool"
        for index, item in enumerate(items):
            own: Kind = kind or kinds[index] or usual
            self.item(item, _below(place, source, index), source, own)

    def item(self, item: Any, place: Place, source: SourceMap | None, kind: Kind) -> None:
        if not isinstance(item, dict):
            message = f"a {kind} must be an object, this is {kind_of(item)}"
            self.problems.append(Problem(message, place, 'write {"id": …, "name": …, …}'))
        elif kind == "flow":
            self.flows.append(read_flow(item, place, source, self.problems))
        else:
            self.tools.append(read_tool(item, place, source))


def load_tools(*sources: Definitions) -> list[ToolDefinition]:
    """The tools in files, or in definitions, for wrappers to change and an engine to take.

    Each keeps its place, so that what is wrong with it is found in its file. Raises
    `DefinitionError` for files that cannot be read.
    """
    loader = _Loader()
    for source in sources:
        loader.given(source, "tool")
    errors = [problem for problem in loader.problems if problem.severity == "error"]
    if errors:
        raise DefinitionError(errors)
    return loader.tools


def is_tool(given: Any) -> bool:
    """Whether it is one tool already: loaded, made of a function, or a function."""
    return isinstance(given, ToolDefinition | Tool | FunctionTool | FunctionType)


def tool_definition(given: Any) -> ToolDefinition:
    """A tool as a library holds it."""
    if isinstance(given, ToolDefinition):
        return given
    made = tool_of(given) if isinstance(given, FunctionType) else given
    place = made.place if isinstance(made, Tool) else Place()
    return replace(read_tool(dict(made.raw), place, None), function=made.function)


def read_document(text: str, file: str) -> Document:
    """The value of a text, read as what its name or its first character promises."""
    looks_like_json = text.lstrip()[:1] in ("{", "[")
    if file.endswith(".json"):
        return read_json(text, file)
    document = read_json(text, file) if looks_like_json else None
    if document is not None and (document.value is not None or not _is_yaml(file)):
        return document
    from saywhy.flows.yaml_text import read_yaml

    return read_yaml(text, file)


def kind_of_item(item: Any) -> Kind | None:
    """Whether an object is a flow or a tool; None when it could be either."""
    if not isinstance(item, dict):
        return None
    if "steps" in item or "wraps" in item or isinstance(item.get("parameters"), list):
        return "flow"
    if _TOOL_KEYS & item.keys() or isinstance(item.get("parameters"), dict):
        return "tool"
    return None


def _is_yaml(file: str) -> bool:
    return file.endswith((".yaml", ".yml"))


def _below(place: Place, source: SourceMap | None, part: str | int) -> Place:
    pointer = join(place.pointer, part)
    return source.place(pointer) if source else Place(place.file, pointer=pointer)


def _read_text(path: str | Path) -> str | Problem:
    place = Place(str(path))
    if str(path).endswith(".py"):
        hint = "functions are handed over apart: Engine(functions={…}), or --functions MODULE:NAME"
        return Problem("files with flows and tools are JSON or YAML, this is Python", place, hint)
    try:
        with Path(path).open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
    except (OSError, ValueError) as bad:  # ValueError: a name no file can have
        reason = (getattr(bad, "strerror", None) or "no file can have this name").lower()
        is_folder = isinstance(bad, IsADirectoryError)
        hint = (
            f"name the files in it: {Path(path) / '*.flows.yaml'}"
            if is_folder
            else "check the path"
        )
        return Problem(f"cannot read this file: {reason}", place, hint)
    if len(data) > MAX_BYTES:
        return Problem(f"larger than {MAX_BYTES // 1_000_000} MB", place, "is this a flow file?")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as bad:
        line = data.count(b"\n", 0, bad.start) + 1
        spot = Place(str(path), line, bad.start - data.rfind(b"\n", 0, bad.start))
        return Problem("not a UTF-8 text", spot, "save the file with the encoding UTF-8")
