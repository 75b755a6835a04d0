"""What is wrong with the ways through flows: steps never reached, circles, calls too deep."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from saywhy.errors import Problem
from saywhy.flows.checks.flow import flow_problem
from saywhy.flows.checks.spot import Known, Severity, Spot
from saywhy.flows.graph import (
    MAX_DEPTH,
    Edge,
    call_type_of,
    circles,
    deepest_calls,
    flow_graph,
    target_of,
)
from saywhy.flows.model import Flow, Library, Step

ENDINGS = frozenset({"RETURN", "END", "DISPATCH"})


def check_paths(library: Library) -> Iterator[Problem]:
    """Every problem of the ways through a library."""
    for flow in library.flows:
        yield from _unreachable(library, flow, flow.steps)
    edges = flow_graph(library)
    yield from _circles(library, edges)
    yield from _too_deep(library, edges)
    yield from _returns(library, edges)


# ------------------------------------------------------------------ steps never reached


def _unreachable(library: Library, flow: Flow, steps: Iterable[Step]) -> Iterator[Problem]:
    ended: Step | None = None
    for step in steps:
        if ended is not None:
            spot = Spot(library, Known(), flow, step)
            message = f"the step can never be reached: {_name(ended)} before it always leaves"
            hint = "remove it, or let something pass by the step before"
            yield spot.problem(message, hint=hint, severity="warning")
            return
        if _always_leaves(library, step):
            ended = step


def _always_leaves(library: Library, step: Step) -> bool:
    """Whether no run goes on behind a step. One that may fail can go on behind its `onFail`."""
    if step.on_fail or step.on_unknown or step.fallbacks:
        return False
    if step.type in ENDINGS:
        return True
    if step.type == "FLOW" and call_type_of(step, False) != "call":
        # a target that does not exist leaves the flow where it is; that is reported by itself
        target = target_of(step)
        return "{{" not in target and library.find(target) is not None
    branches = dict(step.branches)
    return "default" in branches and all(_always_leaves(library, b) for b in branches.values())


def _name(step: Step) -> str:
    return f'{step.type} "{step.id}"' if step.id else step.type


# ------------------------------------------------------------------ circles and depth


def _circles(library: Library, edges: tuple[Edge, ...]) -> Iterator[Problem]:
    for circle in circles(edges):
        names = " → ".join([*(edge.flow for edge in circle), circle[0].flow])
        calls = [edge for edge in circle if edge.call_type == "call"]
        if calls:
            why = f"each round adds a frame, {MAX_DEPTH} are the limit"
            hint = f'let {_name(_step(library, calls[0]))} go on with "callType": "replace"'
            at = calls[0]
        elif _goes_on_for_ever(library, circle):
            why = "nothing in it asks the user or has a way out"
            hint = "ask something on the way, or put the way back into a CASE"
            at = circle[-1]
        else:
            continue
        message = f"Circular flow reference detected: {names}; {why}"
        yield _at(library, at, message, hint, "warning")


def _goes_on_for_ever(library: Library, circle: tuple[Edge, ...]) -> bool:
    """Whether a circle neither asks nor can be left; going back to ask again is the usual loop."""
    return not any(edge.conditional for edge in circle) and not any(
        step.type in ("SAY-GET", "FORM")
        for edge in circle
        for step in _steps_of(library, edge.flow)
    )


def _steps_of(library: Library, flow_id: str) -> Iterator[Step]:
    flow = library.find(flow_id)
    return flow.walk() if flow else iter(())


def _too_deep(library: Library, edges: tuple[Edge, ...]) -> Iterator[Problem]:
    depth = deepest_calls(edges)
    called = {edge.target for edge in edges if edge.flow != edge.target}
    for flow_id, frames in depth.items():
        if frames > MAX_DEPTH and flow_id not in called:
            first = next(edge for edge in edges if edge.flow == flow_id)
            message = f"flows call one another {frames} deep from here, {MAX_DEPTH} are the limit"
            hint = 'let some of them go on with "callType": "replace"'
            yield _at(library, first, message, hint, "error")


def _at(library: Library, edge: Edge, message: str, hint: str, severity: Severity) -> Problem:
    flow = library.find(edge.flow)
    assert flow is not None, "edges begin at flows of the library"
    spot = Spot(library, Known(), flow, _step(library, edge))
    return spot.problem(message, hint=hint, severity=severity)


def _step(library: Library, edge: Edge) -> Step:
    """The step that an edge was made of."""
    return next(step for step in _steps_of(library, edge.flow) if step.pointer == edge.pointer)


# ------------------------------------------------------------------ RETURN while interrupting


def _returns(library: Library, edges: tuple[Edge, ...]) -> Iterator[Problem]:
    """RETURN ends the flow that was interrupted as well. spec: flow-engine 5.6

    A flow may interrupt where it can be started by words: the primary ones, else all.
    """
    interruptable = [flow for flow in library.flows if flow.interruptable]
    has_primary = any(flow.primary for flow in library.flows)
    for flow in library.flows:
        victims = [other.id for other in interruptable if other is not flow]
        if not victims or (has_primary and not flow.primary):
            continue
        ends = f"ends every flow, also one that this one interrupted: {', '.join(victims)}"
        step = next((step for step in flow.walk() if step.type == "RETURN"), None)
        edge = None if step is not None else _to_a_return(library, flow, edges)
        if step is not None:
            hint = "end with SAY or END so that the interrupted flow goes on"
            yield flow_problem(flow, f"RETURN {ends}", step.pointer, hint, "warning")
        elif edge is not None:
            hint = "let the flows it leads to end with SAY or END"
            message = f"{edge.target} leads to RETURN, which {ends}"
            yield flow_problem(flow, message, edge.pointer, hint, "warning")


def _to_a_return(library: Library, flow: Flow, edges: tuple[Edge, ...]) -> Edge | None:
    """The first step of a flow that leads to a RETURN in another one, however far away."""
    hops: dict[str, list[str]] = {}
    for edge in edges:
        hops.setdefault(edge.flow, []).append(edge.target)
    for edge in edges:
        if edge.flow == flow.id and _reaches_return(library, edge.target, hops):
            return edge
    return None


def _reaches_return(library: Library, start: str, hops: dict[str, list[str]]) -> bool:
    known, waiting = {start}, [start]
    while waiting:
        flow = waiting.pop()
        if any(step.type == "RETURN" for step in _steps_of(library, flow)):
            return True
        fresh = [one for one in hops.get(flow, ()) if one not in known]
        known.update(fresh)
        waiting += fresh
    return False
