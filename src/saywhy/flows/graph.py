"""Which flow leads to which: the edges between flows, and the circles among them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from saywhy.flows.model import Flow, Library, Step

CallType: TypeAlias = Literal["call", "replace", "reboot"]

CALL_TYPES: Final = ("call", "replace", "reboot")
MAX_DEPTH: Final = 20
"""How many frames may stand on one another. spec: flow-engine 1.5"""


@dataclass(frozen=True, slots=True)
class Edge:
    """A FLOW step that leads from one flow to another."""

    flow: str
    """The id of the flow with the step."""
    target: str
    """The id of the flow it leads to; where there is none, the target as written."""
    pointer: str
    """The step, relative to its flow."""
    call_type: CallType
    step: str = ""
    found: bool = True
    """Whether a flow of this id or name exists."""
    dynamic: bool = False
    """Whether the target is only known when the step runs: `{{next_flow}}`."""
    conditional: bool = False
    """Whether the step stands in a branch or an `onFail`, so that it may be passed by."""


def flow_graph(library: Library) -> tuple[Edge, ...]:
    """Every FLOW step of a library as an edge, in the order of the files."""
    return tuple(edge for flow in library.flows for edge in edges_of(flow, library))


def edges_of(flow: Flow, library: Library) -> Iterator[Edge]:
    """The FLOW steps of one flow as edges."""
    for step in flow.steps:
        yield from _edges(step, flow, library, rescue=False, conditional=False)


def _edges(
    step: Step, flow: Flow, library: Library, *, rescue: bool, conditional: bool
) -> Iterator[Edge]:
    target = target_of(step)
    if target:
        found = library.find(target)
        yield Edge(
            flow.id,
            found.id if found else target,
            step.pointer,
            call_type_of(step, rescue),
            step.id,
            found is not None,
            "{{" in target,
            conditional,
        )
    for _, branch in step.branches:
        yield from _edges(branch, flow, library, rescue=False, conditional=True)
    for inner in (*step.on_fail, *step.fallbacks.values()):
        yield from _edges(inner, flow, library, rescue=True, conditional=True)


def target_of(step: Step) -> str:
    """The target of a FLOW step as written, `{{ }}` included; empty for other steps."""
    if step.type != "FLOW":
        return ""
    for key in ("value", "name"):
        target = step.raw.get(key)
        if isinstance(target, str) and target.strip():
            return target
    return ""


def call_type_of(step: Step, rescue: bool) -> CallType:
    """How a FLOW step goes to its target: in `onFail` it replaces unless it says otherwise."""
    written = step.raw.get("callType")
    if written in CALL_TYPES:
        return written
    return "replace" if rescue else "call"


def circles(edges: tuple[Edge, ...]) -> Iterator[tuple[Edge, ...]]:
    """The circles among the flows, each once: the shortest one through each pair of flows.

    Begins each circle at the flow that comes first. Where several steps lead from one flow to the
    next, a `call` is preferred, since it is what makes the stack grow.
    """
    hops: dict[str, dict[str, Edge]] = {}
    for edge in edges:
        if edge.found and not edge.dynamic:
            known = hops.setdefault(edge.flow, {}).get(edge.target)
            if known is None or _danger(edge) > _danger(known):
                hops[edge.flow][edge.target] = edge
    seen: set[frozenset[str]] = set()
    for start, targets in hops.items():
        for target in targets:
            path = _shortest(hops, target, start)
            if path is None:
                continue
            names = [start, *path[:-1]]
            if frozenset(names) not in seen:
                seen.add(frozenset(names))
                yield tuple(
                    hops[one][other] for one, other in zip(names, [*names[1:], start], strict=True)
                )


def _danger(edge: Edge) -> int:
    return (2 if edge.call_type == "call" else 0) + (0 if edge.conditional else 1)


def _shortest(hops: dict[str, dict[str, Edge]], start: str, goal: str) -> list[str] | None:
    """The flows from `start` to `goal`, both included."""
    paths = [[start]]
    seen = {start}
    for path in paths:  # grows while it is walked: breadth first
        if path[-1] == goal:
            return path
        for target in hops.get(path[-1], ()):
            if target not in seen:
                seen.add(target)
                paths.append([*path, target])
    return None


def deepest_calls(edges: tuple[Edge, ...]) -> dict[str, int]:
    """Flow id → how many frames may stand on one another from it, circles not counted."""
    calls: dict[str, set[str]] = {}
    for edge in edges:
        if edge.found and not edge.dynamic and edge.call_type != "reboot":
            calls.setdefault(edge.flow, set()).add(edge.target)
    grows = {(e.flow, e.target) for e in edges if e.call_type == "call"}
    depth: dict[str, int] = {}

    def measure(flow: str, above: frozenset[str]) -> int:
        if flow not in depth:
            inner = above | {flow}
            depth[flow] = max(
                (
                    measure(target, inner) + ((flow, target) in grows)
                    for target in calls.get(flow, ())
                    if target not in inner
                ),
                default=1,
            )
        return depth[flow]

    for flow in calls:
        measure(flow, frozenset())
    return depth
