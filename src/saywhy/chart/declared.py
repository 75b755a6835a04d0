"""What an author has declared, before it is a chart, and what is wrong with it.

Everything that the finished graph no longer shows is checked here: ids, branches that no rule
takes, back edges, names that cannot be. All problems are found in one go.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from saywhy.chart.built import Built
from saywhy.chart.decide import Rule
from saywhy.chart.merge import Policy
from saywhy.chart.model import Chart
from saywhy.chart.view import RESERVED
from saywhy.errors import Place, Problem, did_you_mean

Function = Callable[..., Any]
Target = Chart | Built | str

ID: Final = re.compile(r"[^\s/#~]+")
"""What an id may be. Paths of nodes, purposes and branch numbers are written with the others."""

BRANCHING: Final = frozenset({"decider", "selector", "fork"})


@dataclass(slots=True)
class Back:
    """A back edge: to which stage, how often at most, and where then."""

    to: str
    max_iter: int
    on_limit: str = ""


@dataclass(slots=True)
class Declared:
    """One stage."""

    id: str
    kind: str
    name: str = ""
    describe: str = ""
    spec: dict[str, Any] = field(default_factory=dict[str, Any])
    functions: dict[str, Function] = field(default_factory=dict[str, Function])
    """By purpose; "" is the stage's own."""
    lines: dict[str, Line] = field(default_factory=dict[str, "Line"])
    """Branches, by name."""
    twice: list[str] = field(default_factory=list[str])
    """Names of branches that were declared more than once."""
    labels: dict[str, str] = field(default_factory=dict[str, str])
    merge: Mapping[str, Policy] = field(default_factory=dict[str, "Policy"])
    target: Target | Callable[[], Built] | None = None
    """The chart that is mounted, or how it will be built."""
    rules: Sequence[Rule] | None = None
    default: str = ""


@dataclass(slots=True)
class Line:
    """Stages one after the other, and how the line ends."""

    declared: list[Declared] = field(default_factory=list[Declared])
    back: Back | None = None
    ends: bool = False
    late: list[str] = field(default_factory=list[str])
    """Stages declared after the end of the line."""


def place_of(declared: Declared) -> tuple[str, int, int, str] | None:
    """Where the stage's function stands."""
    function = declared.functions.get("")
    code = getattr(function, "__code__", None)
    if code is None or declared.rules is not None:
        return None
    return (code.co_filename, code.co_firstlineno, 1, "")


def line_problems(chart: str, line: Line) -> list[Problem]:
    """Everything wrong with what was declared for a chart."""
    return [*_Check(chart).whole(line)]


class _Check:
    def __init__(self, chart: str) -> None:
        self.chart = chart
        self.seen: set[str] = set()

    def problem(self, message: str, declared: Declared | None = None, hint: str = "") -> Problem:
        spot = place_of(declared) if declared else None
        step = declared.id if declared else ""
        place = Place(*spot) if spot else Place(pointer=step or self.chart)
        return Problem(message, place, hint, flow=self.chart, step=step)

    def whole(self, line: Line) -> Iterator[Problem]:
        if not line.declared:
            yield self.problem(f"chart {self.chart} has no stages")
        yield from self.line(line, [])

    def line(self, line: Line, before: list[str]) -> Iterator[Problem]:
        """`before`: stages of the same chart declared so far, which the line may go back to."""
        for late in line.late:
            yield self.problem(
                f'stage "{late}" is declared after the end of its line',
                hint="declare it before loop_to() or end(), or in a branch",
            )
        if line.back and line.ends:
            yield self.problem(f'a line both ends and goes back to "{line.back.to}"')
        for declared in line.declared:
            yield from self.one(declared)
            before.append(declared.id)
            apart = declared.kind != "decider"
            for name, branch in declared.lines.items():
                if apart and not branch.declared:
                    yield self.problem(f'branch "{name}" of {declared.id} has no stages', declared)
                yield from self.line(branch, [] if apart else before)
        if line.back:
            yield from self.back(line.back, line, before)

    def back(self, back: Back, line: Line, before: Sequence[str]) -> Iterator[Problem]:
        source = line.declared[-1] if line.declared else None
        if back.to not in before:
            yield self.problem(
                f'loop_to("{back.to}"): no stage with this id was declared before, in this chart',
                source,
                did_you_mean(back.to, before),
            )
        if back.max_iter < 1:
            yield self.problem(f'loop_to("{back.to}"): max_iter is {back.max_iter}, not 1 or more')

    def one(self, declared: Declared) -> Iterator[Problem]:
        own = declared.id
        if not ID.fullmatch(own):
            yield self.problem(
                f'the id "{own}" has a reserved character',
                declared,
                "ids have no spaces and none of / # ~",
            )
        if own in self.seen:
            yield self.problem(
                f'two stages have the id "{own}"', declared, "give one of them another id"
            )
        self.seen.add(own)
        if declared.kind == "pausable" and "resume" not in declared.functions:
            yield self.problem(
                f"pausable {own} has no second half",
                declared,
                f"add `@{own}.resume def _(s, answer): …`",
            )
        if declared.kind == "each" and declared.spec["max"] < 1:
            yield self.problem(f"{own}: max_branches is {declared.spec['max']}, not 1 or more")
        yield from self.retry(declared)
        yield from self.names(declared)
        if declared.kind in BRANCHING:
            yield from self.branches(declared)

    def retry(self, declared: Declared) -> Iterator[Problem]:
        retry = declared.spec.get("retry")
        if retry is None:
            return
        attempts = retry["attempts"]
        if not isinstance(attempts, int) or attempts < 1:
            yield self.problem(
                f"{declared.id}: retry takes attempts of 1 or more, not {attempts!r}", declared
            )
        for key in retry.get("unknown", ()):
            yield self.problem(
                f'{declared.id}: retry has no "{key}"', declared, "known: attempts, backoff, on"
            )

    def names(self, declared: Declared) -> Iterator[Problem]:
        spec = declared.spec
        written = [*spec.get("outputs", {}), *declared.merge]
        written += [spec[key] for key in ("into", "errors") if key in spec]
        for name in written:
            if name in RESERVED or name[:1] == "_":
                yield self.problem(
                    f'{declared.id}: "{name}" is reserved and cannot be a variable', declared
                )

    def branches(self, declared: Declared) -> Iterator[Problem]:
        own, known = declared.id, list(declared.lines)
        if not known:
            yield self.problem(f"{declared.kind} {own} has no branches", declared)
        for name in declared.twice:
            yield self.problem(f'{declared.kind} {own} has two branches "{name}"', declared)
        if declared.rules is None:
            return
        taken = [rule.branch for rule in declared.rules]
        for name in dict.fromkeys(taken):
            if name not in known:
                hint = did_you_mean(name, known)
                yield self.problem(
                    f'a rule of {own} leads to "{name}", which is no branch', hint=hint
                )
        if declared.kind == "decider" and declared.default not in known:
            hint = did_you_mean(declared.default, known) or "name a branch with default="
            yield self.problem(
                f'the default of {own} is "{declared.default}", which is no branch', hint=hint
            )
        for name in known:
            if name not in taken and name != declared.default:
                yield self.problem(f'no rule of {own} leads to its branch "{name}"')
