"""What is wrong with the tools of a library, as far as flows can be hurt by it.

A tool's own definition is judged in `tools.check`, its response mapping in `tools.check_mapping`;
here both get their places in the file, and what only a whole library can tell: names that two tools
share, functions that nobody handed over.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from saywhy.errors import Problem, did_you_mean
from saywhy.flows.checks.arguments import has_odd_required
from saywhy.flows.checks.keys import (
    IMPLEMENTATION_KEYS,
    SCHEMA_KEYS,
    TOOL_KEYS,
    misspelt_keys,
)
from saywhy.flows.checks.spot import Known, Severity
from saywhy.flows.model import Library, ToolDefinition


def check_tools(library: Library, known: Known) -> Iterator[Problem]:
    """Every problem of the tools, in the order of the files."""
    from saywhy.tools.check import problems_of

    seen: dict[str, ToolDefinition] = {}
    for tool in library.tools:
        for problem in problems_of(tool.raw, tool.place):
            place = tool.source.place(problem.place.pointer) if tool.source else problem.place
            yield replace(problem, place=place)
        first = seen.setdefault(tool.id, tool)
        if first is not tool and tool.id:
            message = f'two tools have the id "{tool.id}"; the first one is used'
            yield tool_problem(tool, message, "/id", f"the other one is at {first.place}")
        if not tool.raw.get("parameters") and not tool.raw.get("schema"):
            message = f"tool {tool.id} does not say what it takes"
            hint = 'add "parameters": {"type": "object", "properties": {…}}'
            yield replace(tool_problem(tool, message, "", hint), severity="warning")
        if has_odd_required(tool):
            message = f"`required` of tool {tool.id} must be a list of names"
            yield tool_problem(tool, message, "/required", 'write ["amount", "to"]')
        yield from _keys(tool)
        yield from _function(tool, known)
        yield from _mapping(tool, known)


def tool_problem(
    tool: ToolDefinition, message: str, pointer: str, hint: str, severity: Severity = "error"
) -> Problem:
    """A problem at a place of a tool."""
    return Problem(message, tool.place_of(pointer), hint, severity)


def local_function(tool: ToolDefinition) -> str:
    """The approved function a local tool calls; empty for other tools."""
    implementation = tool.raw.get("implementation")
    if not isinstance(implementation, Mapping) or implementation.get("type") != "local":
        return ""
    if tool.function is not None:  # it came along
        return ""
    function = implementation.get("function")
    return function if isinstance(function, str) else ""


def _keys(tool: ToolDefinition) -> Iterator[Problem]:
    """Keys that look misspelt: `efect` would leave a tool at the strictest effect, unsaid."""
    yield from misspelt_keys(tool, "", tool.raw, TOOL_KEYS)
    implementation = tool.raw.get("implementation")
    if isinstance(implementation, Mapping):
        yield from misspelt_keys(tool, "/implementation", implementation, IMPLEMENTATION_KEYS)
    schema = tool.raw.get("parameters")
    if isinstance(schema, Mapping) and schema.get("type") == "object":  # else its keys are names
        yield from misspelt_keys(tool, "/parameters", schema, SCHEMA_KEYS)


def _function(tool: ToolDefinition, known: Known) -> Iterator[Problem]:
    named = {"/implementation/function": local_function(tool), "/reconcile": _reconciling(tool)}
    for pointer, function in named.items():
        if function and known.functions is not None and function not in known.functions:
            names = sorted(known.functions)
            hint = did_you_mean(function, names) or "hand it over as an approved function"
            message = f'no approved function is called "{function}"'
            yield replace(tool_problem(tool, message, pointer, hint), known_names=tuple(names))


def _reconciling(tool: ToolDefinition) -> str:
    """The function that knows what became of a call; empty where there is none."""
    given = tool.raw.get("reconcile")
    function = given.get("function") if isinstance(given, Mapping) else given
    return function if isinstance(function, str) else ""


def _mapping(tool: ToolDefinition, known: Known) -> Iterator[Problem]:
    """What is wrong with the response mapping, where there is one."""
    implementation = tool.raw.get("implementation")
    if not isinstance(implementation, Mapping) or implementation.get("responseMapping") is None:
        return
    from saywhy.tools.check_mapping import mapping_problems

    pointer = "/implementation/responseMapping"
    place = tool.place_of(pointer)
    if implementation.get("type") == "local":
        message = f"the local tool {tool.id} has a `responseMapping`, which is not used"
        yield Problem(message, place, "let the function answer what the flow reads", "warning")
    config = implementation["responseMapping"]
    at = replace(tool.place, pointer=f"{tool.place.pointer}{pointer}")
    for problem in mapping_problems(config, at, known.functions):
        there = tool.source.place(problem.place.pointer) if tool.source else problem.place
        yield replace(problem, place=there)
