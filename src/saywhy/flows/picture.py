"""A flow's chart as it is drawn: with the ways that its steps really take.

In a compiled chart every step knows what stands after it; some never go there.
"""

from __future__ import annotations

from msgspec.structs import replace

from saywhy.chart.model import Chart, Node
from saywhy.flows.compile import LEAVING


def drawable(chart: Chart) -> Chart:
    """The chart without ways that are never taken; one that is no flow's as it is."""
    if chart.kind != "flow":
        return chart
    nodes = {
        name: replace(node, next=None) if _goes_elsewhere(node) else node
        for name, node in chart.nodes.items()
    }
    return replace(chart, nodes=nodes)


def _goes_elsewhere(node: Node) -> bool:
    deciding = node.kind in ("CASE", "SWITCH") and bool(node.edges)
    leaving = node.kind == "FLOW" and node.spec.get("callType", "call") != "call"
    return deciding or leaving or node.kind in LEAVING
