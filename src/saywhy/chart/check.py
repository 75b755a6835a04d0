"""Is a chart sound? Targets nobody has, nodes that are never reached, loops without a way out.

It looks at nodes and edges only, so it serves charts of every language; what a node's own text gets
wrong is for the language to find.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from saywhy.chart.model import Chart, Node
from saywhy.errors import Problem, did_you_mean

END = ""
"""Target of an edge that ends the chart."""


def check(chart: Chart, *, leaves: Iterable[str] = ()) -> Iterator[Problem]:
    """Every problem of the chart's graph. Nodes of the kinds `leaves` end the chart by themselves.

    A loop without a way out is a warning: a stage may end the chart in ways a graph does not show.
    """
    yield from _unknown_targets(chart)
    reached = _reached(chart)
    for node in chart.nodes.values():
        if node.id not in reached:
            yield _problem(
                chart,
                node,
                f'"{node.id}" is never reached',
                hint="no node leads there: take it out, or lead a branch or an edge to it",
            )
    yield from _no_way_out(chart, reached, frozenset(leaves))


def targets(node: Node) -> list[str]:
    """Where a node may go on; `END` for the end of the chart."""
    found = [target for target, _ in node.edges]
    if node.next is not None:
        return [node.next, *found]
    return found if found else [END]


def _unknown_targets(chart: Chart) -> Iterator[Problem]:
    if chart.start is not None and chart.start not in chart.nodes:
        yield Problem(f'chart {chart.name} starts at "{chart.start}", which is no node of it')
    for node in chart.nodes.values():
        for target in dict.fromkeys(targets(node)):
            if target != END and target not in chart.nodes:
                yield _problem(
                    chart,
                    node,
                    f'"{node.id}" leads to "{target}", which is no node of chart {chart.name}',
                    hint=did_you_mean(target, list(chart.nodes)),
                )


def _reached(chart: Chart) -> set[str]:
    return _spread([chart.start or ""], lambda at: targets(chart.nodes[at]), chart)


def _spread(
    start: Iterable[str], onwards: Callable[[str], Iterable[str]], chart: Chart
) -> set[str]:
    """Nodes reached from `start` by going `onwards` again and again."""
    open_nodes = [at for at in start if at in chart.nodes]
    seen = set(open_nodes)
    while open_nodes:
        for target in onwards(open_nodes.pop()):
            if target in chart.nodes and target not in seen:
                seen.add(target)
                open_nodes.append(target)
    return seen


def _no_way_out(chart: Chart, reached: set[str], leaves: frozenset[str]) -> Iterator[Problem]:
    before: dict[str, list[str]] = {}
    exits: list[str] = []
    for node in chart.nodes.values():
        for target in targets(node):
            before.setdefault(target, []).append(node.id)
        if END in targets(node) or node.kind in leaves:
            exits.append(node.id)
    out = _spread(exits, lambda at: before.get(at, ()), chart)
    stuck = [node for node in chart.nodes.values() if node.id in reached and node.id not in out]
    if stuck:
        names = ", ".join(f'"{node.id}"' for node in stuck)
        yield _problem(
            chart,
            stuck[0],
            f"there is no way out of {names}",
            hint="let a branch or `on_limit` lead out of the loop",
            severity_is_warning=True,
        )


def _problem(
    chart: Chart, node: Node, message: str, *, hint: str = "", severity_is_warning: bool = False
) -> Problem:
    return Problem(
        message,
        node.where,
        hint,
        "warning" if severity_is_warning else "error",
        flow=chart.name,
        step=node.id,
    )
