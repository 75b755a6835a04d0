"""Tells a recorder how a chart is built: every stage and every edge, once, in the order of a run.

A recorder has any of the methods `on_stage_added`, `on_edge_added`, `on_loop_edge_added`,
`on_decider_complete` and `on_subflow_mounted`, each given a mapping; or it is a function and is
given the chart.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from saywhy.chart.built import Built
from saywhy.chart.check import END
from saywhy.chart.model import Chart, Node

Edge = tuple[str, str, str, bool]
"""From where, to where, its label, whether it leads back."""


def replay(built: Built, recorder: Any) -> None:
    """Tell `recorder` of the chart."""
    if callable(recorder):
        recorder(built.chart)
        return
    by_digest = {chart.digest: chart for chart in built.charts}
    _told(built.chart, "", by_digest, recorder)


def _told(chart: Chart, path: str, charts: Mapping[str, Chart], recorder: Any) -> None:
    for node in chart.nodes.values():
        stage = {"stage_id": node.id, "name": node.name or node.id, "type": node.kind}
        _call(recorder, "on_stage_added", {**stage, "subflow_path": path, "spec": node.spec})
        for name, inner in _inside(node, charts):
            mounted = {"subflow_id": name, "subflow_name": inner.name, "subflow_path": path}
            _call(recorder, "on_subflow_mounted", {**mounted, "root_stage_id": inner.start})
            _told(inner, f"{path}/{name}" if path else name, charts, recorder)
        if node.kind in ("decider", "selector"):
            branches = [label for _, label in node.edges] or [
                name for name, _ in node.spec.get("branches", [])
            ]
            told = {"decider": node.id, "type": node.kind, "branch_ids": branches}
            _call(recorder, "on_decider_complete", told)
    for source, target, label, back in edges_of(chart):
        edge = {"from": source, "to": target, "subflow_path": path}
        if label:
            edge["label"] = label
        _call(recorder, "on_loop_edge_added" if back else "on_edge_added", edge)


def edges_of(chart: Chart) -> Iterator[Edge]:
    """The edges of a chart, those that lead back marked."""
    exits: Any
    for node in chart.nodes.values():
        exits = node.spec.get("exits", {})
        for label, way in exits.items():
            if way["to"]:
                yield node.id, way["to"], label, "max" in way
            else:
                yield node.id, END, label, False
        if "" not in exits and node.kind != "decider":
            yield node.id, node.next or END, "", False


def _inside(node: Node, charts: Mapping[str, Chart]) -> Iterator[tuple[str, Chart]]:
    """The charts that a node runs, by the names they have there."""
    for name, digest in node.spec.get("branches", []):
        yield name, charts[digest]
    inner = charts.get(node.spec.get("chart", ""))
    if inner is not None:
        yield node.id, inner


def _call(recorder: Any, hook: str, told: Mapping[str, Any]) -> None:
    method = getattr(recorder, hook, None)
    if method is not None:
        method(told)
