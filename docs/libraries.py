"""Tells what is in the flows and tools that come with the package, for their reference page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from saywhy.flows.load import load_files
from saywhy.flows.model import Flow
from saywhy.helpers import STANDARD_FUNCTIONS


def library(name: str) -> str:
    """The flows and tools of one library, as two tables."""
    found = load_files([f"library:{name}"])
    return "\n".join(["### Flows", "", *_flows(found.flows), "", "### Tools", "", *_tools(found)])


def _flows(flows: Iterable[Flow]) -> Iterator[str]:
    yield "| id | name | what it does | parameters |"
    yield "|---|---|---|---|"
    for flow in flows:
        taken = ", ".join(f"`{one.name}`" for one in flow.parameters)
        what = f"{'(primary) ' if flow.primary else ''}{flow.description}"
        yield f"| `{flow.id}` | {flow.name} | {what} | {taken} |"


def _tools(found: Any) -> Iterator[str]:
    yield "| id | function | gets | what it does |"
    yield "|---|---|---|---|"
    for tool in found.tools:
        function = tool.raw["implementation"]["function"]
        own = f"`{function}`" + (" (standard)" if function in STANDARD_FUNCTIONS else "")
        yield f"| `{tool.raw['id']}` | {own} | {_gets(tool.raw)} | {tool.raw['description']} |"


def _gets(raw: dict[str, Any]) -> str:
    """How the function is called: one object, or values by position."""
    parameters = raw["parameters"]
    if "properties" in parameters:
        return f"`{{{', '.join(parameters['properties'])}}}`"
    return ", ".join(f"`{name}`" for name in raw["required"])
