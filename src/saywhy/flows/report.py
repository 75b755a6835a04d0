"""Checks as a report a program can read: of one flow with all it leads to, or of a library."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from saywhy.errors import Problem, UnknownFlow
from saywhy.flows.check import check_library
from saywhy.flows.graph import MAX_DEPTH, Edge, flow_graph
from saywhy.flows.model import Flow, Library


def validate_flow(
    library: Library,
    name_or_id: str,
    *,
    functions: Iterable[str] | None = None,
    globals: Iterable[str] | None = None,
    cargo: Iterable[str] | None = None,
) -> dict[str, Any]:
    """The report of one flow and the flows it leads to.

    `isValid`, `errors` and `warnings` as texts with their places, `flowGraph` as edges,
    `visitedFlows` as ids. Raises `UnknownFlow`.
    """
    flow = library.find(name_or_id)
    if flow is None:
        known = [name for other in library.flows for name in (other.id, other.name)]
        raise UnknownFlow(name_or_id, known)
    problems = check_library(library, functions=functions, globals=globals, cargo=cargo)
    return _flow_report(library, flow, problems, flow_graph(library))


def validate_all(
    library: Library,
    *,
    functions: Iterable[str] | None = None,
    globals: Iterable[str] | None = None,
    cargo: Iterable[str] | None = None,
) -> dict[str, Any]:
    """The report of a whole library: one entry for each flow that a conversation can begin with.

    Begins are the primary flows, or where there are none those that no other flow leads to. Flows
    that none of them leads to are listed as `skipped`; their problems count all the same.
    """
    problems = check_library(library, functions=functions, globals=globals, cargo=cargo)
    edges = flow_graph(library)
    reports = {flow.id: _flow_report(library, flow, problems, edges) for flow in begins(library)}
    visited = {flow_id for report in reports.values() for flow_id in report["visitedFlows"]}
    skipped = [flow.id for flow in library.flows if flow.id not in visited]
    return {
        **_verdict(problems),
        "flows": reports,
        "skipped": skipped,
        "figures": {
            "flows": len(library.flows),
            "primary": len(library.primaries()),
            "steps": sum(1 for flow in library.flows for _ in flow.walk()),
            "tools": len(library.tools),
            "checked": len(visited),
            "skipped": len(skipped),
            "errors": _count(problems, "error"),
            "warnings": _count(problems, "warning"),
            "notes": _count(problems, "note"),
        },
    }


def begins(library: Library) -> tuple[Flow, ...]:
    """The flows a conversation can begin with."""
    primaries = library.primaries()
    if primaries:
        return primaries
    led_to = {edge.target for edge in flow_graph(library) if edge.flow != edge.target}
    return tuple(flow for flow in library.flows if flow.id not in led_to) or library.flows


def _flow_report(
    library: Library, flow: Flow, problems: Sequence[Problem], edges: tuple[Edge, ...]
) -> dict[str, Any]:
    visited = _visited(flow, edges)
    names = {name for flow_id in visited for name in _names(library, flow_id)}
    graph = [
        {
            "from": edge.flow,
            "to": edge.target,
            "step": edge.step,
            "pointer": edge.pointer,
            "callType": edge.call_type,
            "found": edge.found,
            "dynamic": edge.dynamic,
        }
        for edge in edges
        if edge.flow in visited
    ]
    own = [problem for problem in problems if problem.flow in names]
    return {**_verdict(own), "flowGraph": graph, "visitedFlows": visited}


def _names(library: Library, flow_id: str) -> tuple[str, ...]:
    flow = library.find(flow_id)
    return (flow.id, flow.name) if flow else (flow_id,)


def _visited(flow: Flow, edges: tuple[Edge, ...]) -> list[str]:
    """The flow and all that it leads to, nearest first, no deeper than frames can stand."""
    visited = [flow.id]
    level = [flow.id]
    for _ in range(MAX_DEPTH):
        reached = (edge.target for edge in edges if edge.flow in level and edge.found)
        level = [target for target in dict.fromkeys(reached) if target not in visited]
        if not level:
            break
        visited.extend(level)
    return visited


def _verdict(problems: Iterable[Problem]) -> dict[str, Any]:
    errors = [_line(problem) for problem in problems if problem.severity == "error"]
    warnings = [_line(problem) for problem in problems if problem.severity == "warning"]
    return {"isValid": not errors, "errors": errors, "warnings": warnings}


def _line(problem: Problem) -> str:
    return f"{problem.place}: {problem.message}" + (f" ({problem.hint})" if problem.hint else "")


def _count(problems: Iterable[Problem], severity: str) -> int:
    return sum(1 for problem in problems if problem.severity == severity)
