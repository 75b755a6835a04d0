"""A chart: nodes, where each goes on, and where each stands in the author's file.

Charts are data and go through JSON; what a node of some kind *does* is a step in a `Language`
(`machine.py`). A chart's digest is taken over what it does, not over where it stands, so moving
lines in a file makes no new version.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Self

import msgspec

from saywhy.errors import ChartError, Place, did_you_mean
from saywhy.values import dumps, loads_raw


class Node(msgspec.Struct, frozen=True, omit_defaults=True):
    """One step of a chart."""

    id: str
    """For a flow: the JSON pointer of the step inside its flow, `/steps/3`."""
    kind: str
    next: str | None = None
    name: str = ""
    spec: dict[str, Any] = {}
    """What the author wrote for this step."""
    under: tuple[str, ...] = ()
    """Nodes whose decision governs whether this one runs."""
    place: tuple[str, int, int, str] | None = None
    describe: str = ""
    edges: tuple[tuple[str, str], ...] = ()
    """Where else it may go: target node and label, for drawing and checking."""
    places: dict[str, tuple[int, int]] = {}
    """Line and column of parts that a record may speak of, by their pointer inside the step."""

    @property
    def where(self) -> Place:
        """The node's place as a value of the errors module."""
        return Place(*self.place) if self.place else Place(pointer=self.id)

    def where_is(self, part: str) -> Place:
        """The place of a part of the node, `/inputValidation/patterns/0`; else its own place."""
        if part not in self.places:
            return self.where
        return Place(self.where.file, *self.places[part], self.where.pointer + part)


class Chart(msgspec.Struct, frozen=True, omit_defaults=True):
    """A named graph of nodes. Make one with `Chart.of`, which computes the digest."""

    name: str
    id: str
    start: str | None
    nodes: dict[str, Node]
    kind: str = "chart"
    meta: dict[str, Any] = {}
    digest: str = ""

    @classmethod
    def of(
        cls,
        name: str,
        nodes: Iterable[Node],
        *,
        id: str = "",
        start: str | None = None,
        kind: str = "chart",
        meta: Mapping[str, Any] | None = None,
    ) -> Self:
        """A chart whose first node is the start unless `start` says otherwise.

        Raises `ChartError` when two nodes share an id.
        """
        table: dict[str, Node] = {}
        for node in nodes:
            if node.id in table:
                raise ChartError(f'chart {name}: two nodes have the id "{node.id}"')
            table[node.id] = node
        first = start if start is not None else next(iter(table), None)
        chart = cls(name, id or name, first, table, kind, dict(meta or {}))
        return msgspec.structs.replace(chart, digest=_digest(chart))

    def node(self, node_id: str) -> Node:
        """The node with this id. Raises `ChartError` with the nearest name."""
        found = self.nodes.get(node_id)
        if found is None:
            raise self.unknown(node_id)
        return found

    def unknown(self, node_id: str) -> ChartError:
        """The error for an id that no node has."""
        hint = did_you_mean(node_id, list(self.nodes))
        return ChartError(f'chart {self.name} has no node "{node_id}"', hint=hint)

    def to_json(self) -> bytes:
        """The chart as JSON text; `from_json` gives an equal one back."""
        return dumps(self)

    @classmethod
    def from_json(cls, data: bytes) -> Self:
        """The chart written by `to_json`."""
        return msgspec.convert(loads_raw(data), cls)


def _digest(chart: Chart) -> str:
    content = [
        [node.id, node.kind, node.next, node.spec, node.edges] for node in chart.nodes.values()
    ]
    text = dumps([chart.name, chart.id, chart.kind, chart.start, chart.meta, content])
    return hashlib.sha256(text).hexdigest()[:16]


class Charts:
    """The charts a run may meet: every version by digest, the newest by id and by name."""

    def __init__(self, charts: Iterable[Chart] = ()) -> None:
        self._by_digest: dict[str, Chart] = {}
        self._newest: dict[str, Chart] = {}
        self.version: Callable[[str], Chart | None] = self._by_digest.get
        """The chart with exactly this digest. Asked for at every step."""
        for chart in charts:
            self.add(chart)

    def add(self, chart: Chart) -> None:
        """Make `chart` known, as the newest of its id and name."""
        self._by_digest[chart.digest] = chart
        self._newest[chart.id] = chart
        self._newest[chart.name] = chart

    def add_behind(self, chart: Chart) -> None:
        """Make `chart` known, by its id and name only where no other chart has them."""
        self._by_digest[chart.digest] = chart
        self._newest.setdefault(chart.id, chart)
        self._newest.setdefault(chart.name, chart)

    def add_version(self, chart: Chart) -> None:
        """Make an older version known, for frames that still run on it."""
        self._by_digest.setdefault(chart.digest, chart)

    def put(self, chart: Chart) -> None:
        """Have `chart` in place of the one with the same digest."""
        self._by_digest[chart.digest] = chart
        for name in (chart.id, chart.name):
            newest = self._newest.get(name)
            if newest is not None and newest.digest == chart.digest:
                self._newest[name] = chart

    def copy(self) -> Charts:
        """The same charts, for somebody who makes others the newest."""
        made = Charts()
        made._by_digest.update(self._by_digest)
        made._newest.update(self._newest)
        return made

    def find(self, name: str) -> Chart | None:
        """The chart with this digest, else the newest with this id or name."""
        return self._by_digest.get(name) or self._newest.get(name)

    def __getitem__(self, digest: str) -> Chart:
        return self._by_digest[digest]

    def __contains__(self, digest: object) -> bool:
        return digest in self._by_digest

    def __iter__(self) -> Iterator[Chart]:
        return iter(self._by_digest.values())
