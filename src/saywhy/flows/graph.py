"""Which flow leads to which: the edges between flows, and the circles among them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from graphlib import TopologicalSorter
from typing import Final, Literal, TypeAlias

from saywhy.flows.model import Flow, Library, Step

CallType: TypeAlias = Literal["call", "replace", "reboot"]

Hops: TypeAlias = "dict[str, dict[str, Edge]]"
"""Flow → target → the step that leads there."""

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
    """Whether the step stands in a branch, an `onFail` or the like, so that it may be passed by."""


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
    for inner in step.on_silence:
        yield from _edges(inner, flow, library, rescue=False, conditional=True)
    if step.submit is not None:
        yield from _edges(step.submit, flow, library, rescue=False, conditional=True)
    for inner in step.rescues():
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
    hops = _within_groups(_hops(edges))
    seen: set[frozenset[str]] = set()
    for start, targets in hops.items():
        for target in targets:
            names = [start, *_shortest(hops, target, start)[:-1]]
            if frozenset(names) not in seen:
                seen.add(frozenset(names))
                yield tuple(
                    hops[one][other] for one, other in zip(names, [*names[1:], start], strict=True)
                )


def _hops(edges: tuple[Edge, ...]) -> Hops:
    hops: Hops = {}
    for edge in edges:
        if edge.found and not edge.dynamic:
            known = hops.setdefault(edge.flow, {}).get(edge.target)
            if known is None or _danger(edge) > _danger(known):
                hops[edge.flow][edge.target] = edge
    return hops


def _danger(edge: Edge) -> int:
    return (2 if edge.call_type == "call" else 0) + (0 if edge.conditional else 1)


def _within_groups(hops: Hops) -> Hops:
    """Only the hops from whose end a way leads back: those that lie on a circle."""
    group = _groups(hops)
    inner = {
        flow: {target: edge for target, edge in targets.items() if group[target] == group[flow]}
        for flow, targets in hops.items()
    }
    return {flow: targets for flow, targets in inner.items() if targets}


def _groups(hops: Hops) -> dict[str, int]:
    """Flow → number of its group; flows of one group lead to one another (Kosaraju's way)."""
    back: dict[str, list[str]] = {}
    for flow, targets in hops.items():
        for target in targets:
            back.setdefault(target, []).append(flow)
    group: dict[str, int] = {}
    for root in reversed(_by_finish(hops)):
        waiting = [root]
        while waiting:
            flow = waiting.pop()
            if flow not in group:
                group[flow] = group[root] if root in group else len(group)
                waiting.extend(back.get(flow, ()))
    return group


def _by_finish(hops: Hops) -> list[str]:
    """The flows in the order in which a walk through all of them is done with each."""
    finished: list[str] = []
    seen: set[str] = set()
    for root in hops:
        waiting = [(root, False)]
        while waiting:
            flow, is_done = waiting.pop()
            if is_done:
                finished.append(flow)
            elif flow not in seen:
                seen.add(flow)
                waiting.append((flow, True))
                waiting.extend((target, False) for target in hops.get(flow, ()))
    return finished


def _shortest(hops: Hops, start: str, goal: str) -> list[str]:
    """The flows from `start` to `goal`, both included. There is a way: they are of one group."""
    came_from = {start: start}
    for flow in (reached := [start]):  # grows while it is walked: breadth first
        if flow == goal:
            break
        for target in hops.get(flow, ()):
            if target not in came_from:
                came_from[target] = flow
                reached.append(target)
    way = [goal]
    while way[-1] != start:
        way.append(came_from[way[-1]])
    return way[::-1]


def deepest_calls(edges: tuple[Edge, ...]) -> dict[str, int]:
    """Flow id → how many frames may stand on one another from it.

    Edges that lie on a circle are left out: how often one goes round is not known beforehand, and
    circles are a matter of their own.
    """
    grows: dict[str, dict[str, int]] = {}
    circular = {(edge.flow, edge.target) for circle in circles(edges) for edge in circle}
    for edge in edges:
        if edge.call_type != "reboot" and edge.found and (edge.flow, edge.target) not in circular:
            targets = grows.setdefault(edge.flow, {})
            frames = 1 if edge.call_type == "call" else 0
            targets[edge.target] = max(frames, targets.get(edge.target, 0))
    depth: dict[str, int] = {}
    for flow in TopologicalSorter(grows).static_order():
        targets = grows.get(flow, {})
        depth[flow] = max((depth[target] + more for target, more in targets.items()), default=1)
    return depth
