"""A conversation as a picture: the flows and agents it went through, with the path it took.

What is drawn is what the record speaks of, in the version it speaks of. Parts that only carry a
call out, and the stages inside of a step of an agent, have no boxes: they count for that step. Of
an agent whose chart is not at hand, since a store keeps none, the steps that ran are drawn.
"""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from saywhy.chart.commit import Commit
from saywhy.chart.draw import mermaid_set
from saywhy.chart.model import Chart, Node
from saywhy.chart.path import Path, path_of
from saywhy.errors import CallerError
from saywhy.flows.picture import drawable
from saywhy.trace.trace import Trace
from saywhy.trace.words import OWN

APART: Final = frozenset({"fork", "selector", "each", "mount"})
"""Kinds of nodes that open what stands inside of them."""


def picture_of(trace: Trace, turn: int | None = None) -> str:
    """The path of a conversation, or of one turn, as a mermaid flowchart.

    Raises `CallerError` where no flow and no agent was entered, or none of them is at hand.
    """
    path = path_in(trace, turn)
    known = trace.charts
    charts = [
        replace(drawable(known[one]) if one in known else _as_it_ran(trace, path, one), id=one)
        for one in path.charts
    ]
    if not charts:
        where = "this conversation" if turn is None else f"turn {turn}"
        raise CallerError(f"no flow and no agent was entered in {where}: there is no path to draw")
    return mermaid_set(charts, path=path)


def _as_it_ran(trace: Trace, path: Path, digest: str) -> Chart:
    """A chart of what ran of one that is not at hand: its steps, and the ways between them."""
    ran = [one for one in trace if one.chart == digest and one.phase != "closed"]
    kinds = {one.node: one.kind for one in ran}
    ways = [(node, target) for name, node, target in path.ways if name == digest]
    nodes = [
        Node(node, kind, edges=tuple((target, "") for source, target in ways if source == node))
        for node, kind in kinds.items()
        if (digest, node) in path.nodes
    ]
    return Chart.of(ran[0].flow, nodes)


def path_in(trace: Trace, turn: int | None = None, *, by_id: bool = False) -> Path:
    """The path through flows and agents; charts are named by their digests, or by their ids."""
    naming = _Naming(trace, by_id)
    return path_of(naming.commits(), naming.name, of_turn=turn)


class _Naming:
    def __init__(self, trace: Trace, by_id: bool) -> None:
        self.trace = trace
        self.by_id = by_id
        self.inner: set[int] = set()
        """Frames of what stands inside of a step."""
        self.kinds: dict[int, tuple[str, int]] = {}
        """By commit: kind and frame."""

    def commits(self) -> list[Commit]:
        found = list(self.trace)
        for commit in found:
            kind, frame = self.kinds.get(commit.caller, ("", 0))
            if kind in APART or frame in self.inner:
                self.inner.add(commit.frame)
            if commit.phase != "closed":
                self.kinds[commit.seq] = commit.kind, commit.frame
        return found

    def name(self, commit: Commit) -> str:
        digest = commit.chart
        if commit.flow in OWN or commit.frame in self.inner:
            return ""
        if digest not in self.trace.charts:
            return "" if self.by_id or commit.kind.startswith("carried:") else digest
        chart = self.trace.charts[digest]
        if chart.kind == "carried":
            return ""
        return chart.id if self.by_id else digest
