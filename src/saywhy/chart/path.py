"""The path that a record took through charts: how often each node, each way, each call.

It is read off the commits alone. Charts are told apart by the names that whoever asks gives them;
one without a name, such as that of a call carried out, is passed over: what it opened counts as
opened by whoever opened it. How a path is drawn is answered by `draw`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

import msgspec

from saywhy.chart.check import END
from saywhy.chart.commit import Commit

RETURNS = "return"

Named = Callable[[Commit], str]
"""The name of the chart of a commit; empty for one that is passed over."""


class Path(msgspec.Struct):
    """Counts. A way leads from a node to another of its chart, or to `END`."""

    nodes: Counter[tuple[str, str]] = msgspec.field(default_factory=Counter[tuple[str, str]])
    ways: Counter[tuple[str, str, str]] = msgspec.field(
        default_factory=Counter[tuple[str, str, str]]
    )
    calls: Counter[tuple[str, str, str]] = msgspec.field(
        default_factory=Counter[tuple[str, str, str]]
    )
    """From a node of one chart into another chart."""

    @property
    def charts(self) -> list[str]:
        """Names of the charts that were entered, in order."""
        return list(dict.fromkeys(name for name, _ in self.nodes))


def path_of(commits: Iterable[Commit], named: Named, *, of_turn: int | None = None) -> Path:
    """The path that commits took; those of other turns than `of_turn` only tell where it began."""
    walking = _Walking(named)
    for commit in commits:
        walking.take(commit, counts=of_turn in (None, commit.turn))
    return walking.path


class _Walking:
    def __init__(self, named: Named) -> None:
        self.named = named
        self.path = Path()
        self.at: dict[int, tuple[str, str]] = {}
        """By commit: chart and node that what it opens is opened by."""
        self.left: dict[int, str] = {}
        """By frame: the node that called something and has not gone on yet."""
        self.seen: set[int] = set()

    def take(self, commit: Commit, *, counts: bool) -> None:
        """The next commit. A resumed node was entered before."""
        if commit.phase == "closed":
            return
        name = self.named(commit)
        opener = self.at.get(commit.caller)
        self.at[commit.seq] = (name, commit.node) if name else opener or ("", "")
        is_first = commit.frame not in self.seen
        self.seen.add(commit.frame)
        if not name:
            return
        path, before = self.path, self.left.pop(commit.frame, "")
        if counts:
            if commit.answered is None:
                path.nodes[name, commit.node] += 1
            if is_first and opener is not None and opener[0]:
                path.calls[(*opener, name)] += 1
            if before and before != commit.node:
                path.ways[name, before, commit.node] += 1
        if commit.to == RETURNS:
            path.ways[name, commit.node, END] += counts
        elif commit.to.startswith("call ") or commit.to in ("fork", "rest", ""):
            self.left[commit.frame] = commit.node
        elif counts and commit.to != "fail":
            path.ways[name, commit.node, commit.to] += 1
