"""What was declared, as charts: nodes, exits, branches with charts of their own.

Branches of a decider are nodes of the same chart, since one stage runs at a time. Branches that run
side by side are charts of their own, each on a scope over the parent's. What is wrong with what was
declared is found in `declared.py` and, for the finished graph, in `check.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from saywhy.chart.built import Built
from saywhy.chart.check import END, check
from saywhy.chart.declared import Back, Declared, Line, Target, line_problems, place_of
from saywhy.chart.merge import Merge
from saywhy.chart.model import Chart, Node
from saywhy.chart.stages import KIND
from saywhy.errors import DefinitionError, Problem

APART: Final = frozenset({"fork", "selector", "each"})
"""Kinds whose branches run side by side, as charts of their own."""

Exit = dict[str, Any]
"""Where a line goes on: `to`, and for a back edge `max`, `limit` and `resets`."""


@dataclass(slots=True)
class Head:
    """What is said about a chart as a whole."""

    name: str
    id: str
    meta: dict[str, Any]


def assemble(head: Head, line: Line) -> Built:
    """The charts of what was declared. Raises `DefinitionError` with every problem there is."""
    work = _Assembly(head)
    work.problems += line_problems(head.name, line)
    chart = None if work.problems else work.chart(line, head.name, head.id)
    own = [*work.own.values()]
    problems = [*work.problems, *(problem for one in own for problem in check(one))]
    errors = [problem for problem in problems if problem.severity == "error"]
    if errors or chart is None:
        raise DefinitionError(errors)
    warnings = tuple(problem for problem in problems if problem.severity != "error")
    return Built(chart, tuple(work.charts.values()), work.functions, warnings)


@dataclass(slots=True)
class _Draft:
    """A node on its way: loops inside one another are known once all are there."""

    declared: Declared
    under: tuple[str, ...]
    exits: dict[str, Exit]


@dataclass(slots=True)
class _Part:
    """One chart on its way."""

    id: str
    drafts: list[_Draft] = field(default_factory=list[_Draft])

    def loops(self) -> list[tuple[int, int, str, Exit]]:
        """Position of each back edge's target and source, its id, and the edge."""
        at = {draft.declared.id: number for number, draft in enumerate(self.drafts)}
        return [
            (at[way["to"]], number, f"{draft.declared.id}~{way['to']}", way)
            for number, draft in enumerate(self.drafts)
            for way in draft.exits.values()
            if "max" in way
        ]


class _Assembly:
    def __init__(self, head: Head) -> None:
        self.head = head
        self.problems: list[Problem] = []
        self.charts: dict[str, Chart] = {}
        self.own: dict[str, Chart] = {}
        """Those made here, which are checked here."""
        self.functions: dict[str, Callable[..., Any]] = {}

    def chart(self, line: Line, name: str, id: str) -> Chart:
        """The chart of one line of stages."""
        part = _Part(id)
        self._line(part, line, {"to": None}, ())
        loops = part.loops()
        for first, last, own, way in loops:
            way["resets"] = [
                loop
                for start, end, loop, _ in loops
                if first <= start and end <= last and loop != own
            ]
        meta = {**self.head.meta, **({"loops": True} if loops else {})}
        nodes = [self._node(part, draft) for draft in part.drafts]
        chart = Chart.of(name, nodes, id=id, kind=KIND, meta=meta)
        self._add(chart)
        self.own[chart.digest] = chart
        return chart

    def _add(self, chart: Chart) -> None:
        known = {one.id: one for one in self.charts.values()}
        if known.get(chart.id, chart).digest != chart.digest:
            self.problems.append(
                Problem(
                    f'two different charts have the id "{chart.id}"',
                    hint="give one of them another id",
                    flow=self.head.name,
                )
            )
        self.charts[chart.digest] = chart

    def _line(self, part: _Part, line: Line, after: Exit, under: tuple[str, ...]) -> None:
        """Drafts for the stages of a line and of the branches in it."""
        following = [declared.id for declared in line.declared[1:]]
        ways: list[Exit] = [*({"to": one} for one in following), _end_of(line, after)]
        for declared, way in zip(line.declared, ways, strict=False):
            draft = _Draft(declared, under, {})
            part.drafts.append(draft)
            if declared.kind != "decider":
                draft.exits[""] = dict(way)
                continue
            for name, branch in declared.lines.items():
                draft.exits[name] = _way_into(branch, way)
                self._line(part, branch, way, (declared.id,))
            if any(branch.back or branch.ends for branch in declared.lines.values()):
                under = (*under, declared.id)  # what follows runs because no such branch was taken

    def _node(self, part: _Part, draft: _Draft) -> Node:
        declared = draft.declared
        spec: dict[str, Any] = dict(declared.spec)
        if declared.kind in APART:
            branches = [
                [name, self._apart(line, f"{part.id}/{declared.id}/{name}")]
                for name, line in declared.lines.items()
            ]
            if declared.kind == "each":
                spec["chart"] = branches[0][1]
            else:
                spec["branches"] = branches
        if declared.target is not None:
            spec["chart"] = self._mounted(declared.target)
        if declared.merge:
            spec["merge"] = self._merge(declared)
        if declared.rules is not None:
            spec["rules"] = [[rule.text, rule.branch, rule.label] for rule in declared.rules]
        start = f"{part.id}/{declared.id}"
        for purpose, function in declared.functions.items():
            self._put(f"{start}#{purpose}" if purpose else start, function)
        exits = {name: way for name, way in draft.exits.items() if name or "max" in way}
        if exits:
            spec["exits"] = exits
        return Node(
            declared.id,
            declared.kind,
            draft.exits.get("", {}).get("to"),
            declared.name,
            spec,
            draft.under,
            place_of(declared),
            declared.describe,
            _edges(declared, draft.exits),
        )

    def _apart(self, line: Line, id: str) -> str:
        """Digest of the chart of a branch that runs beside others."""
        return self.chart(line, id, id).digest

    def _mounted(self, target: Target | Callable[[], Built]) -> str:
        if isinstance(target, str):
            return target
        if isinstance(target, Chart):
            self._add(target)
            return target.digest
        if not isinstance(target, Built):
            try:
                target = target()
            except DefinitionError as error:
                self.problems += error.problems
                return ""
        for chart in target.charts:
            self._add(chart)
        for key, function in target.functions.items():
            self._put(key, function)
        return target.chart.digest

    def _merge(self, declared: Declared) -> dict[str, str]:
        names: dict[str, str] = {}
        for key, policy in declared.merge.items():
            if isinstance(policy, Merge):
                names[key] = policy.value
            else:
                names[key] = "function"
                declared.functions[f"merge.{key}"] = policy
        return names

    def _put(self, key: str, function: Callable[..., Any]) -> None:
        if self.functions.setdefault(key, function) is not function:
            chart = key.split("#", maxsplit=1)[0].rpartition("/")[0]
            self.problems.append(
                Problem(
                    f'two different programs have a chart with the id "{chart}"',
                    hint="build a chart once and mount that, or give one another id",
                    flow=self.head.name,
                )
            )


def _end_of(line: Line, after: Exit) -> Exit:
    if line.ends:
        return {"to": None}
    return _back(line.back) if line.back else after


def _back(back: Back) -> Exit:
    way: Exit = {"to": back.to, "max": back.max_iter}
    return {**way, "limit": back.on_limit} if back.on_limit else way


def _way_into(branch: Line, after: Exit) -> Exit:
    """To the first stage of a branch; a branch without any is its own end."""
    if branch.declared:
        return {"to": branch.declared[0].id}
    return dict(_end_of(branch, after))


def _edges(declared: Declared, exits: dict[str, Exit]) -> tuple[tuple[str, str], ...]:
    """The ways out that `next` does not show, as target and label."""
    edges: list[tuple[str, str]] = []
    for name, way in exits.items():
        if name:
            edges.append((way["to"] or END, declared.labels.get(name, name)))
        if "limit" in way:
            edges.append((way["limit"], f"after {way['max']} times"))
    return tuple(edges)
