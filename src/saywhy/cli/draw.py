"""`saywhy draw`: flows as a picture, in mermaid text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from saywhy.cli.asking import must_hold
from saywhy.cli.export import trace_in
from saywhy.cli.options import (
    CargoOption,
    Files,
    FunctionsOption,
    GlobalsOption,
    StoreOption,
    store_to_read,
)
from saywhy.cli.output import STYLES, err, out
from saywhy.errors import CallerError, DefinitionError, UnknownFlow

if TYPE_CHECKING:
    from saywhy.chart.draw import Link
    from saywhy.chart.model import Chart
    from saywhy.flows.model import Library
    from saywhy.trace.trace import Trace


def draw(
    files: Files,
    flow: Annotated[
        str | None, typer.Option("--flow", metavar="NAME", help="One flow alone, by name or id.")
    ] = None,
    session: Annotated[
        str | None,
        typer.Option("--session", metavar="ID", help="Mark the path of this conversation."),
    ] = None,
    turn: Annotated[
        int | None, typer.Option("--turn", metavar="N", help="Of its path only that of one turn.")
    ] = None,
    store: StoreOption = None,
    functions: FunctionsOption = None,
    globals: GlobalsOption = None,
    cargo: CargoOption = None,
) -> None:
    """Draw flows as a mermaid flowchart.

    Each flow stands in a box, with the ways from one to another. With --session the steps and ways
    that a conversation took are marked, with how often. Functions, globals and cargo
    change nothing in it: they are taken so that one set of options fits every command.
    """
    from saywhy.cli.given import Given
    from saywhy.flows.load import load_files

    Given.of(functions, globals, cargo)  # a mistake in one is told here as elsewhere
    library = load_files(map(str, files))
    trace = None
    if session is not None:
        trace = trace_in(store_to_read(store), session)
        must_hold(trace, turn)
    elif turn is not None or store is not None:
        raise CallerError("--turn and --store are about a conversation", hint="--session ID")
    errors = [problem for problem in library.problems if problem.severity == "error"]
    if errors and not library.flows:
        raise DefinitionError(errors)
    for problem in errors:
        err().line(problem.render())
    out().line(picture(library, flow, trace, turn).rstrip("\n"))
    raise typer.Exit(1 if errors else 0)


def picture(
    library: Library,
    flow: str | None = None,
    trace: Trace | None = None,
    turn: int | None = None,
) -> str:
    """The mermaid text of a library, or of one flow of it. Raises `UnknownFlow`.

    With a `trace` the path that it took is marked, or that of one turn.
    """
    from saywhy.chart.draw import mermaid, mermaid_set
    from saywhy.flows.compile import compile_flow
    from saywhy.flows.picture import drawable

    flows = library.flows
    if flow is not None:
        found = library.find(flow)
        if found is None:
            known = [name for each in library.flows for name in (each.name, each.id)]
            raise UnknownFlow(flow, known)
        if trace is None:
            return mermaid(drawable(compile_flow(found)))
        flows = (found,)
    charts = [drawable(compile_flow(each)) for each in flows]
    if trace is None:
        return mermaid_set(charts, _links(library))
    from saywhy.runtime.picture import path_in

    links = [link for link in _links(library) if flow is None or link.chart == flows[0].id]
    _tell_changes(charts, trace)
    return mermaid_set(charts, links, path=path_in(trace, turn, by_id=True))


def _tell_changes(charts: list[Chart], trace: Trace) -> None:
    """Say which flows are not those that ran: a step may stand elsewhere now."""
    newest = {chart.id: chart.digest for chart in charts}
    ran = {commit.chart for commit in trace}
    for chart in trace.charts:
        if chart.digest in ran and newest.get(chart.id, chart.digest) != chart.digest:
            text = f"{chart.name} was changed since: its path is drawn on the steps of today"
            err().line(text, STYLES["warning"])


def _links(library: Library) -> list[Link]:
    from saywhy.chart.draw import Link
    from saywhy.flows.graph import flow_graph

    return [
        Link(edge.flow, edge.pointer, edge.target, edge.call_type) for edge in flow_graph(library)
    ]
