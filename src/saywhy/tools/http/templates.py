"""Where an HTTP or MCP tool's definition holds `{{expressions}}`, and the definition filled in.

Evaluating them is the flow's business, which knows the variables and records what was read. What it
hands over is one text for each spot, by JSON pointer. spec: flow-engine 6.3
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, Final

from saywhy.tools.http.address import Unfit
from saywhy.tools.tool import Tool

PROBLEM: Final = "problem"
"""Stands in place of a pointer where an expression gave nothing; with it the reason."""

MCP_SPOTS: Final = tuple(("implementation", "server", name) for name in ("url", "headers", "env"))
"""Likewise of an MCP tool. Which program runs is never for a conversation to say."""

SPOTS: Final = (
    *((name,) for name in ("apiKey", "hashAuth", "authentication")),
    *(
        ("implementation", name)
        for name in (
            *("url", "customQuery", "userAgent", "defaultHeaders", "authHeaders", "headers"),
            *("apiKey", "basicAuth", "apiKeyHeader", "hashAuth", "authentication"),
        )
    ),
)
"""The keys of a definition, from its root, below which expressions may stand."""


_SPOTS_OF: Final = {"http": SPOTS, "mcp": MCP_SPOTS}


@lru_cache(maxsize=512)
def templates_of(tool: Tool) -> Mapping[str, str]:
    """JSON pointer inside the definition → the text there, wherever a text holds `{{`."""
    found: dict[str, str] = {}
    for path in _SPOTS_OF.get(tool.implementation.type, ()):
        value: Any = tool.raw
        for step in path:
            value = value.get(step) if isinstance(value, Mapping) else None
        found.update((pointer_of(spot), text) for spot, text in texts_at(value, path))
    return found


def texts_at(value: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str]]:
    """Every text with an expression in `value`, which stands at `path`; with its own path."""
    if isinstance(value, str) and "{{" in value:
        yield path, value
    elif isinstance(value, Mapping):
        for name, inner in value.items():
            yield from texts_at(inner, (*path, str(name)))


def pointer_of(path: tuple[str, ...]) -> str:
    """A path as a JSON pointer."""
    return "".join("/" + part.replace("~", "~0").replace("/", "~1") for part in path)


def filled_or_unfit(tool: Tool, filled: Mapping[str, str]) -> Mapping[str, Any]:
    """The definition with its expressions filled in, every one of them. Raises `Unfit`."""
    if PROBLEM in filled:
        raise Unfit(filled[PROBLEM], "the step was reached before the variable was set")
    missing = [one for one in templates_of(tool) if one not in filled]
    if missing:
        raise Unfit(
            f"nothing was put in for the expression at {missing[0]} of tool {tool.name}",
            "only a flow's step can evaluate the expressions of a tool",
        )
    return filled_definition(tool, filled)


def filled_definition(tool: Tool, filled: Mapping[str, str]) -> Mapping[str, Any]:
    """The definition with the texts at the pointers replaced; the tool's own stays as it is."""
    return _filled(tool.raw, (), filled) if filled else tool.raw


def _filled(value: Any, path: tuple[str, ...], filled: Mapping[str, str]) -> Any:
    pointer = pointer_of(path)
    if pointer in filled:
        return filled[pointer]
    if isinstance(value, Mapping):
        return {name: _filled(inner, (*path, name), filled) for name, inner in value.items()}
    return value
