"""How one node of a chart written in Python runs: worked out once, from what the node says.

A node's `spec` is plain data and goes through JSON; the author's functions stand beside it in a
table, under the chart's id, the node's id and what they are for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from inspect import iscoroutinefunction
from typing import Any, Final

from saywhy.chart.commit import Effect
from saywhy.chart.merge import Merge, Policy
from saywhy.chart.model import Chart, Node
from saywhy.chart.outcome import Goto
from saywhy.chart.scope import Scope
from saywhy.chart.view import Over
from saywhy.errors import AuthorError, CallerError, RunError

Functions = Mapping[str, Callable[..., Any]]
"""`chart/node` → the stage's function; `chart/node#purpose` → its others."""

MAX_ITER: Final = 1000
"""How often a back edge may be taken unless the author says otherwise."""


class LoopLimit(RunError):
    """A loop went round more often than its author allowed, and had no way out for that."""

    name = "LoopLimit"

    def __init__(self, loop: Loop, decided: list[str] | None) -> None:
        self.loop = (loop.source, loop.to)
        self.limit = loop.most
        last = ""
        if decided:
            branch = f'{decided[0]} chose "{decided[1]}"'
            last = f"; last decision: {branch}" + (f" ({decided[2]})" if decided[2] else "")
        super().__init__(
            f"the loop from {loop.source} back to {loop.to} was taken {loop.most} times{last}",
            hint="raise max_iter, or name a node to go to with on_limit",
        )


@dataclass(frozen=True, slots=True)
class Loop:
    """A back edge with its bound."""

    source: str
    to: str
    most: int
    limit: str | None
    """Where to go when the bound is reached; None: the stage fails."""
    resets: tuple[str, ...]
    """Loops inside this one, whose count begins anew."""
    id: str = field(init=False)
    """Names the loop within its chart."""
    back: Goto = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "id", f"{self.source}~{self.to}")
        object.__setattr__(self, "back", Goto(self.to))

    def follow(self, scope: Scope) -> Goto:
        """Go back once more. Raises `LoopLimit` when that was often enough."""
        counts: dict[str, int] = dict(scope.kept("loops") or {})
        count = counts.get(self.id, 0) + 1
        for inner in self.resets:
            counts.pop(inner, None)
        if count <= self.most:
            counts[self.id] = count
            scope.keep("loops", counts)
            return self.back
        if self.limit is None:
            raise LoopLimit(self, scope.kept("decided"))
        counts.pop(self.id, None)
        scope.keep("loops", counts)
        scope.warn(f"the loop back to {self.to} was taken {self.most} times; on to {self.limit}")
        return Goto(self.limit)


@dataclass(frozen=True, slots=True)
class Exit:
    """One way out of a node."""

    goto: Goto | None
    """None: the chart returns."""
    loop: Loop | None = None


@dataclass(frozen=True, slots=True)
class Retry:
    """When a stage that raised is run again."""

    attempts: int
    backoff: float | list[float] | Callable[[int], float]
    """Seconds before the next attempt: always, for each attempt, or by its number from 1."""
    on: Callable[[BaseException], bool] | None

    def wait_seconds(self, attempt: int) -> float:
        """How long to wait after the failed attempt of this number."""
        if callable(self.backoff):
            return float(self.backoff(attempt))
        if isinstance(self.backoff, list):
            return self.backoff[min(attempt, len(self.backoff)) - 1]
        return self.backoff

    def takes(self, error: BaseException, attempt: int) -> bool:
        """Whether another attempt makes sense. A mistake in the program stays one."""
        if attempt >= self.attempts or isinstance(error, AuthorError | CallerError):
            return False
        return self.on is None or self.on(error)


@dataclass(slots=True)
class Plan:
    """All that running a node needs."""

    node: Node
    function: Callable[..., Any] | None
    others: Mapping[str, Callable[..., Any]]
    """By purpose: `resume`, `inputs`, `outputs`, …"""
    is_async: bool
    resume_is_async: bool
    way: Exit
    exits: dict[str, Exit]
    branches: tuple[tuple[str, str], ...]
    """Of a fork or selector: name and chart of each branch."""
    policies: dict[str, Policy]
    retry: Retry | None
    effect: Effect
    keeps_partial: bool
    allowed: frozenset[str] | None
    notes_decision: bool
    tags: tuple[str, ...]
    is_fresh: bool
    """What it writes differs from before; nothing is compared to find out."""
    errors_as_data: bool
    """The second half is given the whole answer, an error included."""
    over: Over
    """Takes the place of the scope in views that are kept too long."""
    kind: str = ""
    """The node's."""
    straight: Goto | None = None
    """Where a plain stage goes on that decides, asks and counts nothing."""

    def __post_init__(self) -> None:
        self.kind = self.node.kind
        if self.kind == "stage" and self.way.loop is None:
            self.straight = self.way.goto

    @classmethod
    def of(cls, chart: Chart, node: Node, purposes: Mapping[str, Callable[..., Any]]) -> Plan:
        """The plan for a node of `chart`, with the author's functions for it by purpose."""
        function, spec = purposes.get(""), node.spec
        exits = {label: _exit(node, one) for label, one in spec.get("exits", {}).items()}
        names = chart.meta.get("names")
        return cls(
            node,
            function,
            purposes,
            iscoroutinefunction(function),
            iscoroutinefunction(purposes.get("resume")),
            exits.pop("", Exit(Goto(node.next) if node.next is not None else None)),
            exits,
            tuple((name, digest) for name, digest in spec.get("branches", [])),
            _policies(spec.get("merge", {}), purposes),
            _retry(spec.get("retry"), purposes),
            spec.get("effect", "repeatable"),
            spec.get("on_error") == "commit",
            frozenset(names) if names is not None else None,
            bool(chart.meta.get("loops")),
            tuple(spec.get("tags", ())),
            bool(spec.get("fresh")),
            spec.get("errors") == "data" and node.kind == "pausable",
            Over(node.id),
        )


class Plans:
    """The plans of charts that were built together, each made when it is first asked for."""

    def __init__(self, functions: Functions) -> None:
        self._functions: dict[str, dict[str, Callable[..., Any]]] = {}
        for key, function in functions.items():
            node, _, purpose = key.partition("#")
            self._functions.setdefault(node, {})[purpose] = function
        self._made: dict[tuple[str, str], Plan] = {}

    def of(self, chart: Chart, node: Node) -> Plan:
        """How a node of this version of a chart runs."""
        key = (chart.digest, node.id)
        plan = self._made.get(key)
        if plan is None:
            purposes = self._functions.get(f"{chart.id}/{node.id}", {})
            plan = self._made[key] = Plan.of(chart, node, purposes)
        return plan


def _exit(node: Node, one: Mapping[str, Any]) -> Exit:
    to: str | None = one["to"]
    goto = Goto(to) if to is not None else None
    if to is None or "max" not in one:
        return Exit(goto)
    return Exit(goto, Loop(node.id, to, one["max"], one.get("limit"), tuple(one["resets"])))


def _policies(
    given: Mapping[str, str], purposes: Mapping[str, Callable[..., Any]]
) -> dict[str, Policy]:
    found: dict[str, Policy] = {}
    for key, name in given.items():
        found[key] = purposes[f"merge.{key}"] if name == "function" else Merge(name)
    return found


def _retry(
    given: Mapping[str, Any] | None, purposes: Mapping[str, Callable[..., Any]]
) -> Retry | None:
    if given is None:
        return None
    backoff = purposes.get("backoff", given.get("backoff", 0.0))
    return Retry(given["attempts"], backoff, purposes.get("retry_on"))
