"""`saywhy draw`: flows as a picture, in mermaid text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from saywhy.cli.options import CargoOption, Files, FunctionsOption, GlobalsOption
from saywhy.cli.output import err, out
from saywhy.errors import DefinitionError, UnknownFlow

if TYPE_CHECKING:
    from saywhy.chart.draw import Link
    from saywhy.chart.model import Chart, Node
    from saywhy.flows.model import Flow, Library


def draw(
    files: Files,
    flow: Annotated[
        str | None, typer.Option("--flow", metavar="NAME", help="One flow alone, by name or id.")
    ] = None,
    functions: FunctionsOption = None,
    globals: GlobalsOption = None,
    cargo: CargoOption = None,
) -> None:
    """Draw flows as a mermaid flowchart.

    Each flow stands in a box, with the ways from one to another. Functions, globals and cargo
    change nothing in it: they are taken so that one set of options fits every command.
    """
    from saywhy.cli.given import Given
    from saywhy.flows.load import load_files

    Given.of(functions, globals, cargo)  # a mistake in one is told here as elsewhere
    library = load_files(map(str, files))
    errors = [problem for problem in library.problems if problem.severity == "error"]
    if errors and not library.flows:
        raise DefinitionError(errors)
    for problem in errors:
        err().line(problem.render())
    out().line(picture(library, flow).rstrip("\n"))
    raise typer.Exit(1 if errors else 0)


def picture(library: Library, flow: str | None = None) -> str:
    """The mermaid text of a library, or of one flow of it. Raises `UnknownFlow`."""
    from saywhy.chart.draw import mermaid, mermaid_set

    if flow is not None:
        found = library.find(flow)
        if found is None:
            known = [name for each in library.flows for name in (each.name, each.id)]
            raise UnknownFlow(flow, known)
        return mermaid(_chart(found))
    charts = {flow.id: _chart(flow) for flow in library.flows}
    return mermaid_set(list(charts.values()), _links(library))


def _chart(flow: Flow) -> Chart:
    """The chart of a flow with the ways its steps really take.

    In a compiled chart every step knows what stands after it; some never go there.
    """
    from msgspec.structs import replace

    from saywhy.flows.compile import LEAVING, compile_flow

    def goes_elsewhere(node: Node) -> bool:
        deciding = node.kind in ("CASE", "SWITCH") and bool(node.edges)
        leaving = node.kind == "FLOW" and node.spec.get("callType", "call") != "call"
        return deciding or leaving or node.kind in LEAVING

    chart = compile_flow(flow)
    nodes = {
        name: replace(node, next=None) if goes_elsewhere(node) else node
        for name, node in chart.nodes.items()
    }
    return replace(chart, nodes=nodes)


def _links(library: Library) -> list[Link]:
    from saywhy.chart.draw import Link
    from saywhy.flows.graph import flow_graph

    return [
        Link(edge.flow, edge.pointer, edge.target, edge.call_type) for edge in flow_graph(library)
    ]
