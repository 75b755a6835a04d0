"""Where a definition of an HTTP tool holds `{{expressions}}`, and the definition with them filled.

Evaluating them is the flow's business, which knows the variables and records what was read. What it
hands over is one text for each spot, by JSON pointer. spec: flow-engine 6.3
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, Final

from saywhy.tools.tool import Tool

PROBLEM: Final = "problem"
"""Stands in place of a pointer where an expression gave nothing; with it the reason."""

_IN_TOOL: Final = ("apiKey", "hashAuth", "authentication")
_IN_IMPLEMENTATION: Final = (
    *("url", "customQuery", "userAgent", "defaultHeaders", "authHeaders", "headers"),
    *("apiKey", "basicAuth", "apiKeyHeader", "hashAuth", "authentication"),
)


@lru_cache(maxsize=512)
def templates_of(tool: Tool) -> Mapping[str, str]:
    """JSON pointer inside the definition → the text there, wherever a text holds `{{`."""
    if tool.implementation.type != "http":
        return {}
    found: dict[str, str] = {}
    for name in _IN_TOOL:
        found.update(_texts(tool.raw.get(name), f"/{name}"))
    for name in _IN_IMPLEMENTATION:
        found.update(_texts(tool.implementation.raw.get(name), f"/implementation/{name}"))
    return found


def _texts(value: Any, pointer: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str) and "{{" in value:
        yield pointer, value
    elif isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _texts(inner, f"{pointer}/{escaped(name)}")


def escaped(name: str) -> str:
    """A key as one part of a JSON pointer."""
    return name.replace("~", "~0").replace("/", "~1")


def filled_definition(tool: Tool, filled: Mapping[str, str]) -> Mapping[str, Any]:
    """The definition with the texts at the pointers replaced; the tool's own stays as it is."""
    if not filled:
        return tool.raw
    return {name: _filled(value, f"/{escaped(name)}", filled) for name, value in tool.raw.items()}


def _filled(value: Any, pointer: str, filled: Mapping[str, str]) -> Any:
    if pointer in filled:
        return filled[pointer]
    if isinstance(value, Mapping):
        return {
            name: _filled(inner, f"{pointer}/{escaped(name)}", filled)
            for name, inner in value.items()
        }
    return value
