"""A chart as a picture: mermaid text, with the path a run has taken laid over it if wanted.

It draws what nodes and edges say, for charts of every language. Deciding nodes are diamonds, back
edges are dotted, mounted charts and the branches of a fork are boxes of their own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from saywhy.chart.check import END, targets
from saywhy.chart.commit import Commit
from saywhy.chart.model import Chart, Charts, Node
from saywhy.chart.path import Path

SHAPES: Final = {
    "decider": ("{", "}"),
    "CASE": ("{", "}"),
    "SWITCH": ("{", "}"),
    "pausable": ("[/", "/]"),
    "SAY-GET": ("[/", "/]"),
    "FORM": ("[/", "/]"),
    "fork": ("{{", "}}"),
    "selector": ("{{", "}}"),
    "each": ("{{", "}}"),
    "mount": ("[[", "]]"),
    "FLOW": ("[[", "]]"),
}
"""Node kind → the brackets that mermaid draws its shape for; a rectangle for the others."""

APART: Final = frozenset({"fork", "selector", "each"})

SPEC_TEXTS: Final = ("value", "tool", "variable", "name", "flow", "prompt")
"""Fields of a step that say most about it, best first."""

MAX_TEXT: Final = 60
"""Characters of a label."""

MAX_NESTED: Final = 5
"""Charts inside charts that are drawn."""


def mermaid(
    chart: Chart, *, charts: Charts | None = None, visited: Mapping[str, int] | None = None
) -> str:
    """The chart as a mermaid flowchart.

    With `charts`, what it mounts and forks into is drawn inside it. `visited` are counts by node
    (inside a mount `mount/node`, inside a branch `fork/branch/node`), as `visits` gives them.
    """
    drawing = _Drawing(charts or Charts(), visited)
    lines = ["flowchart TD", *drawing.chart(chart, "n", "", ())]
    if visited is not None:
        lines += TAKEN
    return "\n".join(lines) + "\n"


class Link(NamedTuple):
    """A way from a node of one chart into another chart, for `mermaid_set`."""

    chart: str
    """Id of the chart with the node."""
    node: str
    target: str
    """Id of the other chart; what is no chart of the set is drawn as a node of its own."""
    label: str = ""


TAKEN: Final = (
    "  classDef visited fill:#d9f2d9,stroke:#2e7d32,stroke-width:2px",
    "  classDef missed opacity:0.5",
)
TAKEN_WAY: Final = "stroke:#2e7d32,stroke-width:3px"


def mermaid_set(
    charts: Sequence[Chart], links: Iterable[Link] = (), *, path: Path | None = None
) -> str:
    """Several charts in one picture, each in a box of its own, with ways from one to another.

    With a `path`, whose charts are named by their ids, the nodes and ways that were taken are
    marked, with how often where that is more than once; so are calls, also those that no link
    tells of.
    """
    drawing = _Drawing(Charts(), None if path is None else {}, path)
    boxes = {chart.id: f"f{number}" for number, chart in enumerate(charts)}
    lines = ["flowchart TD"]
    for chart in charts:
        drawing.named = chart.id
        lines += drawing.box(boxes[chart.id], _escaped(chart.name), chart, "", ())
    nodes = {chart.id: {node: at for at, node in enumerate(chart.nodes)} for chart in charts}
    outside: dict[str, str] = {}
    for link in _with_calls(links, boxes, path):
        target = boxes.get(link.target) or outside.get(link.target)
        if target is None:
            target = outside[link.target] = f"o{len(outside)}"
            lines.append(f'  {target}(["{_escaped(link.target)}"])')
        name = f"{boxes[link.chart]}_{nodes[link.chart][link.node]}"
        count = path.calls[link.chart, link.node, link.target] if path is not None else 0
        lines.append(f"  {drawing.way(name, target, link.label, back=True, count=count)}")
    if path is not None:
        lines += TAKEN
        if drawing.taken:
            lines.append(f"  linkStyle {','.join(map(str, drawing.taken))} {TAKEN_WAY}")
    return "\n".join(lines) + "\n"


def _with_calls(
    links: Iterable[Link], boxes: Mapping[str, str], path: Path | None
) -> Iterator[Link]:
    """The links, none twice, and those calls of the path that none of them tells of."""
    told = dict.fromkeys(links)
    yield from told
    known = {(link.chart, link.node, link.target) for link in told}
    for call in path.calls if path is not None else ():
        if call not in known and call[0] in boxes and call[2] in boxes:
            yield Link(*call)


class _Drawing:
    def __init__(
        self, charts: Charts, visited: Mapping[str, int] | None, path: Path | None = None
    ) -> None:
        self.charts = charts
        self.visited = visited
        self.path = path
        self.named = ""
        """The chart that is drawn, by its name in the path."""
        self.drawn = 0
        """Ways drawn so far: a picture numbers them in their order."""
        self.taken: list[int] = []

    def way(self, name: str, to: str, label: str, *, back: bool, count: int = 0) -> str:
        """The arrow of a way, marked if it was taken."""
        if count:
            self.taken.append(self.drawn)
        self.drawn += 1
        if count > 1:
            label = f"{label} ×{count}".strip()
        return f"{name} {_arrow(label, back)} {to}"

    def times(self, path: str, node: str) -> int:
        """How often a node was entered."""
        if self.path is not None:
            return self.path.nodes[self.named, node]
        return (self.visited or {}).get(f"{path}{node}", 0)

    def chart(self, chart: Chart, prefix: str, path: str, around: tuple[str, ...]) -> Iterator[str]:
        """Lines for the nodes and edges of one chart. Names in the picture begin with `prefix`."""
        around = (*around, chart.digest)
        names = {node: f"{prefix}{number}" for number, node in enumerate(chart.nodes)}
        ends = [node for node in chart.nodes.values() if END in targets(node)]
        for node in chart.nodes.values():
            yield from self.node(node, names[node.id], path, around)
        if ends:
            yield f'  {prefix}end(["end"])'
        order = {node: number for number, node in enumerate(chart.nodes)}
        for node in chart.nodes.values():
            for target, label in _ways(node):
                to = names.get(target, f"{prefix}end")
                if target and target not in names:
                    continue
                back = target != END and order[target] <= order[node.id]
                count = self.path.ways[self.named, node.id, target] if self.path else 0
                yield f"  {self.way(names[node.id], to, label, back=back, count=count)}"

    def node(self, node: Node, name: str, path: str, around: tuple[str, ...]) -> Iterator[str]:
        """The shape of a node, and the charts inside it."""
        inner = self.inner(node, around)
        if node.kind == "mount" and inner:
            yield from self.box(name, _label(node), inner[0][1], f"{path}{node.id}/", around)
        else:
            opening, closing = SHAPES.get(node.kind, ("[", "]"))
            count = self.times(path, node.id)
            times = f" (×{count})" if count > 1 else ""
            yield f'  {name}{opening}"{_label(node)}{times}"{closing}'
            for number, (branch, chart) in enumerate(inner):
                box = f"{name}b{number}"
                yield from self.box(
                    box, _escaped(branch), chart, f"{path}{node.id}/{branch}/", around
                )
                yield f"  {self.way(name, box, '', back=False)}"
        if self.visited is not None:
            kind = "visited" if self.times(path, node.id) else "missed"
            yield f"  class {name} {kind}"

    def box(
        self, name: str, title: str, chart: Chart, path: str, around: tuple[str, ...]
    ) -> Iterator[str]:
        yield f'  subgraph {name}["{title}"]'
        for line in self.chart(chart, f"{name}_", path, around):
            yield f"  {line}"
        yield "  end"

    def inner(self, node: Node, around: tuple[str, ...]) -> list[tuple[str, Chart]]:
        """The charts to draw inside a node, with the names of their branches."""
        wanted: list[tuple[str, str]] = []
        if node.kind in ("mount", "each"):
            wanted = [(f"{node.id}.item", node.spec["chart"])]
        elif node.kind in APART:
            wanted = [(name, digest) for name, digest in node.spec.get("branches", [])]
        found = [(name, self.charts.find(chart)) for name, chart in wanted]
        return [
            (name, chart)
            for name, chart in found
            if chart is not None and chart.digest not in around and len(around) <= MAX_NESTED
        ]


def _ways(node: Node) -> list[tuple[str, str]]:
    """Targets and labels, the plain way on first; none twice."""
    labelled = list(dict.fromkeys(node.edges))
    named = {target for target, _ in labelled}
    return [*((target, "") for target in targets(node) if target not in named), *labelled]


def _arrow(label: str, back: bool) -> str:
    arrow = "-.->" if back else "-->"
    return f'{arrow}|"{_escaped(label)}"|' if label else arrow


def _label(node: Node) -> str:
    """Two lines at most: what the node is called, and what it does."""
    pointer = node.id.startswith("/")
    title = node.name or (node.kind if pointer else node.id)
    detail = node.describe or _spec_text(node.spec)
    lines = [title] if not detail or detail == title else [title, detail]
    return "<br/>".join(_escaped(line) for line in lines)


def _spec_text(spec: Mapping[str, Any]) -> str:
    for name in SPEC_TEXTS:
        value = spec.get(name)
        if isinstance(value, str) and value.strip():
            return value
    return ""


def _escaped(text: str) -> str:
    """Text for a quoted label: short, on one line, nothing in it that mermaid reads as its own."""
    short = " ".join(text.split())
    if len(short) > MAX_TEXT:
        short = short[: MAX_TEXT - 1] + "…"
    return "".join(f"#{ord(sign)};" if sign in _SPECIAL else sign for sign in short)


_SPECIAL: Final = frozenset('"#<>&`;|\\')


def visits(commits: Iterable[Commit]) -> dict[str, int]:
    """How often each node was entered, by its path from the bottom frame."""
    prefixes: dict[int, str] = {}
    paths: dict[int, str] = {}
    counts: Counter[str] = Counter()
    for commit in commits:
        if commit.phase == "closed":
            continue
        if commit.frame not in prefixes:
            prefixes[commit.frame] = _prefix(commit, paths)
        paths[commit.seq] = f"{prefixes[commit.frame]}{commit.node}"
        if commit.kind in APART:
            paths[commit.seq] += "\0"  # frames it opens are branches, named in their charts
        if commit.answered is None:
            counts[paths[commit.seq].rstrip("\0")] += 1
    return dict(counts)


def _prefix(commit: Commit, paths: Mapping[int, str]) -> str:
    opener = paths.get(commit.caller)
    if opener is None:
        return ""
    if opener.endswith("\0"):
        return f"{opener[:-1]}/{commit.flow.rpartition('/')[2]}/"
    return f"{opener}/"
